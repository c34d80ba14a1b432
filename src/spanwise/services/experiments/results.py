"""Results of an experiment: sums from the telemetry store, statistics from `analysis`."""

from datetime import timedelta

from spanwise.analysis.comparison import Arm
from spanwise.analysis.experiments import (
    Measured,
    check_sample_ratio,
    compare,
    count_units,
    measure,
)
from spanwise.analysis.planning import plan_units
from spanwise.analysis.variant_statistics import to_quantile_arm
from spanwise.analysis.verdicts import Facts, decide, forecast, name_metrics
from spanwise.model.api_model import utc_now
from spanwise.model.experiments.definition import (
    Experiment,
    ExperimentStatus,
    MetricSource,
    TraceMetric,
)
from spanwise.model.experiments.plan import ExperimentPlan, PlanRequest
from spanwise.model.experiments.results import ExperimentResults
from spanwise.model.experiments.sums import MetricSums
from spanwise.services.agents import AgentDirectory
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.experiments.outcomes import (
    OutcomeScope,
    count_exposed,
    sum_below_quantile,
    sum_signals,
    sum_traces,
)
from spanwise.storage.telemetry.experiments.unit_means import measure_signals, measure_traces

# Tolerance for spans of clients whose clock runs ahead.
_MAX_CLOCK_SKEW = timedelta(days=1)


PLAN_DAYS = 28


class Results:
    def __init__(self, engine: Engine, agents: AgentDirectory) -> None:
        self._engine = engine
        self._agents = agents

    async def plan(self, workspace: str, request: PlanRequest) -> ExperimentPlan:
        """Say how many units a lift of a metric needs, judged by the last weeks."""
        agent = request.agent_name
        if agent is not None:
            agent = await self._agents.resolve_name(workspace, agent)
        now = utc_now()
        period = (now - timedelta(days=PLAN_DAYS), now)
        if request.signal_name is not None:
            measured = await measure_signals(
                self._engine, workspace, request.signal_name, agent, period
            )
        else:
            # A percentile has no variance per unit; that of the mean is the best guess.
            is_percentile = request.metric is TraceMetric.P95_LATENCY
            metric = TraceMetric.LATENCY if is_percentile else request.metric
            measured = await measure_traces(self._engine, workspace, metric, agent, period)
        if measured is None:
            return ExperimentPlan(
                baseline=None, units=0, units_per_day=0, units_per_variant=None, days=None
            )
        units = plan_units(measured.mean, measured.variance, request.lift, request.variants)
        return ExperimentPlan(
            baseline=measured.mean,
            units=measured.units,
            units_per_day=measured.units_per_day,
            units_per_variant=units,
            days=None if units is None else units * request.variants / measured.units_per_day,
        )

    async def get(self, workspace: str, experiment: Experiment) -> ExperimentResults:
        scope = await self._scope(workspace, experiment)
        exposed = await count_exposed(self._engine, scope)
        measured, conflicting = await self._measure(experiment, scope)
        variants = experiment.variants
        counts = [
            max(0, exposed.units.get(index, 0) - conflicting.get(index, 0))
            for index in range(len(variants))
        ]
        units = sum(counts)
        metrics = compare(measured, variants)
        srm = check_sample_ratio(counts, [variant.weight for variant in variants])
        projection = None
        if experiment.status is not ExperimentStatus.STOPPED:
            projection = forecast(measured, units, _active_days(experiment))
        return ExperimentResults(
            experiment_id=experiment.id,
            status=experiment.status,
            units=units,
            excluded_units=exposed.mixed + sum(conflicting.values()),
            per_variant=count_units(variants, counts),
            srm=srm,
            metrics=metrics,
            verdict=decide(
                Facts(
                    experiment.status,
                    units,
                    srm,
                    metrics,
                    projection,
                    name_metrics(experiment.metrics),
                )
            ),
            forecast=projection,
        )

    async def _scope(self, workspace: str, experiment: Experiment) -> OutcomeScope:
        agent = experiment.agent_id
        now = utc_now()
        return OutcomeScope(
            workspace=workspace,
            experiment_id=experiment.id,
            names=(experiment.id, experiment.name),
            variants=tuple(variant.key for variant in experiment.variants),
            agent_name=await self._agents.resolve_name(workspace, agent) if agent else None,
            started_at=experiment.started_at or now,
            until=experiment.stopped_at or now + _MAX_CLOCK_SKEW,
        )

    async def _measure(
        self, experiment: Experiment, scope: OutcomeScope
    ) -> tuple[list[Measured], dict[int, int]]:
        """Sum every metric: all trace means in one query, each other metric in its own."""
        means = [
            metric.metric
            for metric in experiment.metrics
            if metric.metric is not None and metric.metric is not TraceMetric.P95_LATENCY
        ]
        # Queried even without such a metric, because it also finds units with several variants.
        traces = await sum_traces(self._engine, scope, means or [TraceMetric.SUCCESS_RATE])
        sums: dict[TraceMetric, MetricSums] = dict(zip(means, traces.sums, strict=False))
        measured = []
        for metric in experiment.metrics:
            if metric.source is MetricSource.SIGNAL:
                name, has_conflicts = metric.signal_name or "", bool(traces.conflicting)
                signals = await sum_signals(
                    self._engine, scope, name, exclude_conflicting=has_conflicts
                )
                measured.append(measure(metric, experiment.variants, signals.sums[0]))
            elif metric.metric is TraceMetric.P95_LATENCY:
                arms = await self._quantile_arms(scope)
                measured.append(Measured(metric, arms))
            elif metric.metric is not None:
                measured.append(measure(metric, experiment.variants, sums[metric.metric]))
        return measured, dict(traces.conflicting)

    async def _quantile_arms(self, scope: OutcomeScope) -> list[Arm]:
        below, quantiles = await sum_below_quantile(self._engine, scope)
        return [
            to_quantile_arm(below.sums[0].total(index), quantiles[index])
            if index in quantiles
            else Arm(0, 0.0, 0.0)
            for index in range(len(scope.variants))
        ]


def _active_days(experiment: Experiment) -> float:
    """Return for how many days units were exposed; earlier pauses are not subtracted."""
    if experiment.started_at is None:
        return 0.0
    is_paused = experiment.status is ExperimentStatus.PAUSED
    end = experiment.paused_at if is_paused and experiment.paused_at else utc_now()
    return (end - experiment.started_at) / timedelta(days=1)
