"""Runs a rule over a stretch of the past, as if it had been watching."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from spanwise.analysis.alert_rules import (
    HOUR_SECONDS,
    Verdict,
    collect_reference,
    judge,
    learned_band,
    measured_value,
)
from spanwise.analysis.baseline import Past
from spanwise.model.alerts import (
    AlertRule,
    BacktestPoint,
    Condition,
    Firing,
    RuleState,
    Window,
)


@dataclass
class Replay:
    """When a rule would have fired, and what it saw: one point an hour."""

    firings: list[Firing] = field(default_factory=list)
    points: list[BacktestPoint] = field(default_factory=list)

    def see(self, rule: AlertRule, past: Past | None, window: Window, at: datetime) -> None:
        """Note a value, if it tells more than the others of its hour."""
        value = measured_value(rule, window)
        last = self.points[-1] if self.points else None
        is_new = last is None or last.at.replace(minute=0, second=0) != at.replace(
            minute=0, second=0
        )
        if last is not None and not is_new:
            if value is None or not _tells_more(rule, value, last.value):
                return
            self.points.pop()
        lower, upper = learned_band(rule, past, window.samples)
        self.points.append(BacktestPoint(at=at, value=value, lower=lower, upper=upper))


def _tells_more(rule: AlertRule, value: float, than: float | None) -> bool:
    if than is None:
        return True
    return value < than if rule.condition is Condition.BELOW else value > than


def replay_rule(
    rule: AlertRule,
    windows: Iterable[tuple[int, Window]],
    buckets: Mapping[int, Window],
    first_seen: int,
) -> Replay:
    """Return each time that the rule would have fired, and what it saw (Unix seconds).

    `windows` are what the rule looks at, by their end and in order; `buckets` are the windows of
    the past that an anomaly is compared with, by their start.
    """
    state, replay = RuleState(), Replay()
    firings = replay.firings
    open_since: datetime | None = None
    excluded: list[tuple[int, int]] = []
    past, past_hour = None, -1
    for end, window in windows:
        hour = end - end % HOUR_SECONDS
        if rule.condition is Condition.ANOMALY and hour != past_hour:
            learns_since = int(state.learns_since.timestamp()) if state.learns_since else 0
            reference = collect_reference(
                rule, buckets, hour, first_seen, excluded=excluded, learns_since=learns_since
            )
            past, past_hour = Past.describe(reference), hour
        at = datetime.fromtimestamp(end, UTC)
        replay.see(rule, past, window, at)
        judged = judge(rule, state, window, past, at, open_since)
        if judged.state.learns_since != state.learns_since:
            past_hour = -1
        state = judged.state
        if judged.verdict is Verdict.FIRE:
            open_since = at
            excluded.append((end - rule.window_minutes * 60, end + 10 * 365 * 86_400))
            firings.append(
                Firing(start=at, end=None, value=judged.value or 0.0, baseline=judged.baseline)
            )
        elif judged.verdict is Verdict.RESOLVE:
            open_since = None
            excluded[-1] = (excluded[-1][0], end)
            firings[-1] = firings[-1].model_copy(update={"end": at})
    return replay
