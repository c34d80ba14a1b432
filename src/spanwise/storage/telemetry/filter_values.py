"""Reads which values occur in traces, for filter menus."""

from spanwise.model.spans import AgentRef, TraceFilters
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.conditions import Conditions
from spanwise.storage.telemetry.engine import Engine
from spanwise.storage.telemetry.traces import AgentIds

# A menu of more is no menu; whoever looks for the rest can type it.
MAX_VALUES = 1000


def _values(column: str) -> str:
    return f"arraySort(groupUniqArrayIf({MAX_VALUES})({column}, {column} != ''))"


def _members(column: str) -> str:
    return f"arraySort(groupUniqArrayArray({MAX_VALUES})({column}))"


async def find_filter_values(
    engine: Engine, workspace: str, period: TimeRange, agent_ids: AgentIds
) -> TraceFilters:
    """Return every value that the traces of a period have, in order."""
    where = Conditions(workspace)
    where.within("start", period)
    rows = await engine.fetch(
        f"""SELECT
            {_values("agent_name")} AS agents, {_members("models")} AS models,
            {_members("providers")} AS providers, {_members("tools")} AS tools,
            {_members("kinds")} AS kinds, {_values("status")} AS statuses,
            {_values("error_type")} AS error_types, {_values("environment")} AS environments,
            {_values("experiment_id")} AS experiments
        FROM traces FINAL WHERE {where.sql}""",
        where.parameters,
        tag="find_filter_values",
    )
    values = rows[0]
    agents = [AgentRef(id=agent_ids.get(name), name=name) for name in values.pop("agents")]
    return TraceFilters(agents=agents, **values)
