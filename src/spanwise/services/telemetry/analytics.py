"""Analytics: resolves agents, then queries the rollup or the traces."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

from spanwise.model.analytics import (
    DEFAULT_DAYS,
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
from spanwise.model.api_model import utc_now
from spanwise.model.dashboards.queries import AnalyticsQuery, AttributeCount, QueryResult
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.times import TimeRange
from spanwise.services.agents import AgentDirectory
from spanwise.services.alerts.alerts import count_active_alerts
from spanwise.storage.catalog import Catalog
from spanwise.storage.telemetry.analytics.attributes import count_attributes
from spanwise.storage.telemetry.analytics.run import run_query
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.export.trace_download import export_traces
from spanwise.storage.telemetry.rollup import queries
from spanwise.storage.telemetry.rollup.measures import LATENCY_BOUNDS_MS
from spanwise.storage.telemetry.rollup.rollup import Rollup

_LATENCY_BUCKETS = ("<200ms", "200-500ms", "500ms-1s", "1-2s", "2-5s", "5s+")
# Sums of the same costs in a different order differ by at most this share.
_ROUNDING = 1e-9


class Analytics:
    def __init__(
        self,
        engine: Engine,
        rollup: Rollup,
        agents: AgentDirectory,
        catalog: Catalog,
    ) -> None:
        self._catalog = catalog
        self._engine = engine
        self._rollup = rollup
        self._agents = agents

    async def metrics(self, workspace: str, question: Question, *, compare: bool) -> Metrics:
        """Return the key metrics; with `compare`, also those of the preceding period."""
        resolved = await self._resolve(workspace, question)
        totals, alerts = await asyncio.gather(
            self._rollup.answer(workspace, resolved, queries.TOTALS),
            count_active_alerts(self._catalog, workspace, question.filters.agent),
        )
        metrics = _to_key_metrics(totals, alerts).model_dump()
        if not compare:
            return Metrics(**metrics)
        before = await self._rollup.answer(workspace, resolved.before(), queries.TOTALS)
        return Metrics(**metrics, previous=_to_key_metrics(before, alerts))

    async def outcomes(self, workspace: str, question: Question) -> Outcomes:
        question = await self._resolve(workspace, question)
        rows = await self._rollup.answer(workspace, question, queries.OUTCOMES)
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
        question = await self._resolve(workspace, question)
        counts = await self._rollup.answer(workspace, question, queries.REQUESTS)
        return [
            RequestsPoint(
                date=question.label(bucket), total=sum(by_agent.values()), by_agent=by_agent
            )
            for bucket, by_agent in counts.items()
        ]

    async def percentiles(self, workspace: str, question: Question) -> list[PercentilesPoint]:
        question = await self._resolve(workspace, question)
        series = await self._rollup.answer(workspace, question, queries.PERCENTILES)
        points = []
        for bucket, percentiles in zip(question.buckets, series, strict=True):
            p50, p95, p99 = percentiles or (None, None, None)
            points.append(PercentilesPoint(date=question.label(bucket), p50=p50, p95=p95, p99=p99))
        return points

    async def latencies(self, workspace: str, question: Question) -> list[LatencyBucket]:
        question = await self._resolve(workspace, question)
        counts = await self._rollup.answer(workspace, question, queries.LATENCY_COUNTS)
        total = sum(counts)
        lower, upper = (0, *LATENCY_BOUNDS_MS), (*LATENCY_BOUNDS_MS, None)
        return [
            LatencyBucket(
                bucket=name, min_ms=low, max_ms=high, count=n, percentage=100 * _ratio(n, total)
            )
            for name, low, high, n in zip(_LATENCY_BUCKETS, lower, upper, counts, strict=True)
        ]

    async def tokens(self, workspace: str, question: Question) -> list[TokensPoint]:
        question = await self._resolve(workspace, question)
        rows = await self._rollup.answer(workspace, question, queries.TOKENS)
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
        question = await self._resolve(workspace, question)
        costs = await self._rollup.answer(workspace, question, queries.COSTS)
        by_model, unpriced_by_model = costs.by_model, costs.tokens_by_model
        total, unpriced = (sum(values) for values in zip(*costs.series, strict=True))
        without_model = total - sum(by_model.values()) - sum(costs.by_tool.values())
        if without_model > _ROUNDING * total:
            by_model[NO_NAME] = by_model.get(NO_NAME, 0.0) + without_model
        if unpriced > sum(unpriced_by_model.values()):
            rest = unpriced - sum(unpriced_by_model.values())
            unpriced_by_model[NO_NAME] = unpriced_by_model.get(NO_NAME, 0) + rest
        return Costs(
            total_cost=total,
            by_model=by_model,
            by_tool=costs.by_tool,
            trend=[
                CostPoint(date=question.label(bucket), cost=cost, unpriced_tokens=tokens)
                for bucket, (cost, tokens) in zip(question.buckets, costs.series, strict=True)
            ],
            unpriced_tokens=unpriced,
            unpriced_tokens_by_model=unpriced_by_model,
            unpriced_models=costs.unpriced,
        )

    async def errors(self, workspace: str, question: Question) -> ErrorsByType:
        question = await self._resolve(workspace, question)
        counts = await self._rollup.answer(workspace, question, queries.ERRORS)
        total = sum(counts.values())
        return ErrorsByType(
            errors=[
                ErrorCount(type=kind, count=n, percentage=100 * _ratio(n, total))
                for kind, n in counts.items()
            ]
        )

    async def error_rate(self, workspace: str, question: Question) -> list[ErrorRatePoint]:
        question = await self._resolve(workspace, question)
        rows = await self._rollup.answer(workspace, question, queries.OUTCOMES)
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
        question = await self._resolve(workspace, question)
        heatmap = await self._rollup.answer(workspace, question, queries.TOOLS)
        return ToolUsage(heatmap=heatmap)

    async def query(self, workspace: str, query: AnalyticsQuery) -> QueryResult:
        """Answer a query over traces or spans; by default over the last 30 days."""
        conditions = await self._agents.resolve_conditions(workspace, query.filters)
        period = query.period.or_last_days(DEFAULT_DAYS, utc_now())
        return await run_query(self._engine, self._rollup, workspace, query, conditions, period)

    async def attributes(
        self,
        workspace: str,
        period: TimeRange,
        key: str | None,
        search: str | None,
        page: PageRequest,
    ) -> Listing[AttributeCount]:
        """Return the keys of span attributes or the values of one, the most frequent first."""
        bounded = period.or_last_days(DEFAULT_DAYS, utc_now())
        return await count_attributes(self._engine, workspace, bounded, key, search, page)

    async def export(
        self, workspace: str, filters: TraceFilter, form: ExportFormat
    ) -> AsyncIterator[bytes]:
        """Return a file of all traces, newest first, in chunks."""
        ids = await self._agents.ids_by_name(workspace)
        filters = await self._agents.resolve_filter(workspace, filters)
        return await export_traces(self._engine, workspace, filters, ids, form)

    async def _resolve(self, workspace: str, question: Question) -> Question:
        """Return the question with the agent's name instead of its id."""
        filters = await self._agents.resolve_filter(workspace, question.filters)
        return replace(question, filters=filters)


def _to_key_metrics(totals: queries.Totals, active_alerts: int) -> KeyMetrics:
    return KeyMetrics(
        total_traces=totals.traces,
        success_rate=_ratio(totals.traces - totals.errors, totals.traces),
        avg_latency=_ratio(totals.duration_ms, totals.traces),
        p95_latency=totals.percentiles[1] if totals.percentiles else 0.0,
        active_agents=totals.agents,
        active_alerts=active_alerts,
        total_tokens=totals.input_tokens + totals.output_tokens,
        estimated_cost=totals.cost,
        unpriced_tokens=totals.unpriced_tokens,
    )


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
