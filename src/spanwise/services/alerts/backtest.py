"""Backtests: how often alert rules would have fired in the last 14 days."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from spanwise.analysis.alert_rules import REFERENCE_WEEKS
from spanwise.analysis.backtest import backtest_rule
from spanwise.analysis.baseline import RECENT_BUCKETS
from spanwise.model.accounts import Principal
from spanwise.model.agents import Agent
from spanwise.model.alerts import AlertMetric, AlertRule, Backtest, Condition, RuleBacktest, Window
from spanwise.model.api_model import utc_now
from spanwise.services.alerts.alerts import Clock, check_rules
from spanwise.services.telemetry.agents import Agents
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.traces.alert_windows import Buckets, measure_signals, measure_traces

DAYS = 14
# Anomaly detection needs five evaluations per window.
_EVALUATIONS_PER_WINDOW = 5
_MAX_FIRINGS = 100


class Backtests:
    def __init__(self, engine: Engine, agents: Agents, clock: Clock = utc_now) -> None:
        self._engine = engine
        self._agents = agents
        self._clock = clock

    async def run(
        self, caller: Principal, agent: str, rules: Sequence[AlertRule] | None
    ) -> Backtest:
        """Replay the given rules, or the agent's current ones, over the last 14 days."""
        found = await self._agents.get(caller, agent)
        rules = found.alert_settings.rules if rules is None else rules
        check_rules(rules)
        end = self._clock()
        start = end - timedelta(days=DAYS)
        outcomes = [
            await self._replay(caller.workspace_id, found, rule, start, end) for rule in rules
        ]
        return Backtest(start=start, end=end, rules=outcomes)

    async def _replay(
        self, workspace: str, agent: Agent, rule: AlertRule, start: datetime, end: datetime
    ) -> RuleBacktest:
        step = _minutes_between_evaluations(rule)
        period = (int(start.timestamp()), int(end.timestamp()))
        first_seen = agent.first_seen_at or end
        windows = await self._read(
            workspace, agent, rule, period, Buckets.sliding(rule.window_minutes, step)
        )
        buckets: Mapping[int, Window] = {}
        if rule.condition is Condition.ANOMALY:
            learn_from = start - timedelta(weeks=REFERENCE_WEEKS, days=1)
            buckets = await self._read(
                workspace,
                agent,
                rule,
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
            firings=replay.firings[-_MAX_FIRINGS:],
            points=replay.points,
        )

    async def _read(
        self,
        workspace: str,
        agent: Agent,
        rule: AlertRule,
        period: tuple[int, int],
        buckets: Buckets,
    ) -> Mapping[int, Window]:
        if rule.metric is AlertMetric.SIGNAL:
            name = rule.signal_name or ""
            series = await measure_signals(self._engine, [workspace], [name], [period], buckets)
            by_id = series.get((workspace, agent.id, name), {})
            return {**by_id, **series.get((workspace, agent.name, name), {})}
        series = await measure_traces(self._engine, [workspace], [period], buckets, [agent.name])
        return series.get((workspace, agent.name, ""), {})


def _minutes_between_evaluations(rule: AlertRule) -> int:
    step = -(-rule.window_minutes // _EVALUATIONS_PER_WINDOW)
    # Scores further apart than this are not combined into an anomaly.
    return min(step, RECENT_BUCKETS) if rule.condition is Condition.ANOMALY else step


def _evaluation_times(start: int, end: int, step: int) -> Iterator[int]:
    first = start - start % step + step
    return iter(range(first, end + 1, step))
