"""Builds the SQL for the rows of one side of a comparison.

A trace, or a call, has a row for its cluster and one for each of its values of a dimension, its
tools, models and steps, and its signals. Traces of a session, else of a user, are in the same
cluster; other traces are in one by their id.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from spanwise.model.dashboards.changes import CLUSTERS, MAX_PART_TRACES
from spanwise.model.telemetry.conventions import USAGE_KINDS
from spanwise.model.telemetry.filters import FilterCondition, TraceFilter
from spanwise.model.telemetry.signals import MAX_SIGNAL
from spanwise.storage.telemetry.analytics.source_rows import is_counted
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.filters.fields import (
    SPAN_COLUMNS,
    TRACE_COLUMNS,
    spans_of_traces,
    traces_of_spans,
)
from spanwise.storage.telemetry.filters.operators import compile_condition
from spanwise.storage.telemetry.filters.trace_filters import trace_conditions
from spanwise.storage.telemetry.rows.locations import binary_trace_id
from spanwise.storage.telemetry.rows.shown_spans import SUPERSEDED

MAX_SIGNALS = 10
# Steps are spans that are neither tools nor models. Those that took the most time are read.
MAX_STEPS = 1000
PARTS = ("tool", "model", "step")
KINDS = (
    *("cluster", "errorType", "agent", "model", "tool", "unpricedModel", "signal", "failedTool"),
    *(f"{part}Part" for part in PARTS),
)
_FIRST_PART = KINDS.index("toolPart")
_TOOL, _MODEL, _STEP = (_FIRST_PART + number for number in range(len(PARTS)))
_CLUSTER = f"""toUInt16(multiIf(notEmpty(session_id), cityHash64(session_id),
    notEmpty(user_id), cityHash64(user_id), cityHash64(trace_id)) % {CLUSTERS})"""
_IS_ERROR = "status = 'error'"
_NO_VALUE = "''"
_KNOWN_COST = "if(is_unpriced, 0, cost)"


def _row(
    kind: str,
    value: str,
    cluster: str = "toUInt16(0)",
    *,
    calls: str = "0",
    amount: str = "0",
    is_unpriced: str = "0",
) -> str:
    """SQL for a row: its kind, value, cluster, number of calls or signals, amount, and "unpriced".

    The amount is a cost, a time, or the sum of signals.
    """
    number = kind if kind.startswith("p.") else f"{KINDS.index(kind)}"
    return f"""(toUInt8({number}), toString({value}), {cluster}, toFloat64({calls}),
        toFloat64({amount}), toUInt8({is_unpriced}))"""


def _cost_row(kind: str, value: str, cluster: str = "toUInt16(0)", calls: str = "0") -> str:
    return _row(kind, value, cluster, calls=calls, amount=_KNOWN_COST, is_unpriced="is_unpriced")


_SIGNAL_ROW = _row("signal", "name", "cluster", calls="amount", amount="total")
_SIGNALS = f"""arrayMap((name, amount, total) -> {_SIGNAL_ROW},
    signal_names, signal_counts, signal_sums)"""
_OF_BOTH = (
    f"if({_IS_ERROR}, [{_cost_row('errorType', 'error_type')}], [])",
    f"if(notEmpty(agent_name), [{_cost_row('agent', 'agent_name')}], [])",
)
_MODEL_ROW = _row(
    "model", "model", amount="if(tokens > 0, 0, model_cost)", is_unpriced="tokens > 0"
)
# SQL for the rows of a trace, and of a call.
_TRACE_ROWS = (
    f"[{_cost_row('cluster', _NO_VALUE, 'cluster', 'arraySum(tool_calls)')}]",
    *_OF_BOTH,
    f"""arrayMap((model, model_cost, tokens) -> {_MODEL_ROW}, models, model_costs,
        arrayResize(arrayPopFront(unpriced), length(models)))""",
    f"arrayMap((tool, calls) -> {_row('tool', 'tool', calls='calls')}, tools, tool_calls)",
    f"arrayMap(model -> {_row('unpricedModel', 'model')}, unpriced_models)",
    _SIGNALS,
    f"""arrayMap(p -> {_row("failedTool", "p.2", calls="p.5")},
        arrayFilter(p -> p.1 = {_TOOL} AND p.5 > 0, parts))""",
    f"if(is_sampled, arrayMap(p -> {_row('p.1', 'p.2', calls='p.3', amount='p.4')}, parts), [])",
)
_CALL_ROWS = (
    f"[{_cost_row('cluster', _NO_VALUE, 'cluster')}]",
    *_OF_BOTH,
    f"if(is_unpriced, [{_row('unpricedModel', 'model')}], [])",
    f"if(is_first, {_SIGNALS}, [])",
)


@dataclass(frozen=True)
class SideRows:
    """SQL for the traces or calls of a side, each with its `rows` as an array.

    Their columns are `status`, `duration_ns`, `tokens`, `is_first` (of the calls of a trace) and
    `is_sampled`.
    """

    sql: str
    where: Conditions


@dataclass(frozen=True)
class _Sample:
    """Every how many traces are read with their parts; whether spans report a call twice."""

    every: int
    has_uncounted: bool


async def trace_rows(engine: Engine, workspace: str, filters: TraceFilter) -> SideRows:
    """Return the rows of the traces that match a filter."""
    sample = await _choose_sample(engine, workspace, filters)
    where = trace_conditions(workspace, filters)
    sql = f"""SELECT status, duration_ns, input_tokens + output_tokens AS tokens, 1 AS is_first,
            {_is_sampled(sample)} AS is_sampled, {_array_of(_TRACE_ROWS)} AS rows
        FROM (
            SELECT trace_id, status, error_type, agent_name, duration_ns, cost, input_tokens,
                output_tokens, models, model_costs, unpriced, unpriced_models, tools, tool_calls,
                unpriced[1] > 0 AS is_unpriced, {_CLUSTER} AS cluster
            FROM traces FINAL WHERE {where.sql}) AS t
        {_join_parts(where, filters, sample)}
        {_join_signals(where)}"""
    return SideRows(sql, where)


async def call_rows(
    engine: Engine, workspace: str, filters: TraceFilter, value: FilterCondition
) -> SideRows:
    """Return the rows of the calls that have a value, in the traces that match a filter."""
    sample = await _choose_sample(engine, workspace, filters)
    where = trace_conditions(workspace, filters)
    is_call = f"kind != '{SUPERSEDED}'"
    if value.field != "tool":
        is_call += f" AND {is_counted(where, filters.period, sample.has_uncounted)}"
    own = compile_condition(where, SPAN_COLUMNS[value.field], value)
    sql = f"""SELECT status, duration_ns, tokens, is_first, 0 AS is_sampled,
            {_array_of(_CALL_ROWS)} AS rows
        FROM (
            SELECT *, row_number() OVER (PARTITION BY trace_id) = 1 AS is_first
            FROM (
                SELECT trace_id, status, error_type, model, duration_ns, cost,
                    input_tokens + output_tokens AS tokens,
                    NOT is_priced AND unpriced_tokens > 0 AS is_unpriced
                FROM spans FINAL
                WHERE {spans_of_traces(where, filters.period)} AND {is_call} AND {own}) AS s
            LEFT SEMI JOIN (
                SELECT trace_id, agent_name, {_CLUSTER} AS cluster
                FROM traces FINAL WHERE {where.sql}) AS t USING (trace_id)) AS c
        {_join_signals(where)}"""
    return SideRows(sql, where)


def _array_of(rows: Iterable[str]) -> str:
    return f"arrayConcat({', '.join(rows)})"


async def _choose_sample(engine: Engine, workspace: str, filters: TraceFilter) -> _Sample:
    """Read the parts of all traces, or of about `MAX_PART_TRACES`: they have to fit in memory."""
    period = Conditions(workspace)
    period.within("start", filters.period)
    [found] = await engine.fetch(
        f"SELECT count() AS traces, max(notEmpty(uncounted)) AS repeats FROM traces"
        f" WHERE {traces_of_spans(period, filters.period)}",
        period.parameters,
        tag="changes_period",
    )
    every = 1
    if found["traces"] > MAX_PART_TRACES:
        where = trace_conditions(workspace, filters)
        [matching] = await engine.fetch(
            f"SELECT count() AS traces FROM traces FINAL WHERE {where.sql}",
            where.parameters,
            tag="changes_traces",
        )
        every = max(1, -(-matching["traces"] // MAX_PART_TRACES))
    return _Sample(every, bool(found["repeats"]))


def _is_sampled(sample: _Sample) -> str:
    return f"cityHash64(trace_id) % {sample.every} = 0"


def _join_parts(where: Conditions, filters: TraceFilter, sample: _Sample) -> str:
    """Join the tools, models and steps of each trace, with calls, milliseconds and failed calls.

    Of traces that are not in the sample these are the failed tools.
    """
    spans = spans_of_traces(where, filters.period)
    counted = is_counted(where, filters.period, sample.has_uncounted)
    has_no_part = f"is_root OR kind IN {USAGE_KINDS} OR kind = '{SUPERSEDED}'"
    steps = f"""SELECT name FROM spans WHERE {spans} AND tool_name = '' AND NOT ({has_no_part})
        GROUP BY name ORDER BY sum(duration_ns) DESC, name LIMIT {MAX_STEPS}"""
    part = f"""multiIf(tool_name != '', {_TOOL}, model != '' AND {counted}, {_MODEL},
        {has_no_part} OR name NOT IN ({steps}), 0, {_STEP})"""
    name = f"multiIf(part = {_TOOL}, tool_name, part = {_MODEL}, model, name)"
    return f"""LEFT ANY JOIN (
        SELECT trace_id, groupArray((part, value, calls, ms, failed)) AS parts
        FROM (
            SELECT trace_id, {part} AS part, toString({name}) AS value, count() AS calls,
                sum(duration_ns) / 1e6 AS ms, countIf({_IS_ERROR}) AS failed
            FROM spans FINAL WHERE {spans} {_of_few_traces(where, filters)}
                AND ({_is_sampled(sample)} OR {_IS_ERROR} AND tool_name != '')
            GROUP BY trace_id, part, value HAVING part != 0)
        GROUP BY trace_id) AS p USING (trace_id)"""


def _of_few_traces(where: Conditions, filters: TraceFilter) -> str:
    """SQL that leaves out spans of other traces, by the conditions that only need `traces`."""
    known = [
        compile_condition(where, TRACE_COLUMNS[condition.field], condition)
        for condition in filters.conditions
        if condition.field in TRACE_COLUMNS
    ]
    if not known:
        return ""
    found = Conditions(where.workspace)
    found.within("start", filters.period)
    sql = " AND ".join((found.sql, *known))
    return f"AND identity(trace_id) IN (SELECT trace_id FROM traces FINAL WHERE {sql})"


def _join_signals(where: Conditions) -> str:
    """Join number and sum of the values of the most frequent signals of the workspace."""
    bound = where.bind(MAX_SIGNAL, "Float64")
    signals = f"""workspace = {{workspace:String}} AND notEmpty(signals.trace_id)
        AND abs(signals.value) <= {bound}"""
    return f"""LEFT ANY JOIN (
        SELECT trace_id, groupArray(signal) AS signal_names, groupArray(amount) AS signal_counts,
            groupArray(total) AS signal_sums
        FROM (
            SELECT {binary_trace_id("signals.trace_id")} AS trace_id, toString(name) AS signal,
                count() AS amount, sum(signals.value) AS total
            FROM signals FINAL WHERE {signals} AND name IN (
                SELECT name FROM signals WHERE {signals}
                GROUP BY name ORDER BY count() DESC, name LIMIT {MAX_SIGNALS})
            GROUP BY trace_id, signal)
        GROUP BY trace_id) AS g USING (trace_id)"""
