"""Reads which values occur in traces, for filter menus."""

from spanwise.model.telemetry.spans import AgentRef, TraceFilters
from spanwise.storage.telemetry.engine.engine import Engine
from spanwise.storage.telemetry.rollup.source import Source
from spanwise.storage.telemetry.traces.traces import AgentIds

# A menu of more is no menu; whoever looks for the rest can type it.
MAX_VALUES = 1000
_MEASURES = (
    *("traces", "errors", "agent_name", "environment", "models", "providers", "tools", "kinds"),
    *("named_errors", "experiments"),
)


def _values(column: str) -> str:
    return f"arraySort(groupUniqArrayIf({MAX_VALUES})({column}, {column} != ''))"


def _members(column: str) -> str:
    return f"arraySort(groupUniqArrayArray({MAX_VALUES})({column}))"


async def find_filter_values(engine: Engine, source: Source, agent_ids: AgentIds) -> TraceFilters:
    """Return every value that the traces of a source have, in order."""
    rows = await engine.fetch(
        f"""SELECT
            {_values("agent_name")} AS agents, {_members("models")} AS models,
            {_members("providers")} AS providers, {_members("tools")} AS tools,
            {_members("kinds")} AS kinds,
            arrayConcat(if(sum(errors) > 0, ['error'], []),
                if(sum(traces) > sum(errors), ['success'], [])) AS statuses,
            {_members("named_errors")} AS error_types, {_values("environment")} AS environments,
            {_members("experiments")} AS experiments
        FROM ({source.select(_MEASURES)}) WHERE traces > 0 {source.settings}""",
        source.parameters,
        tag="find_filter_values",
    )
    values = rows[0]
    agents = [AgentRef(id=agent_ids.get(name), name=name) for name in values.pop("agents")]
    return TraceFilters(agents=agents, **values)
