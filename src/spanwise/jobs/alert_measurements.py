"""Measures the current windows of alert rules, those of the same length together.

Baselines of anomaly rules are recomputed from stored telemetry once an hour and kept in memory.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from spanwise.analysis.alert_rules import (
    HOUR_SECONDS,
    REFERENCE_WEEKS,
    collect_reference,
    reference_periods,
)
from spanwise.analysis.baseline import History
from spanwise.model.alerts import AlertRule, Condition, RuleKey, RuleState, WatchedRule, Window
from spanwise.services.alerts.rule_windows import RuleWindows
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.alerting import alerts as stored
from spanwise.storage.telemetry.alerts.alert_windows import Buckets

_RULES_PER_QUERY = 200

# Rule, hour and start of learning that a baseline is valid for, and the baseline.
_Baseline = tuple[AlertRule, int, datetime | None, History | None]


class RuleMeasurer:
    def __init__(self, catalog: Catalog, windows: RuleWindows) -> None:
        self._catalog = catalog
        self._windows = windows
        self._baselines: dict[RuleKey, _Baseline] = {}

    async def measure(
        self,
        rules: Sequence[WatchedRule],
        states: Mapping[RuleKey, RuleState],
        now: datetime,
    ) -> list[Window | None]:
        """Return the current window of each rule, in their order; None if it was not measured."""
        await self._update_baselines(rules, states, now)
        # Windows end with the current second.
        end = int(now.timestamp()) + 1
        measured: dict[RuleKey, Mapping[int, Window]] = {}
        # A query that is too expensive must not stop the rules of others.
        failures: list[Exception] = []
        for minutes, group in _by_window(rules).items():
            period = (end - minutes * 60, end)
            measured |= await self._windows.measure(group, [period], Buckets.whole(), failures)
        if failures and not measured:
            raise failures[0]
        return [
            measured[watched.key].get(0, Window()) if watched.key in measured else None
            for watched in rules
        ]

    def baseline_of(self, watched: WatchedRule) -> History | None:
        baseline = self._baselines.get(watched.key)
        return baseline[3] if baseline else None

    async def _update_baselines(
        self,
        rules: Sequence[WatchedRule],
        states: Mapping[RuleKey, RuleState],
        now: datetime,
    ) -> None:
        seconds = int(now.timestamp())
        hour = seconds - seconds % HOUR_SECONDS
        anomalies = [w for w in rules if w.rule.condition is Condition.ANOMALY]
        known = {watched.key: watched for watched in anomalies}
        self._baselines = {key: value for key, value in self._baselines.items() if key in known}
        outdated = []
        for watched in anomalies:
            since = states.get(watched.key, RuleState()).learns_since
            baseline = self._baselines.get(watched.key)
            if baseline is None or baseline[:3] != (watched.rule, hour, since):
                outdated.append(watched)
        for minutes, group in _by_window(outdated).items():
            for chunk in _chunks(group):
                measured = await self._windows.measure(
                    chunk, reference_periods(hour), Buckets.within_hours(minutes), []
                )
                learned = [watched for watched in chunk if watched.key in measured]
                await self._store_baselines(learned, measured, states, hour)

    async def _store_baselines(
        self,
        rules: Sequence[WatchedRule],
        measured: Mapping[RuleKey, Mapping[int, Window]],
        states: Mapping[RuleKey, RuleState],
        hour: int,
    ) -> None:
        since = datetime.fromtimestamp(hour, UTC) - timedelta(weeks=REFERENCE_WEEKS, days=1)
        async with self._catalog.read() as tx:
            firing = await stored.find_firing_times(tx, [w.key for w in rules], since)
        for watched in rules:
            learns_since = states.get(watched.key, RuleState()).learns_since
            width = watched.rule.window_minutes * 60
            excluded = [
                (int(start.timestamp()) - width, int(end.timestamp()) if end else hour)
                for start, end in firing.get(watched.key, [])
            ]
            reference = (
                []
                if watched.first_seen_at is None
                else collect_reference(
                    watched.rule,
                    measured[watched.key],
                    hour,
                    int(watched.first_seen_at.timestamp()),
                    excluded=excluded,
                    learns_since=int(learns_since.timestamp()) if learns_since else 0,
                )
            )
            past = History.summarize(reference)
            self._baselines[watched.key] = (watched.rule, hour, learns_since, past)


def _by_window(rules: Iterable[WatchedRule]) -> dict[int, list[WatchedRule]]:
    groups: dict[int, list[WatchedRule]] = defaultdict(list)
    for watched in rules:
        groups[watched.rule.window_minutes].append(watched)
    return dict(groups)


def _chunks(rules: Sequence[WatchedRule]) -> Iterable[Sequence[WatchedRule]]:
    for start in range(0, len(rules), _RULES_PER_QUERY):
        yield rules[start : start + _RULES_PER_QUERY]
