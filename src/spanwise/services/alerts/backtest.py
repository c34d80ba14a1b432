"""Backtests: how often alert rules would have fired in the last 14 days, or around an alert."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from spanwise.analysis.alert_rules import REFERENCE_WEEKS
from spanwise.analysis.backtest import backtest_rule
from spanwise.analysis.baseline import RECENT_BUCKETS
from spanwise.model.accounts import Principal
from spanwise.model.agents import Agent
from spanwise.model.alerts import (
    Alert,
    AlertRule,
    AlertSettings,
    Backtest,
    BacktestPoint,
    Condition,
    RuleBacktest,
    WatchedRule,
    Window,
)
from spanwise.model.api_model import Clock, utc_now
from spanwise.services.agents import Agents
from spanwise.services.alerts.alerts import require_alert
from spanwise.services.alerts.rule_checks import check_rules
from spanwise.services.alerts.rule_windows import RuleWindows
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.agents import find_agent
from spanwise.storage.catalog.alerting.alert_settings import find_alert_settings, find_first_seen
from spanwise.storage.telemetry.alerts.alert_windows import Buckets

DAYS = 14
# What the chart of an alert shows before and after it.
_AROUND_ALERT = timedelta(days=1)
# Anomaly detection needs five evaluations per window.
_EVALUATIONS_PER_WINDOW = 5
_MAX_FIRINGS = 100


class Backtests:
    def __init__(
        self, windows: RuleWindows, agents: Agents, catalog: Catalog, clock: Clock = utc_now
    ) -> None:
        self._windows = windows
        self._agents = agents
        self._catalog = catalog
        self._clock = clock

    async def run(
        self, caller: Principal, agent: str | None, rules: Sequence[AlertRule] | None
    ) -> Backtest:
        """Replay rules, by default the current ones, of an agent or without one the workspace."""
        end = self._clock()
        start = end - timedelta(days=DAYS)
        scope = None if agent is None else await self._agents.get(caller, agent)
        current, first_seen = await self._read_scope(caller, scope)
        rules = current.rules if rules is None else rules
        check_rules(rules)
        outcomes = []
        for rule in rules:
            watched = WatchedRule(
                caller.workspace_id,
                scope.id if scope else None,
                scope.name if scope else None,
                first_seen,
                rule,
            )
            outcomes.append(await self._replay(watched, start, end))
        return Backtest(start=start, end=end, rules=outcomes)

    async def run_around_alert(self, caller: Principal, alert_id: str) -> Backtest:
        """Replay the rule of an alert, as it was, from a day before to a day after the alert."""
        async with self._catalog.read() as tx:
            alert = await require_alert(tx, caller, alert_id)
            agent = alert.agent_id and await find_agent(tx, caller.workspace_id, alert.agent_id)
            first_seen = await find_first_seen(tx, caller.workspace_id)
        end = min(self._clock(), alert.window_end + _AROUND_ALERT)
        start = max(alert.triggered_at - _AROUND_ALERT, end - timedelta(days=DAYS))
        if alert.agent_id:
            first_seen = agent.first_seen_at if agent else None
        watched = WatchedRule(
            caller.workspace_id,
            alert.agent_id,
            alert.agent_name if alert.agent_id else None,
            # Nobody knows when a deleted agent was first seen.
            first_seen or start - timedelta(weeks=REFERENCE_WEEKS, days=1),
            alert.rule,
        )
        outcome = await self._replay(watched, start, end)
        points = _with_own_point(outcome.points, alert)
        return Backtest(start=start, end=end, rules=[outcome.model_copy(update={"points": points})])

    async def _read_scope(
        self, caller: Principal, agent: Agent | None
    ) -> tuple[AlertSettings, datetime | None]:
        if agent is not None:
            return agent.alert_settings, agent.first_seen_at
        async with self._catalog.read() as tx:
            settings = await find_alert_settings(tx, caller.workspace_id, None)
            return settings, await find_first_seen(tx, caller.workspace_id)

    async def _replay(self, watched: WatchedRule, start: datetime, end: datetime) -> RuleBacktest:
        rule = watched.rule
        step = _minutes_between_evaluations(rule)
        period = (int(start.timestamp()), int(end.timestamp()))
        first_seen = watched.first_seen_at or end
        windows = await self._read(watched, period, Buckets.sliding(rule.window_minutes, step))
        buckets: Mapping[int, Window] = {}
        if rule.condition is Condition.ANOMALY:
            learn_from = start - timedelta(weeks=REFERENCE_WEEKS, days=1)
            buckets = await self._read(
                watched,
                (int(learn_from.timestamp()), period[1]),
                Buckets.within_hours(rule.window_minutes),
            )
        since = max(period[0], int(first_seen.timestamp()))
        times = _evaluation_times(since, period[1], step * 60)
        replay = backtest_rule(
            rule,
            ((moment, windows.get(moment, Window())) for moment in times),
            buckets,
            int(first_seen.timestamp()),
        )
        return RuleBacktest(
            rule_id=rule.id,
            name=rule.name,
            fired=len(replay.firings),
            windows=replay.windows,
            skipped=replay.skipped,
            firings=replay.firings[-_MAX_FIRINGS:],
            points=replay.points,
        )

    async def _read(
        self, watched: WatchedRule, period: tuple[int, int], buckets: Buckets
    ) -> Mapping[int, Window]:
        measured = await self._windows.measure([watched], [period], buckets)
        return measured[watched.key]


def _with_own_point(points: Sequence[BacktestPoint], alert: Alert) -> list[BacktestPoint]:
    """Add what the alert measured: the replay has other windows, and old traces are deleted."""
    hour = _hour_of(alert.window_end)
    same = next((point for point in points if _hour_of(point.at) == hour), None)
    if same is None:
        own = BacktestPoint(
            at=alert.window_end,
            value=alert.value,
            baseline=alert.baseline,
            lower=None,
            upper=None,
        )
        return sorted((*points, own), key=lambda point: point.at)
    if same.value is not None and _extremity(alert, same.value) >= _extremity(alert, alert.value):
        return list(points)
    return [
        point.model_copy(update={"value": alert.value}) if point is same else point
        for point in points
    ]


def _hour_of(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _extremity(alert: Alert, value: float) -> float:
    if alert.condition is Condition.ANOMALY:
        return abs(value - (alert.baseline or 0.0))
    return -value if alert.condition is Condition.BELOW else value


def _minutes_between_evaluations(rule: AlertRule) -> int:
    step = -(-rule.window_minutes // _EVALUATIONS_PER_WINDOW)
    # Scores further apart than this are not combined into an anomaly.
    return min(step, RECENT_BUCKETS) if rule.condition is Condition.ANOMALY else step


def _evaluation_times(start: int, end: int, step: int) -> Iterator[int]:
    first = start - start % step + step
    return iter(range(first, end + 1, step))
