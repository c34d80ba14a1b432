"""Changes: reads two groups of traces and compares them."""

import asyncio
from dataclasses import replace

from spanwise.analysis.change_report import compare_sides
from spanwise.model.dashboards.changes import Changes, ChangesQuery, SideQuery, SideSums
from spanwise.model.times import TimeRange
from spanwise.services.telemetry.agents import AgentDirectory
from spanwise.storage.telemetry.analytics.side_sums import read_side
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.time_ranges import clamp


class ChangeFinder:
    def __init__(self, engine: Engine, agents: AgentDirectory) -> None:
        self._engine = engine
        self._agents = agents

    async def find(self, workspace: str, query: ChangesQuery) -> Changes:
        """Compare two sides; what a dimension compares is no contributor."""
        baseline, candidate = await asyncio.gather(
            *(self._read(workspace, side) for side in (query.baseline, query.candidate))
        )
        # Sorting the latencies of millions of traces takes a second.
        return await asyncio.to_thread(compare_sides, query.dimension, baseline, candidate)

    async def _read(self, workspace: str, side: SideQuery) -> SideSums:
        wanted = await self._agents.resolve_filter(workspace, side.wanted)
        period = clamp(side.period)
        wanted = replace(wanted, period=TimeRange(period.start, period.end))
        return await read_side(self._engine, workspace, side, wanted)
