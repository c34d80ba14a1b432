"""Backtests an alert rule: evaluates it over past windows, records when it would have fired."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from spanwise.analysis.alert_rules import (
    HOUR_SECONDS,
    Verdict,
    collect_reference,
    evaluate,
    find_band,
    measured_value,
)
from spanwise.analysis.baseline import History
from spanwise.model.alerts import (
    AlertRule,
    BacktestPoint,
    Condition,
    Firing,
    RuleState,
    Window,
)

# End of a firing that is still open.
_FAR_FUTURE = 2**62


@dataclass
class Replay:
    """When a rule would have fired, and one point per hour for the chart."""

    firings: list[Firing] = field(default_factory=list)
    points: list[BacktestPoint] = field(default_factory=list)
    # Evaluated windows, and those of them with too few samples.
    windows: int = 0
    skipped: int = 0

    def record(
        self, rule: AlertRule, history: History | None, window: Window, at: datetime
    ) -> None:
        """Count a window, and keep its value if it is the most extreme one of its hour."""
        value = measured_value(rule, window)
        self.windows += 1
        self.skipped += value is None
        last = self.points[-1] if self.points else None
        is_new = last is None or last.at.replace(minute=0, second=0) != at.replace(
            minute=0, second=0
        )
        lower, upper = find_band(rule, history, window.samples)
        if last is not None and not is_new:
            if value is None or not _is_more_extreme(rule, value, last.value, (lower, upper)):
                return
            self.points.pop()
        baseline = None if history is None else history.center
        self.points.append(
            BacktestPoint(at=at, value=value, baseline=baseline, lower=lower, upper=upper)
        )


def _is_more_extreme(
    rule: AlertRule, value: float, than: float | None, band: tuple[float | None, float | None]
) -> bool:
    if than is None:
        return True
    lower, upper = band
    if lower is not None and upper is not None:
        return max(lower - value, value - upper) > max(lower - than, than - upper)
    return value < than if rule.condition is Condition.BELOW else value > than


def backtest_rule(
    rule: AlertRule,
    windows: Iterable[tuple[int, Window]],
    buckets: Mapping[int, Window],
    first_seen: int,
) -> Replay:
    """Evaluate the rule at every window and return its firings (times in Unix seconds).

    `windows` are the windows to evaluate, by their end and in order; `buckets` are the past windows
    that an anomaly rule is compared with, by their start.
    """
    state, replay = RuleState(), Replay()
    firings = replay.firings
    open_since: datetime | None = None
    excluded: list[tuple[int, int]] = []
    history, history_hour = None, -1
    for end, window in windows:
        hour = end - end % HOUR_SECONDS
        if rule.condition is Condition.ANOMALY and hour != history_hour:
            learns_since = int(state.learns_since.timestamp()) if state.learns_since else 0
            reference = collect_reference(
                rule, buckets, hour, first_seen, excluded=excluded, learns_since=learns_since
            )
            history, history_hour = History.summarize(reference), hour
        at = datetime.fromtimestamp(end, UTC)
        replay.record(rule, history, window, at)
        evaluation = evaluate(rule, state, window, history, at, open_since)
        if evaluation.state.learns_since != state.learns_since:
            history_hour = -1
        state = evaluation.state
        if evaluation.verdict is Verdict.FIRE:
            open_since = at
            excluded.append((end - rule.window_minutes * 60, _FAR_FUTURE))
            firings.append(
                Firing(
                    start=at, end=None, value=evaluation.value or 0.0, baseline=evaluation.baseline
                )
            )
        elif evaluation.verdict is Verdict.RESOLVE:
            open_since = None
            excluded[-1] = (excluded[-1][0], end)
            firings[-1] = firings[-1].model_copy(update={"end": at})
    return replay
