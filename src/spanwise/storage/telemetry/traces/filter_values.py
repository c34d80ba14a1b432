"""Reads the values that occur in traces, for filter menus."""

from collections.abc import Sequence

from spanwise.model.agents import AgentIds
from spanwise.model.analytics import Question
from spanwise.model.telemetry.spans import AgentRef, TraceFilters
from spanwise.storage.telemetry.rollup.aggregation import Aggregates, Aggregation, Query
from spanwise.storage.telemetry.rollup.source import Source

# Per menu; users can type other values.
MAX_VALUES = 1000
_MEASURES = (
    *("traces", "errors", "agent_name", "environment", "models", "providers", "tools", "kinds"),
    *("named_errors", "experiments"),
)


def _distinct_values(column: str) -> str:
    return f"arraySort(groupUniqArrayIf({MAX_VALUES})({column}, {column} != ''))"


def _distinct_members(column: str) -> str:
    return f"arraySort(groupUniqArrayArray({MAX_VALUES})({column}))"


# Name -> SQL of its values, in the order of the columns.
_MENUS = {
    "agents": _distinct_values("agent_name"),
    "models": _distinct_members("models"),
    "providers": _distinct_members("providers"),
    "tools": _distinct_members("tools"),
    "kinds": _distinct_members("kinds"),
    "statuses": """arrayConcat(if(sum(errors) > 0, ['error'], []),
        if(sum(traces) > sum(errors), ['success'], []))""",
    "error_types": _distinct_members("named_errors"),
    "environments": _distinct_values("environment"),
    "experiments": _distinct_members("experiments"),
}


def filter_values(agent_ids: AgentIds) -> Query[TraceFilters]:
    """Return the query for all values in the traces of a period, sorted."""

    def to_filters(_: Question, found: Sequence[Aggregates]) -> TraceFilters:
        menus = dict(zip(_MENUS, found[0][()], strict=True))
        agents = [AgentRef(id=agent_ids.get(name), name=name) for name in menus.pop("agents")]
        return TraceFilters(agents=agents, **menus)

    return Query((_FILTER_VALUES,), to_filters)


def _to_sql(rows: Source, _: Question) -> str:
    columns = ", ".join(f"{sql} AS {name}" for name, sql in _MENUS.items())
    return f"SELECT {columns} FROM ({rows.select(_MEASURES)}) WHERE traces > 0"


# Not additive: an array of distinct values is cut at its limit, and not sorted when concatenated.
_FILTER_VALUES = Aggregation("find_filter_values", 0, _to_sql, is_additive=False)
