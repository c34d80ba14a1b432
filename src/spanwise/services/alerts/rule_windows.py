"""Measures the windows of alert rules: most rules together, the others one by one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import structlog

from spanwise.model.alerts import AlertMetric, RuleKey, WatchedRule, Window
from spanwise.model.page import PageRequest
from spanwise.model.telemetry.failures import FailureGroup, FailureQuery, FailureStatus
from spanwise.model.telemetry.filters import FilterCondition
from spanwise.model.times import BoundedRange
from spanwise.services.agents import AgentDirectory
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import failures as stored_failures
from spanwise.storage.telemetry.alerts.alert_windows import (
    Buckets,
    Series,
    SeriesKey,
    find_examples,
    measure_signals,
    measure_traces,
)
from spanwise.storage.telemetry.alerts.filtered_windows import (
    find_query_examples,
    measure_new_failures,
    measure_query,
)
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.failures.groups import list_failures
from spanwise.storage.telemetry.failures.updates import FailureUpdates

log = structlog.get_logger()

_NO_WINDOWS: Mapping[int, Window] = {}
_FAILURES_LOOKED_AT = 50


class RuleWindows:
    def __init__(
        self,
        engine: Engine,
        catalog: Catalog,
        agents: AgentDirectory,
        failure_updates: FailureUpdates,
    ) -> None:
        self._engine = engine
        self._catalog = catalog
        self._agents = agents
        self._failure_updates = failure_updates

    async def measure(
        self,
        rules: Sequence[WatchedRule],
        periods: Sequence[tuple[int, int]],
        buckets: Buckets,
        failures: list[Exception] | None = None,
    ) -> dict[RuleKey, Mapping[int, Window]]:
        """Return the windows of each rule within periods (Unix seconds), by bucket.

        With `failures`, rules that are measured alone and fail are left out; it gets the errors.
        """
        alone = [watched for watched in rules if _is_measured_alone(watched)]
        together = [watched for watched in rules if not _is_measured_alone(watched)]
        series: Series = {}
        for group in _by_scope(together):
            series |= await self._measure_group(group, periods, buckets)
        measured = {w.key: series.get(_series_key(w), _NO_WINDOWS) for w in together}
        for watched in alone:
            try:
                measured[watched.key] = await self._measure_alone(watched, periods, buckets)
            except Exception as error:
                if failures is None:
                    raise
                failures.append(error)
                log.warning("rule_not_measured", rule=watched.key, error=repr(error))
        return measured

    async def find_examples(
        self, rules: Sequence[WatchedRule], end: datetime, low: Collection[RuleKey]
    ) -> dict[RuleKey, list[str]]:
        """Return ids of example traces by rule; `low` has the rules whose value is too low."""
        together = [watched for watched in rules if not _is_measured_alone(watched)]
        examples = await find_examples(self._engine, together, end, low)
        for watched in rules:
            if _is_measured_alone(watched):
                conditions = await self._resolve(watched)
                examples[watched.key] = await find_query_examples(
                    self._engine, watched, conditions, end, is_low=watched.key in low
                )
        return examples

    async def find_new_failures(self, watched: WatchedRule, end: datetime) -> list[FailureGroup]:
        """Return the groups that appeared or came back in the window, the most frequent first."""
        start = end - timedelta(minutes=watched.rule.window_minutes)
        page = PageRequest(limit=_FAILURES_LOOKED_AT, skip=0)
        query = FailureQuery(
            BoundedRange(start, end + timedelta(seconds=1)),
            page,
            agent_name=watched.agent_name,
            now=end,
        )
        async with self._catalog.read() as tx:
            marks = await stored_failures.list_marks(tx, watched.workspace_id)
        failures = await list_failures(self._engine, watched.workspace_id, query, marks)
        return [group for group in failures.items if _appeared(group, start)]

    async def _measure_group(
        self,
        rules: Sequence[WatchedRule],
        periods: Sequence[tuple[int, int]],
        buckets: Buckets,
    ) -> Series:
        """Measure rules of agents or of workspaces: one query for traces and one for signals."""
        trace_rules = [w for w in rules if w.rule.metric is not AlertMetric.SIGNAL]
        signal_rules = [w for w in rules if w.rule.metric is AlertMetric.SIGNAL]
        by_agent = rules[0].agent_name is not None
        series: Series = {}
        if trace_rules:
            names = sorted({w.agent_name or "" for w in trace_rules}) if by_agent else None
            workspaces = [w.workspace_id for w in trace_rules]
            series |= await measure_traces(self._engine, workspaces, periods, buckets, names)
        if signal_rules:
            names = sorted({w.rule.signal_name or "" for w in signal_rules})
            workspaces = [w.workspace_id for w in signal_rules]
            signals = await measure_signals(
                self._engine, workspaces, names, periods, buckets, by_agent=by_agent
            )
            series |= _by_agent_name(signals, signal_rules)
        return series

    async def _measure_alone(
        self, watched: WatchedRule, periods: Sequence[tuple[int, int]], buckets: Buckets
    ) -> Mapping[int, Window]:
        if watched.rule.metric is AlertMetric.NEW_FAILURE_GROUP:
            await self._failure_updates.run()
            async with self._catalog.read() as tx:
                marks = await stored_failures.list_marks(tx, watched.workspace_id)
            return await measure_new_failures(self._engine, watched, marks, periods, buckets)
        conditions = await self._resolve(watched)
        return await measure_query(self._engine, watched, conditions, periods, buckets)

    async def _resolve(self, watched: WatchedRule) -> tuple[FilterCondition, ...]:
        return await self._agents.resolve_conditions(watched.workspace_id, watched.rule.filters)


def _is_measured_alone(watched: WatchedRule) -> bool:
    alone = {AlertMetric.QUERY, AlertMetric.NEW_FAILURE_GROUP}
    return bool(watched.rule.filters) or watched.rule.metric in alone


def _by_scope(rules: Sequence[WatchedRule]) -> Iterable[Sequence[WatchedRule]]:
    """Separate rules of agents from those of workspaces."""
    of_agents = [watched for watched in rules if watched.agent_name is not None]
    of_workspaces = [watched for watched in rules if watched.agent_name is None]
    return [group for group in (of_agents, of_workspaces) if group]


def _appeared(group: FailureGroup, start: datetime) -> bool:
    if group.status is FailureStatus.NEW:
        return group.first_seen_at >= start
    return group.status is FailureStatus.REGRESSED


def _by_agent_name(series: Series, rules: Iterable[WatchedRule]) -> Series:
    """Replace agent ids by names: signals may refer to their agent by id."""
    names = {(w.workspace_id, w.agent_id): w.agent_name or "" for w in rules}
    return {(key[0], names.get(key[:2], key[1]), key[2]): rows for key, rows in series.items()}


def _series_key(watched: WatchedRule) -> SeriesKey:
    return watched.workspace_id, watched.agent_name or "", watched.rule.signal_name or ""
