"""Measures the current windows of alert rules, with one query per window length.

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
from spanwise.model.alerts import AlertMetric, AlertRule, Condition, RuleState, WatchedRule, Window
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import alerts as stored
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.traces.alert_windows import (
    Buckets,
    Series,
    SeriesKey,
    measure_signals,
    measure_traces,
)

_RULES_PER_QUERY = 200
_NO_WINDOWS: Mapping[int, Window] = {}

# Rule, hour and start of learning that a baseline is valid for, and the baseline.
_Baseline = tuple[AlertRule, int, datetime | None, History | None]


class RuleMeasurer:
    def __init__(self, catalog: Catalog, engine: Engine) -> None:
        self._catalog = catalog
        self._engine = engine
        self._baselines: dict[tuple[str, str], _Baseline] = {}

    async def measure(
        self,
        rules: Sequence[WatchedRule],
        states: Mapping[tuple[str, str], RuleState],
        now: datetime,
    ) -> list[Window]:
        """Return the current window of each rule, in the order of the rules."""
        await self._update_baselines(rules, states, now)
        # Windows end with the current second.
        end = int(now.timestamp()) + 1
        measured: dict[int, Series] = {}
        for minutes, group in _by_window(rules).items():
            period = (end - minutes * 60, end)
            measured[minutes] = await self._read(group, [period], Buckets.whole())
        return [
            measured[watched.rule.window_minutes].get(_key(watched), _NO_WINDOWS).get(0, Window())
            for watched in rules
        ]

    def baseline_of(self, watched: WatchedRule) -> History | None:
        baseline = self._baselines.get(watched.key)
        return baseline[3] if baseline else None

    async def _update_baselines(
        self,
        rules: Sequence[WatchedRule],
        states: Mapping[tuple[str, str], RuleState],
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
                series = await self._read(
                    chunk, reference_periods(hour), Buckets.within_hours(minutes)
                )
                await self._store_baselines(chunk, series, states, hour)

    async def _store_baselines(
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
                    series.get(_key(watched), _NO_WINDOWS),
                    hour,
                    int(watched.first_seen_at.timestamp()),
                    excluded=excluded,
                    learns_since=int(learns_since.timestamp()) if learns_since else 0,
                )
            )
            past = History.summarize(reference)
            self._baselines[watched.key] = (watched.rule, hour, learns_since, past)

    async def _read(
        self, rules: Sequence[WatchedRule], periods: Sequence[tuple[int, int]], buckets: Buckets
    ) -> Series:
        """Measure these rules with one query for traces and one for signals."""
        trace_rules = [w for w in rules if w.rule.metric is not AlertMetric.SIGNAL]
        signal_rules = [w for w in rules if w.rule.metric is AlertMetric.SIGNAL]
        series: Series = {}
        if trace_rules:
            names = sorted({w.agent_name for w in trace_rules})
            workspaces = [w.workspace_id for w in trace_rules]
            series |= await measure_traces(self._engine, workspaces, periods, buckets, names)
        if signal_rules:
            wanted = sorted({w.rule.signal_name or "" for w in signal_rules})
            workspaces = [w.workspace_id for w in signal_rules]
            found = await measure_signals(self._engine, workspaces, wanted, periods, buckets)
            series |= _by_agent_name(found, signal_rules)
        return series


def _by_agent_name(found: Series, rules: Iterable[WatchedRule]) -> Series:
    """Replace agent ids by names: signals may refer to their agent by id."""
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
    for start in range(0, len(rules), _RULES_PER_QUERY):
        yield rules[start : start + _RULES_PER_QUERY]
