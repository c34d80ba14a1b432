"""Reads the values that occur in traces, for filter menus."""

from spanwise.model.telemetry.spans import AgentRef, TraceFilters
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.source import Source
from spanwise.storage.telemetry.traces.trace_queries import AgentIds

# Per menu; other values can be typed.
MAX_VALUES = 1000
_MEASURES = (
    *("traces", "errors", "agent_name", "environment", "models", "providers", "tools", "kinds"),
    *("named_errors", "experiments"),
)


def _distinct_values(column: str) -> str:
    return f"arraySort(groupUniqArrayIf({MAX_VALUES})({column}, {column} != ''))"


def _distinct_members(column: str) -> str:
    return f"arraySort(groupUniqArrayArray({MAX_VALUES})({column}))"


async def find_filter_values(engine: Engine, source: Source, agent_ids: AgentIds) -> TraceFilters:
    """Return the distinct values of each filterable field, sorted."""
    rows = await engine.fetch(
        f"""SELECT
            {_distinct_values("agent_name")} AS agents, {_distinct_members("models")} AS models,
            {_distinct_members("providers")} AS providers, {_distinct_members("tools")} AS tools,
            {_distinct_members("kinds")} AS kinds,
            arrayConcat(if(sum(errors) > 0, ['error'], []),
                if(sum(traces) > sum(errors), ['success'], [])) AS statuses,
            {_distinct_members("named_errors")} AS error_types,
            {_distinct_values("environment")} AS environments,
            {_distinct_members("experiments")} AS experiments
        FROM ({source.select(_MEASURES)}) WHERE traces > 0 {source.settings}""",
        source.parameters,
        tag="find_filter_values",
    )
    values = rows[0]
    agents = [AgentRef(id=agent_ids.get(name), name=name) for name in values.pop("agents")]
    return TraceFilters(agents=agents, **values)
