"""Measures what rules look at: one query a window length for all agents together.

What is normal is learned anew once an hour, and kept in memory: it follows from what is stored.
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
from spanwise.analysis.baseline import Past
from spanwise.model.alerts import AlertMetric, AlertRule, Condition, RuleState, WatchedRule, Window
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import alerts as stored
from spanwise.storage.telemetry.engine.engine import Engine
from spanwise.storage.telemetry.traces.measurements import (
    Buckets,
    Series,
    SeriesKey,
    measure_signals,
    measure_traces,
)

_AGENTS_A_QUERY = 200
_NOTHING: Mapping[int, Window] = {}

# What a rule has learned holds for the hour and for what it was told to learn from.
_Learned = tuple[AlertRule, int, datetime | None, Past | None]


class Measurer:
    def __init__(self, catalog: Catalog, engine: Engine) -> None:
        self._catalog = catalog
        self._engine = engine
        self._learned: dict[tuple[str, str], _Learned] = {}

    async def measure(
        self,
        rules: Sequence[WatchedRule],
        states: Mapping[tuple[str, str], RuleState],
        now: datetime,
    ) -> list[Window]:
        """Return the window of each rule that ends now, in the order of the rules."""
        await self._learn(rules, states, now)
        # Moments are whole seconds there; the one that is passing counts.
        end = int(now.timestamp()) + 1
        measured: dict[int, Series] = {}
        for minutes, group in _by_window(rules).items():
            period = (end - minutes * 60, end)
            measured[minutes] = await self._read(group, [period], Buckets.whole())
        return [
            measured[watched.rule.window_minutes].get(_key(watched), _NOTHING).get(0, Window())
            for watched in rules
        ]

    def past_of(self, watched: WatchedRule) -> Past | None:
        learned = self._learned.get(watched.key)
        return learned[3] if learned else None

    async def _learn(
        self,
        rules: Sequence[WatchedRule],
        states: Mapping[tuple[str, str], RuleState],
        now: datetime,
    ) -> None:
        seconds = int(now.timestamp())
        hour = seconds - seconds % HOUR_SECONDS
        anomalies = [w for w in rules if w.rule.condition is Condition.ANOMALY]
        known = {watched.key: watched for watched in anomalies}
        self._learned = {key: value for key, value in self._learned.items() if key in known}
        outdated = []
        for watched in anomalies:
            since = states.get(watched.key, RuleState()).learns_since
            learned = self._learned.get(watched.key)
            if learned is None or learned[:3] != (watched.rule, hour, since):
                outdated.append(watched)
        for minutes, group in _by_window(outdated).items():
            for chunk in _chunks(group):
                series = await self._read(
                    chunk, reference_periods(hour), Buckets.within_hours(minutes)
                )
                await self._sum_up(chunk, series, states, hour)

    async def _sum_up(
        self,
        rules: Sequence[WatchedRule],
        series: Series,
        states: Mapping[tuple[str, str], RuleState],
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
                    series.get(_key(watched), _NOTHING),
                    hour,
                    int(watched.first_seen_at.timestamp()),
                    excluded=excluded,
                    learns_since=int(learns_since.timestamp()) if learns_since else 0,
                )
            )
            past = Past.describe(reference)
            self._learned[watched.key] = (watched.rule, hour, learns_since, past)

    async def _read(
        self, rules: Sequence[WatchedRule], periods: Sequence[tuple[int, int]], buckets: Buckets
    ) -> Series:
        """Read everything that these rules look at, in a query for traces and one for signals."""
        of_traces = [w for w in rules if w.rule.metric is not AlertMetric.SIGNAL]
        of_signals = [w for w in rules if w.rule.metric is AlertMetric.SIGNAL]
        series: Series = {}
        if of_traces:
            names = sorted({w.agent_name for w in of_traces})
            workspaces = [w.workspace_id for w in of_traces]
            series |= await measure_traces(self._engine, workspaces, periods, buckets, names)
        if of_signals:
            wanted = sorted({w.rule.signal_name or "" for w in of_signals})
            workspaces = [w.workspace_id for w in of_signals]
            found = await measure_signals(self._engine, workspaces, wanted, periods, buckets)
            series |= _by_agent_name(found, of_signals)
        return series


def _by_agent_name(found: Series, rules: Iterable[WatchedRule]) -> Series:
    """Signals may name their agent by its id."""
    names = {(w.workspace_id, w.agent_id): w.agent_name for w in rules}
    return {(key[0], names.get(key[:2], key[1]), key[2]): rows for key, rows in found.items()}


def _key(watched: WatchedRule) -> SeriesKey:
    return watched.workspace_id, watched.agent_name, watched.rule.signal_name or ""


def _by_window(rules: Iterable[WatchedRule]) -> dict[int, list[WatchedRule]]:
    groups: dict[int, list[WatchedRule]] = defaultdict(list)
    for watched in rules:
        groups[watched.rule.window_minutes].append(watched)
    return dict(groups)


def _chunks(rules: Sequence[WatchedRule]) -> Iterable[Sequence[WatchedRule]]:
    for start in range(0, len(rules), _AGENTS_A_QUERY):
        yield rules[start : start + _AGENTS_A_QUERY]
