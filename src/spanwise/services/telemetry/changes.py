"""Changes: reads two groups of traces or calls and compares them."""

import asyncio
import difflib
from collections.abc import Sequence
from dataclasses import replace

from spanwise.analysis.change_report import compare_sides
from spanwise.model.dashboards.changes import (
    Changes,
    ChangeSide,
    ChangesQuery,
    SideQuery,
    SideSums,
)
from spanwise.model.dashboards.queries import MAX_LIMIT, AnalyticsQuery, Entity
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.times import TimeRange
from spanwise.services.agents import AgentDirectory
from spanwise.storage.telemetry.analytics.run import run_query
from spanwise.storage.telemetry.analytics.side_sums import read_side
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.rollup.time_ranges import clamp

# Names that exist, for one that does not.
_MAX_SIMILAR = 5
_SIMILARITY = 0.5


class ChangeFinder:
    def __init__(self, engine: Engine, rollup: Rollup, agents: AgentDirectory) -> None:
        self._engine = engine
        self._rollup = rollup
        self._agents = agents

    async def find(self, workspace: str, query: ChangesQuery) -> Changes:
        """Compare two sides, and name values like that of a side without traces."""
        sides = query.baseline, query.candidate
        resolved = [await self._agents.resolve_filter(workspace, side.filters) for side in sides]
        baseline, candidate = await asyncio.gather(
            *(
                self._read(workspace, query, side, filters)
                for side, filters in zip(sides, resolved, strict=True)
            )
        )
        # Sorting the latencies of millions of traces takes a second.
        changes = await asyncio.to_thread(
            compare_sides, query.dimension, query.of, baseline, candidate
        )
        if query.dimension is None:
            return changes
        first, second = await asyncio.gather(
            self._add_similar(workspace, query, query.baseline, resolved[0], changes.baseline),
            self._add_similar(workspace, query, query.candidate, resolved[1], changes.candidate),
        )
        return changes.model_copy(update={"baseline": first, "candidate": second})

    async def _read(
        self, workspace: str, query: ChangesQuery, side: SideQuery, filters: TraceFilter
    ) -> SideSums:
        period = clamp(side.period)
        filters = replace(filters, period=TimeRange(period.start, period.end))
        calls = query.value_of(side) if query.of is Entity.SPANS else None
        return await read_side(self._engine, workspace, side, filters, calls)

    async def _add_similar(
        self,
        workspace: str,
        query: ChangesQuery,
        side: SideQuery,
        filters: TraceFilter,
        shown: ChangeSide,
    ) -> ChangeSide:
        """Name values like that of a side without traces."""
        own = query.value_of(side)
        if shown.traces or own is None or side.value is None:
            return shown
        values = AnalyticsQuery(measures=["count"], group_by=[own.field], limit=MAX_LIMIT)
        # The last condition is that of the side.
        others = filters.conditions[:-1]
        result = await run_query(self._engine, self._rollup, workspace, values, others, side.period)
        names = [row[own.field] for row in result.rows if row[own.field]]
        return shown.model_copy(update={"similar": find_similar(side.value, names)})


def find_similar(value: str, names: Sequence[str]) -> list[str]:
    """Return the names that contain a value or are spelled like it, the best first."""
    by_lower = {name.lower(): name for name in names if name != value}
    lower = value.lower()
    containing = [name for name in by_lower if lower in name or name in lower]
    close = difflib.get_close_matches(lower, by_lower, n=_MAX_SIMILAR, cutoff=_SIMILARITY)
    return [by_lower[name] for name in dict.fromkeys((*containing, *close))][:_MAX_SIMILAR]
