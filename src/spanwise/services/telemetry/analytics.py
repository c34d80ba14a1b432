"""Analytics as people ask for them: exact, complete, and with all that was acknowledged before."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from spanwise.ingest.commit.pipeline import Pipeline, accepted_age
from spanwise.model.analytics import (
    NO_NAME,
    CostPoint,
    Costs,
    ErrorCount,
    ErrorRatePoint,
    ErrorsByType,
    ExportFormat,
    KeyMetrics,
    LatencyBucket,
    Metrics,
    OutcomePoint,
    Outcomes,
    PercentilesPoint,
    Question,
    RequestsPoint,
    TokensPoint,
    ToolUsage,
)
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.times import Granularity
from spanwise.services.alerts.alerts import count_active_alerts
from spanwise.services.telemetry.agents import AgentDirectory
from spanwise.storage.catalog import Catalog
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.export.trace_download import export_traces
from spanwise.storage.telemetry.rollup import queries as stored
from spanwise.storage.telemetry.rollup.aggregate_cache import SumReader
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.rollup.source import LATENCY_BOUNDS_MS, Source, read_traces

_LATENCY_BUCKETS = ("<200ms", "200-500ms", "500ms-1s", "1-2s", "2-5s", "5s+")
# Sums of the same costs in another order differ by less than this share of them.
_ROUNDING = 1e-9


class Analytics:
    """Answers from the rollup where it can; without one from the traces alone."""

    def __init__(
        self,
        engine: Engine,
        rollup: Rollup | None,
        pipeline: Pipeline,
        agents: AgentDirectory,
        catalog: Catalog,
    ) -> None:
        self._catalog = catalog
        self._engine = engine
        self._rollup = rollup
        self._sums = rollup.sums if rollup else SumReader(engine)
        self._pipeline = pipeline
        self._agents = agents

    async def metrics(self, workspace: str, question: Question, *, compare: bool) -> Metrics:
        now = await self._key_metrics(workspace, question)
        if not compare:
            return Metrics(**now.model_dump())
        return Metrics(
            **now.model_dump(), previous=await self._key_metrics(workspace, question.before())
        )

    async def _key_metrics(self, workspace: str, question: Question) -> KeyMetrics:
        source = await self._total_source(workspace, question)
        totals, percentiles, alerts = await asyncio.gather(
            stored.read_totals(self._sums, source),
            stored.read_percentiles(self._sums, source),
            self._count_active_alerts(workspace, question.wanted.agent_name),
        )
        return KeyMetrics(
            total_traces=totals.traces,
            success_rate=_ratio(totals.traces - totals.errors, totals.traces),
            avg_latency=_ratio(totals.duration_ms, totals.traces),
            p95_latency=percentiles[1] if percentiles else 0.0,
            active_agents=totals.agents,
            active_alerts=alerts,
            total_tokens=totals.input_tokens + totals.output_tokens,
            estimated_cost=totals.cost,
        )

    async def _count_active_alerts(self, workspace: str, agent: str | None) -> int:
        return await count_active_alerts(self._catalog, workspace, agent)

    async def outcomes(self, workspace: str, question: Question) -> Outcomes:
        source = await self._source(workspace, question)
        rows = await stored.read_series(self._sums, source, question, ("traces", "errors"))
        total = sum(row["traces"] for row in rows)
        failure = sum(row["errors"] for row in rows)
        return Outcomes(
            total=total,
            success=total - failure,
            failure=failure,
            success_rate=_ratio(total - failure, total),
            failure_rate=_ratio(failure, total),
            trend=[
                OutcomePoint(
                    date=question.label(bucket),
                    success=row["traces"] - row["errors"],
                    failure=row["errors"],
                )
                for bucket, row in zip(question.buckets, rows, strict=True)
            ],
        )

    async def requests(self, workspace: str, question: Question) -> list[RequestsPoint]:
        source = await self._source(workspace, question)
        counts = await stored.read_requests(self._sums, source, question)
        return [
            RequestsPoint(
                date=question.label(bucket), total=sum(by_agent.values()), by_agent=by_agent
            )
            for bucket, by_agent in counts.items()
        ]

    async def percentiles(self, workspace: str, question: Question) -> list[PercentilesPoint]:
        source = await self._source(workspace, question)
        series = await stored.read_percentile_series(self._sums, source, question)
        points = []
        for bucket, found in zip(question.buckets, series, strict=True):
            p50, p95, p99 = found or (None, None, None)
            points.append(PercentilesPoint(date=question.label(bucket), p50=p50, p95=p95, p99=p99))
        return points

    async def latencies(self, workspace: str, question: Question) -> list[LatencyBucket]:
        source = await self._total_source(workspace, question)
        counts = await stored.read_latency_counts(self._sums, source)
        total = sum(counts)
        lower, upper = (0, *LATENCY_BOUNDS_MS), (*LATENCY_BOUNDS_MS, None)
        return [
            LatencyBucket(
                bucket=name, min_ms=low, max_ms=high, count=n, percentage=100 * _ratio(n, total)
            )
            for name, low, high, n in zip(_LATENCY_BUCKETS, lower, upper, counts, strict=True)
        ]

    async def tokens(self, workspace: str, question: Question) -> list[TokensPoint]:
        source = await self._source(workspace, question)
        measures = ("input_tokens", "output_tokens")
        rows = await stored.read_series(self._sums, source, question, measures)
        return [
            TokensPoint(
                date=question.label(bucket),
                input_tokens=row["input_tokens"],
                output_tokens=row["output_tokens"],
                total_tokens=row["input_tokens"] + row["output_tokens"],
            )
            for bucket, row in zip(question.buckets, rows, strict=True)
        ]

    async def costs(self, workspace: str, question: Question) -> Costs:
        source = await self._source(workspace, question)
        found = await stored.read_costs(self._sums, source, question)
        by_model, total = found.by_model, sum(found.series)
        without_model = total - sum(by_model.values())
        if without_model > _ROUNDING * total:
            by_model[NO_NAME] = by_model.get(NO_NAME, 0.0) + without_model
        return Costs(
            total_cost=total,
            by_model=by_model,
            trend=[
                CostPoint(date=question.label(bucket), cost=cost)
                for bucket, cost in zip(question.buckets, found.series, strict=True)
            ],
            unpriced_models=found.unpriced,
        )

    async def errors(self, workspace: str, question: Question) -> ErrorsByType:
        source = await self._total_source(workspace, question)
        counts = await stored.read_errors(self._sums, source)
        total = sum(counts.values())
        return ErrorsByType(
            errors=[
                ErrorCount(type=kind, count=n, percentage=100 * _ratio(n, total))
                for kind, n in counts.items()
            ]
        )

    async def error_rate(self, workspace: str, question: Question) -> list[ErrorRatePoint]:
        source = await self._source(workspace, question)
        rows = await stored.read_series(self._sums, source, question, ("traces", "errors"))
        return [
            ErrorRatePoint(
                date=question.label(bucket),
                total=row["traces"],
                errors=row["errors"],
                error_rate=_ratio(row["errors"], row["traces"]),
            )
            for bucket, row in zip(question.buckets, rows, strict=True)
        ]

    async def tools(self, workspace: str, question: Question) -> ToolUsage:
        source = await self._total_source(workspace, question)
        return ToolUsage(heatmap=await stored.read_tools(self._sums, source))

    async def export(
        self, workspace: str, wanted: TraceFilter, form: ExportFormat
    ) -> AsyncIterator[bytes]:
        """Return the pieces of a file with all the traces, newest first."""
        await self._pipeline.settle()
        ids = await self._agents.ids_by_name(workspace)
        wanted = await self._with_agent_name(workspace, wanted)
        return await export_traces(self._engine, workspace, wanted, ids, form)

    async def _total_source(self, workspace: str, question: Question) -> Source:
        """What answers a question without a series: whole months will do."""
        return await self._source(workspace, replace(question, granularity=Granularity.MONTHLY))

    async def _source(self, workspace: str, question: Question) -> Source:
        await self._pipeline.settle()
        wanted = await self._with_agent_name(workspace, question.wanted)
        question = replace(question, wanted=wanted)
        if self._rollup is None:
            return read_traces(workspace, question)
        return await self._rollup.find_source(workspace, question, accepted_age.get())

    async def _with_agent_name(self, workspace: str, wanted: TraceFilter) -> TraceFilter:
        if wanted.agent_name is None:
            return wanted
        name = await self._agents.resolve_name(workspace, wanted.agent_name)
        return replace(wanted, agent_name=name)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
