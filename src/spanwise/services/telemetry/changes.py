"""Changes: reads two groups of traces and compares them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from spanwise.analysis.change_report import LATENCY_LEVELS, compare_sides
from spanwise.analysis.changes import Observed, quantile_levels
from spanwise.model.dashboards.changes import (
    Changes,
    ChangesQuery,
    Quantile,
    SideQuery,
    SideSums,
    Sums,
)
from spanwise.model.times import TimeRange
from spanwise.services.telemetry.agents import AgentDirectory
from spanwise.storage.telemetry.analytics.side_sums import DIMENSIONS, SideReader
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.time_ranges import clamp

_NS_PER_MS = 1e6


class ChangeFinder:
    def __init__(self, engine: Engine, agents: AgentDirectory) -> None:
        self._engine = engine
        self._agents = agents

    async def find(self, workspace: str, query: ChangesQuery) -> Changes:
        """Compare two sides; what a dimension compares is no contributor."""
        sides = (query.baseline, query.candidate)
        readers = [await self._open(workspace, side) for side in sides]
        dimensions = [name for name in DIMENSIONS if name != query.dimension]
        baseline, candidate = await asyncio.gather(
            *(_read(reader, side, dimensions) for reader, side in zip(readers, sides, strict=True))
        )
        return compare_sides(query.dimension, baseline, candidate)

    async def _open(self, workspace: str, side: SideQuery) -> SideReader:
        wanted = await self._agents.resolve_filter(workspace, side.wanted)
        period = clamp(side.period)
        wanted = replace(wanted, period=TimeRange(period.start, period.end))
        return SideReader(self._engine, workspace, wanted)


async def _read(reader: SideReader, query: SideQuery, dimensions: Sequence[str]) -> SideSums:
    (totals, quantiles), failed, signals, groups = await asyncio.gather(
        _read_sums(reader),
        reader.count_failed_calls(),
        reader.read_signals(),
        asyncio.gather(*(reader.read_groups(dimension) for dimension in dimensions)),
    )
    by_key = {key: sums for found in groups for key, sums in found.items()}
    return SideSums(query, totals, quantiles, by_key, failed, signals)


async def _read_sums(reader: SideReader) -> tuple[Sums, dict[str, Quantile]]:
    """Read sums, then the values at the levels between which each quantile lies."""
    found = await reader.read_quantiles(list(LATENCY_LEVELS.values()))
    sums = await reader.read_sums(found or [0.0] * len(LATENCY_LEVELS))
    if found is None:
        return sums, {}
    bounds: list[tuple[float, float]] = []
    for number, level in enumerate(LATENCY_LEVELS.values()):
        below = Observed(sums[f"below_{number}"], sums["traces"])
        bounds.append(quantile_levels(below, level) or (-1.0, 2.0))
    levels = [min(max(level, 0.0), 1.0) for pair in bounds for level in pair]
    edges = await reader.read_quantiles(levels) or levels
    quantiles = {}
    for number, name in enumerate(LATENCY_LEVELS):
        lower, upper = bounds[number]
        quantiles[name] = Quantile(
            found[number] / _NS_PER_MS,
            edges[2 * number] / _NS_PER_MS if lower >= 0 else None,
            edges[2 * number + 1] / _NS_PER_MS if upper <= 1 else None,
        )
    return sums, quantiles
