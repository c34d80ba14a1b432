"""Reads the use of coding agents: traces of their calls, and their metrics.

Cost and tokens are those of traces, as everywhere else, so a call that is reported twice counts
once. The metrics of cost and tokens count only where there are no calls: for sessions without any,
or, without a session id, for agents without any.
"""

from collections.abc import Iterable
from datetime import timedelta

from spanwise.model.telemetry.coding_agents import (
    AGENTS,
    API_LOGINS,
    BILLING_KEY,
    DECISION_KEYS,
    EDIT_TOOLS,
    LANGUAGE_KEYS,
    LINE_TYPE_KEYS,
    METRICS,
    PERSON_KEYS,
    REPOSITORY_KEYS,
    SUBSCRIPTION_AGENTS,
    SUBSCRIPTION_LOGINS,
    TOKEN_TYPE_KEYS,
    USAGE_METRICS,
)
from spanwise.model.times import BoundedRange, Granularity, floor_time
from spanwise.storage.telemetry.engine.attribute_text import first_text
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import (
    Conditions,
    quoted,
    to_engine_time,
)
from spanwise.storage.telemetry.engine.query import Rows
from spanwise.storage.telemetry.metrics.increases import points_with_increases
from spanwise.storage.telemetry.rows.call_deduplication import CALL_ID, HAS_USAGE
from spanwise.storage.telemetry.rows.shown_spans import shown_spans

MAX_NAMES = 100
MAX_SESSIONS = 50
# Spans of a trace start after it; a session's metrics follow its calls.
_MARGIN = timedelta(days=1)


def _agent_by(column: str, *, is_metric: bool) -> str:
    """SQL for the agent that a service name or a metric's name begins with; empty for others."""
    cases = ", ".join(
        f"startsWith({column}, {quoted(start)}), {quoted(agent.name)}"
        for agent in AGENTS
        for start in (agent.prefixes if is_metric else agent.services)
    )
    return f"multiIf({cases}, '')"


def _first_of(keys: Iterable[str]) -> str:
    """SQL for the first of some attributes that is given, of the item or of its resource."""
    keys = list(keys)
    return first_text(keys, *(f"JSONExtractString(resource, {quoted(key)})" for key in keys))


def _list(texts: Iterable[str]) -> str:
    return f"({', '.join(map(quoted, texts))})"


_AGENT = _agent_by("service_name", is_metric=False)
_BILLING = f"""multiIf(
    {_first_of([BILLING_KEY])} IN ('subscription', 'api'), {_first_of([BILLING_KEY])},
    lower({_first_of(["auth_type", "auth_mode"])}) IN {_list(SUBSCRIPTION_LOGINS)}, 'subscription',
    lower({_first_of(["auth_type", "auth_mode"])}) IN {_list(API_LOGINS)}, 'api',
    agent IN {_list(SUBSCRIPTION_AGENTS)}, 'subscription',
    agent = 'Gemini CLI', '',
    notEmpty({_first_of(["user.account_uuid", "user.account_id", "user.email"])}), 'subscription',
    'api')"""

_SPANS = shown_spans(
    f"""trace_id, kind, {_AGENT} AS agent, {_first_of(PERSON_KEYS)} AS person,
        {_first_of(REPOSITORY_KEYS)} AS repository, {_BILLING} AS billing, cached_tokens,
        cache_write_tokens, {CALL_ID} AS id, {HAS_USAGE} AS has_usage""",
    """workspace = {workspace:String} AND agent != ''
        AND hour >= {first_hour:DateTime64(9, 'UTC')}
        AND hour < {last_hour:DateTime64(9, 'UTC')}""",
)
# One row per trace with a span of a coding agent: what its spans say, and its aggregates.
_TRACES = f"""
    SELECT t.start AS start, t.trace_id AS trace_id, t.duration_ns AS duration_ns,
        t.session_id AS session_id, t.cost AS cost, t.input_tokens AS input_tokens,
        t.output_tokens AS output_tokens, t.models AS models, t.model_costs AS model_costs,
        t.model_input_tokens AS model_input_tokens, t.model_output_tokens AS model_output_tokens,
        arraySum(t.tool_calls) AS tool_calls, t.input_preview AS input_preview,
        s.agent AS agent, if(empty(s.person), t.user_id, s.person) AS person,
        s.repository AS repository, s.billing AS billing,
        arrayFilter(c -> NOT has(t.uncounted, c.1), s.calls) AS counted,
        arraySum(c -> c.2, counted) AS cached, arraySum(c -> c.3, counted) AS cache_write
    FROM (
        SELECT * FROM traces FINAL WHERE workspace = {{workspace:String}}
            AND start >= {{after:DateTime64(9, 'UTC')}}
            AND start < {{before:DateTime64(9, 'UTC')}}) AS t
    INNER JOIN (
        SELECT trace_id, any(agent) AS agent, anyIf(person, person != '') AS person,
            anyIf(repository, repository != '') AS repository,
            anyIf(billing, kind = 'llm' AND billing != '') AS billing,
            groupArrayIf((id, cached_tokens, cache_write_tokens), has_usage) AS calls
        FROM ({_SPANS})
        GROUP BY trace_id) AS s USING (trace_id)"""

_SUMS = """sum(cost) AS cost, sum(input_tokens) AS input_tokens,
    sum(output_tokens) AS output_tokens, sum(cached) AS cached_tokens,
    sum(cache_write) AS cache_write_tokens, uniqExactIf(session_id, session_id != '') AS sessions,
    count() AS traces"""


class CodingAgentReader:
    def __init__(self, engine: Engine, workspace: str, period: BoundedRange) -> None:
        self._engine = engine
        self._workspace = workspace
        first = floor_time(period.start, Granularity.HOURLY)
        self._parameters = {
            "workspace": workspace,
            "after": to_engine_time(period.start),
            "before": to_engine_time(period.end),
            "first_hour": to_engine_time(first),
            "last_hour": to_engine_time(period.end + _MARGIN),
            "earlier_hour": to_engine_time(first - _MARGIN),
        }

    async def sum_calls(self) -> Rows:
        """Return sums by agent, person, repository and billing, by day, and in total.

        `by` names what a row is about, in the column of the same name.
        """
        names = ("agent", "person", "repository", "billing")
        grouped = ", ".join(f"grouping({name}) = 0, '{name}'" for name in names)
        return await self._fetch(
            f"""SELECT agent, person, repository, billing, toDate(start) AS day,
                multiIf(grouping(day) = 0, 'day', {grouped}, 'total') AS by, {_SUMS}
            FROM ({_TRACES})
            GROUP BY GROUPING SETS ((agent), (person), (repository), (billing), (agent, day), ())
            ORDER BY cost DESC"""
        )

    async def sum_models(self) -> Rows:
        return await self._fetch(
            f"""SELECT model, sum(c) AS cost, sum(i) AS input_tokens, sum(o) AS output_tokens
            FROM ({_TRACES}) ARRAY JOIN models AS model, model_costs AS c, model_input_tokens AS i,
                model_output_tokens AS o
            GROUP BY model ORDER BY cost DESC, model LIMIT {MAX_NAMES}"""
        )

    async def find_sessions(self) -> Rows:
        """Return the latest sessions."""
        return await self._fetch(
            f"""SELECT session_id, any(agent) AS agent, anyIf(person, person != '') AS person,
                anyIf(repository, repository != '') AS repository, min(start) AS first_at,
                max(start + toIntervalNanosecond(duration_ns)) AS last_at, count() AS traces,
                sum(tool_calls) AS tool_calls, sum(input_tokens + output_tokens) AS total_tokens,
                sum(cost) AS total_cost,
                argMinIf(input_preview, start, input_preview != '') AS input
            FROM ({_TRACES}) WHERE session_id != ''
            GROUP BY session_id ORDER BY last_at DESC, session_id LIMIT {MAX_SESSIONS}"""
        )

    async def sum_metrics(self) -> Rows:
        """Return the increases of all known metrics, by what the report is grouped by."""
        where = Conditions(self._workspace)
        where.add("name IN {names:Array(String)}", names=list(METRICS))
        where.parameters |= self._parameters
        groups = {
            "metric": "name",
            "agent": _agent_by("name", is_metric=True),
            "person": _first_of(PERSON_KEYS),
            "repository": _first_of(REPOSITORY_KEYS),
            "session": _first_of(["session.id"]),
            "model": _first_of(["model"]),
            "kind": f"if(name LIKE '%token%', {_first_of(TOKEN_TYPE_KEYS)}, "
            f"{_first_of(LINE_TYPE_KEYS)})",
            "decision": _first_of(DECISION_KEYS),
            "language": _first_of(LANGUAGE_KEYS),
            "tool": _first_of(["function_name"]),
        }
        points = points_with_increases(where, list(groups.values()), is_cumulative=True)
        names = [name for name in groups if name not in {"session", "tool"}]
        renamed = ", ".join(f"g{index} AS {name}" for index, name in enumerate(groups))
        # A session may have sent its last calls shortly before the period.
        calls = f"""workspace = {{workspace:String}}
            AND hour >= {{earlier_hour:DateTime64(9, 'UTC')}}
            AND hour < {{last_hour:DateTime64(9, 'UTC')}} AND {_AGENT} != '' AND kind = 'llm'"""
        agents, sessions = (
            shown_spans(f"DISTINCT {column}", calls, final="") for column in (_AGENT, "session_id")
        )
        has_calls = f"if(empty(session), agent IN ({agents}), session IN ({sessions}))"
        return await self._fetch(
            f"""SELECT {", ".join(names)}, toDate(time) AS day, sum(increase + new_sum) AS amount
            FROM (SELECT *, {renamed} FROM ({points}))
            WHERE NOT (metric IN {_list(USAGE_METRICS)} AND {has_calls})
                AND NOT (notEmpty(tool) AND tool NOT IN {_list(EDIT_TOOLS)})
            GROUP BY {", ".join(names)}, day HAVING amount != 0""",
            where.parameters,
        )

    async def _fetch(self, sql: str, parameters: dict[str, object] | None = None) -> Rows:
        return await self._engine.fetch(
            sql, self._parameters if parameters is None else parameters, tag="coding_agents"
        )
