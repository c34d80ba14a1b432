"""Changes: reads two groups of traces and compares them."""

import asyncio
from dataclasses import replace

from spanwise.analysis.change_report import compare_sides
from spanwise.model.dashboards.changes import (
    Changes,
    ChangesQuery,
    GroupKey,
    SideQuery,
    SideSums,
)
from spanwise.model.telemetry.filters import Operator, TraceFilter
from spanwise.model.times import TimeRange
from spanwise.services.agents import AgentDirectory
from spanwise.storage.telemetry.analytics.side_sums import read_side
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.time_ranges import clamp


class ChangeFinder:
    def __init__(self, engine: Engine, agents: AgentDirectory) -> None:
        self._engine = engine
        self._agents = agents

    async def find(self, workspace: str, query: ChangesQuery) -> Changes:
        """Compare two sides.

        Dimensions that are compared or filtered by are not reported as contributors.
        """
        sides = query.baseline, query.candidate
        filters = [await self._agents.resolve_filter(workspace, side.wanted) for side in sides]
        baseline, candidate = await asyncio.gather(
            *(
                self._read(workspace, side, wanted)
                for side, wanted in zip(sides, filters, strict=True)
            )
        )
        required = _required_values(filters[0]) & _required_values(filters[1])
        # Sorting the latencies of millions of traces takes a second.
        return await asyncio.to_thread(
            compare_sides, query.dimension, required, baseline, candidate
        )

    async def _read(self, workspace: str, side: SideQuery, wanted: TraceFilter) -> SideSums:
        period = clamp(side.period)
        wanted = replace(wanted, period=TimeRange(period.start, period.end))
        return await read_side(self._engine, workspace, side, wanted)


def _required_values(wanted: TraceFilter) -> set[GroupKey]:
    """Return the values that every trace of a filter has."""
    return {
        (condition.field, str(condition.values[0]))
        for condition in wanted.conditions
        if condition.op in {Operator.EQ, Operator.IN} and len(condition.values) == 1
    }
