"""Answers analytics questions from precomputed aggregates where they are up to date."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from spanwise.model.analytics import Question
from spanwise.model.times import Granularity
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.aggregate_cache import AggregateCache
from spanwise.storage.telemetry.rollup.aggregation import (
    Query,
    compile_statements,
    merge_results,
)
from spanwise.storage.telemetry.rollup.dirty_ranges import DirtyRanges
from spanwise.storage.telemetry.rollup.maintenance.runs import (
    MIN_SLICE_TRACES,
    QUIET_SECONDS,
    Maintenance,
)
from spanwise.storage.telemetry.rollup.plan import make_plan, use_slices
from spanwise.storage.telemetry.rollup.recent_changes import RecentChanges
from spanwise.storage.telemetry.rollup.source import (
    Source,
    can_use_rollup,
    compile_plan,
    traces_source,
)
from spanwise.storage.telemetry.rollup.time_ranges import HOUR, clamp
from spanwise.storage.telemetry.rollup.watermarks import SLICE_LOOKBACK, WatermarkStore

T = TypeVar("T")


class Rollup:
    """The rollup of one engine: `answer` for readers, `maintenance` for the job that updates it.

    `changes` are the recent changes, known if only this process writes. `visible_until` is
    described in `Maintenance`.
    """

    def __init__(
        self,
        engine: Engine,
        quiet_seconds: float = QUIET_SECONDS,
        visible_until: Callable[[], datetime | None] = lambda: None,
        changes: RecentChanges | None = None,
        min_slice_traces: int = MIN_SLICE_TRACES,
        slice_lookback: timedelta = SLICE_LOOKBACK,
    ) -> None:
        self._engine = engine
        self._changes = changes
        self._dirty = DirtyRanges(engine, changes)
        self._cache = AggregateCache()
        self._watermarks = WatermarkStore(engine, slice_lookback)
        self.maintenance = Maintenance(
            engine,
            self._watermarks,
            quiet_seconds,
            visible_until,
            min_slice_traces,
            changes,
        )

    async def answer(
        self,
        workspace: str,
        question: Question,
        query: Query[T],
        source: Source | None = None,
    ) -> T:
        """Answer a question over its time range with a query from `queries`."""
        question = _with_coarsest_buckets(question, query)
        source = source or await self.choose_source(workspace, question)
        statements = compile_statements(query.aggregations, source, question)
        cached, missing = self._cache.split(statements)
        generation = self._cache.generation
        fetched = await asyncio.gather(
            *(self._engine.fetch(each.sql, each.parameters, tag=each.tag) for each in missing)
        )
        results = [*cached, *self._cache.put_all(missing, fetched, generation)]
        return query.to_answer(question, merge_results(query.aggregations, results))

    async def answer_from_aggregates(
        self, workspace: str, question: Question, query: Query[T]
    ) -> T | None:
        """Answer a question, or return None if only raw traces would be read for it."""
        source = await self.choose_source(workspace, _with_coarsest_buckets(question, query))
        if source.is_traces_only:
            return None
        return await self.answer(workspace, question, query, source)

    async def choose_source(self, workspace: str, question: Question) -> Source:
        """Choose the rows to read: clean aggregates, and traces for the rest of the range."""
        watermarks = await self._watermarks.read()
        if watermarks is None or not can_use_rollup(question.filters):
            return traces_source(workspace, question)
        period = clamp(question.period)
        if watermarks.slices is None and period.end - period.start < 2 * HOUR:
            return traces_source(workspace, question)
        dirty_hours = await self._dirty.find_hours(workspace, period, watermarks)
        plan = make_plan(period, dirty_hours, question.granularity)
        if plan is None:
            return traces_source(workspace, question)
        if watermarks.slices is not None:
            dirty_slices = await self._dirty.find_slices(workspace, period, watermarks)
            plan = use_slices(plan, watermarks.first_sliced_hour, period, dirty_slices)
        return compile_plan(workspace, question, plan, watermarks.hours)

    def clear_cache(self) -> None:
        """Drop cached aggregates, after rows were removed without advancing the watermark."""
        self._cache.clear()


def _with_coarsest_buckets(question: Question, query: Query[T]) -> Question:
    return question if query.is_series else replace(question, granularity=Granularity.MONTHLY)
