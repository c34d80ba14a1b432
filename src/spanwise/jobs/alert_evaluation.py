"""Evaluates all alert rules periodically, on one replica at a time.

Rules are measured and evaluated outside of any transaction. Then one transaction checks the lease
and writes all results: rule states, alerts, their history, events and notifications. A crash loses
the whole evaluation or nothing, and the next one continues from the stored state.
"""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from spanwise.analysis.alert_rules import Evaluation, Verdict, evaluate
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.jobs.alert_measurements import RuleMeasurer
from spanwise.model.alerts import (
    ALL_AGENTS,
    Alert,
    AlertMetric,
    AlertMove,
    AlertRule,
    AlertStatus,
    Condition,
    Notify,
    RuleKey,
    RuleState,
    WatchedRule,
    Window,
    find_silence_end,
)
from spanwise.model.api_model import Clock, new_id, utc_now
from spanwise.model.events import SERVICE, EventType
from spanwise.model.telemetry.failures import FailureGroup
from spanwise.services.alerts.evaluation_health import EvaluationHealth
from spanwise.services.alerts.rule_windows import RuleWindows
from spanwise.services.notifications.alert_notifications import (
    REPEATED,
    Notification,
    enqueue_notifications,
)
from spanwise.services.notifications.alert_texts import (
    write_description,
    write_failure_title,
    write_title,
)
from spanwise.services.notifications.events import record_event
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog.alerting import alerts as stored
from spanwise.storage.catalog.alerting.alert_settings import find_alert_settings, find_watched_rules
from spanwise.storage.catalog.alerting.silences import find_active_silences
from spanwise.storage.catalog.leases import keep_lease, release_lease, take_lease

log = structlog.get_logger()

LEASE = "alerts"
REPEAT_AFTER = timedelta(hours=4)
_MIN_LEASE_SECONDS = 10


@dataclass
class _Snapshot:
    """Rules, states and open alerts as stored when an evaluation starts."""

    rules: list[WatchedRule]
    states: dict[RuleKey, RuleState]
    open_alerts: dict[RuleKey, tuple[str, Alert, datetime]]


@dataclass
class _Writes:
    """What an evaluation will write."""

    states: dict[RuleKey, RuleState] = field(default_factory=dict)
    fired: list[tuple[WatchedRule, Window, Evaluation]] = field(default_factory=list)
    breached: list[tuple[str, float, WatchedRule]] = field(default_factory=list)
    resolved: list[tuple[str, Alert, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Evidence:
    """Example traces for an alert, and the failures that it is about."""

    trace_ids: list[str]
    failures: Sequence[FailureGroup] = ()


class AlertEvaluator:
    def __init__(
        self,
        catalog: Catalog,
        windows: RuleWindows,
        pipeline: Pipeline,
        interval_seconds: float,
        holder: str,
        clock: Clock = utc_now,
    ) -> None:
        self._catalog = catalog
        self._windows = windows
        self._pipeline = pipeline
        self._holder = holder
        self._clock = clock
        self._lease = timedelta(seconds=max(interval_seconds * 3, _MIN_LEASE_SECONDS))
        self._measurer = RuleMeasurer(catalog, windows)
        self.health = EvaluationHealth(interval_seconds)

    async def run(self) -> None:
        """Evaluate all rules, unless another replica holds the lease."""
        started = time.monotonic()
        try:
            if await self._take_lease():
                await self._evaluate()
                self.health.last_success_at = self._clock()
                self.health.last_seconds = time.monotonic() - started
                self.health.passes += 1
            self.health.is_failing = False
        except Exception:
            self.health.failures += 1
            self.health.is_failing = True
            raise
        finally:
            self.health.last_pass_at = time.monotonic()

    async def release(self) -> None:
        """Release the lease, so that another replica can take over at once."""
        async with self._catalog.write() as tx:
            await release_lease(tx, LEASE, self._holder, self._clock())

    async def _take_lease(self) -> bool:
        now = self._clock()
        async with self._catalog.write() as tx:
            return await take_lease(tx, LEASE, self._holder, now, now + self._lease)

    async def _evaluate(self) -> None:
        await self._pipeline.wait_until_visible()
        now = self._clock()
        async with self._catalog.read() as tx:
            snapshot = await self._read_snapshot(tx)
        self.health.rules = len(snapshot.rules)
        windows = await self._measurer.measure(snapshot.rules, snapshot.states, now)
        planned = self._evaluate_rules(snapshot, windows, now)
        low = {
            watched.key for watched, _, evaluation in planned.fired if _is_low(watched, evaluation)
        }
        evidence = await self._find_evidence(planned, now, low)
        reminders_due = [
            entry
            for entry in snapshot.open_alerts.values()
            if entry[1].status is AlertStatus.ACTIVE and now - entry[2] >= REPEAT_AFTER
        ]
        if planned == _Writes() and not reminders_due:
            return
        async with self._catalog.write() as tx:
            # A replica that lost the lease must not overwrite the results of the new holder.
            if await keep_lease(tx, LEASE, self._holder, self._clock() + self._lease):
                await self._write(tx, planned, evidence, reminders_due, now)

    async def _find_evidence(
        self, planned: _Writes, now: datetime, low: Collection[RuleKey]
    ) -> dict[RuleKey, Evidence]:
        """Find example traces of the rules that fire, and the new failures that rules found."""
        fired = [watched for watched, _, _ in planned.fired]
        of_traces = [w for w in fired if w.rule.metric is not AlertMetric.NEW_FAILURE_GROUP]
        examples = await self._windows.find_examples(of_traces, now, low)
        evidence = {key: Evidence(ids) for key, ids in examples.items()}
        for watched in (*fired, *(watched for _, _, watched in planned.breached)):
            if watched.rule.metric is AlertMetric.NEW_FAILURE_GROUP:
                groups = await self._windows.find_new_failures(watched, now)
                ids = groups[0].example_trace_ids if groups else []
                evidence[watched.key] = Evidence(ids, groups)
        return evidence

    async def _read_snapshot(self, tx: Transaction) -> _Snapshot:
        rules = await find_watched_rules(tx)
        states = await stored.read_rule_states(tx)
        open_alerts = {
            stored.rule_key(entry[0], entry[1]): entry
            for entry in await stored.find_open_alerts(tx)
        }
        return _Snapshot(rules, states, open_alerts)

    def _evaluate_rules(
        self, snapshot: _Snapshot, windows: Sequence[Window | None], now: datetime
    ) -> _Writes:
        planned = _Writes()
        unwatched = dict(snapshot.open_alerts)
        for watched, window in zip(snapshot.rules, windows, strict=True):
            entry = unwatched.pop(watched.key, None)
            alert = entry[1] if entry else None
            state = snapshot.states.get(watched.key, RuleState())
            if entry and alert and _has_changed(watched.rule, alert):
                planned.resolved.append((entry[0], alert, "the rule has changed"))
                planned.states[watched.key] = RuleState()
                continue
            if window is None:
                continue
            past = self._measurer.baseline_of(watched)
            since = alert.triggered_at if alert else None
            evaluation = evaluate(watched.rule, state, window, past, now, since)
            if evaluation.state != state:
                planned.states[watched.key] = evaluation.state
            _plan_verdict(planned, watched, window, evaluation, alert)
        for workspace_id, alert, _ in unwatched.values():
            note = "the rule was removed or switched off"
            planned.resolved.append((workspace_id, alert, note))
        return planned

    async def _write(
        self,
        tx: Transaction,
        planned: _Writes,
        evidence: Mapping[RuleKey, Evidence],
        reminders_due: Sequence[tuple[str, Alert, datetime]],
        now: datetime,
    ) -> None:
        notifications: list[Notification] = []
        workspaces = [watched.workspace_id for watched, _, _ in planned.fired]
        workspaces += [workspace_id for workspace_id, _, _ in reminders_due]
        silences = await find_active_silences(tx, workspaces, now)
        await stored.write_rule_states(tx, planned.states)
        for watched, window, evaluation in planned.fired:
            alert = _new_alert(watched, window, evaluation, evidence[watched.key], now)
            is_silenced = find_silence_end(alert, silences.get(watched.workspace_id, []))
            # A reminder is due as soon as the silence ends.
            notified_at = now - REPEAT_AFTER if is_silenced else now
            if await stored.add_alert(tx, watched.workspace_id, alert, notified_at):
                notifications.append(
                    await _record_event(
                        tx, watched.workspace_id, alert, EventType.ALERT_TRIGGERED, now
                    )
                )
        for alert_id, value, watched in planned.breached:
            start = now - timedelta(minutes=watched.rule.window_minutes)
            groups = evidence[watched.key].failures if watched.key in evidence else []
            title = {"title": write_failure_title(watched.agent_name, groups)} if groups else {}
            await stored.count_occurrence(tx, alert_id, value, start, now, **title)
        for workspace_id, alert, note in planned.resolved:
            resolved = await _resolve(tx, workspace_id, alert, note, now)
            if resolved is not None:
                notifications.append(
                    await _record_event(tx, workspace_id, resolved, EventType.ALERT_RESOLVED, now)
                )
        for workspace_id, alert, _ in reminders_due:
            current = await stored.find_alert(tx, workspace_id, alert.id)
            if current is None or find_silence_end(current, silences.get(workspace_id, [])):
                continue
            if current.status is AlertStatus.ACTIVE:
                await stored.set_notified_at(tx, alert.id, now)
                notify = await _find_notify_settings(tx, workspace_id, alert)
                notifications.append(Notification(workspace_id, current, REPEATED, notify))
        await enqueue_notifications(tx, notifications, now)


def _has_changed(rule: AlertRule, alert: Alert) -> bool:
    """Return whether a rule compares something else than when it raised its alert."""
    before = alert.metric, alert.measure, alert.condition
    return before != (rule.metric, rule.measure, rule.condition)


def _is_low(watched: WatchedRule, evaluation: Evaluation) -> bool:
    if watched.rule.condition is not Condition.ANOMALY:
        return watched.rule.condition is Condition.BELOW
    return (evaluation.value or 0.0) < (evaluation.baseline or 0.0)


def _plan_verdict(
    planned: _Writes,
    watched: WatchedRule,
    window: Window,
    evaluation: Evaluation,
    alert: Alert | None,
) -> None:
    """Add what an evaluation requires to the planned writes."""
    match evaluation.verdict:
        case Verdict.FIRE if evaluation.value is not None:
            planned.fired.append((watched, window, evaluation))
        case Verdict.HOLD if alert is not None and evaluation.breaches:
            planned.breached.append((alert.id, evaluation.value or 0.0, watched))
        case Verdict.RESOLVE if alert is not None:
            note = evaluation.note or "the condition has cleared"
            planned.resolved.append((watched.workspace_id, alert, note))


def _new_alert(
    watched: WatchedRule, window: Window, evaluation: Evaluation, evidence: Evidence, now: datetime
) -> Alert:
    rule, value, groups = watched.rule, evaluation.value or 0.0, evidence.failures
    title = write_title(watched.agent_name, rule, value, evaluation.baseline)
    move = AlertMove(at=now, from_=None, to=AlertStatus.ACTIVE, by=SERVICE, note=None)
    return Alert(
        id=new_id("alr"),
        agent_id=watched.agent_id,
        agent_name=watched.agent_name or ALL_AGENTS,
        rule_id=watched.rule_id,
        metric=rule.metric,
        measure=rule.measure,
        condition=rule.condition,
        severity=rule.severity,
        status=AlertStatus.ACTIVE,
        title=write_failure_title(watched.agent_name, groups) if groups else title,
        description=write_description(rule, value, window.samples, now),
        value=value,
        threshold=rule.threshold,
        baseline=evaluation.baseline,
        window_start=now - timedelta(minutes=rule.window_minutes),
        window_end=now,
        triggered_at=now,
        acknowledged_at=None,
        acknowledged_by=None,
        reopened_at=None,
        resolved_at=None,
        occurrences=1,
        example_trace_ids=evidence.trace_ids,
        failure_id=groups[0].id if groups else None,
        rule=rule,
        history=[move],
    )


async def _resolve(
    tx: Transaction, workspace_id: str, alert: Alert, note: str, now: datetime
) -> Alert | None:
    """Resolve an alert from its current status; None when it was resolved or reopened meanwhile."""
    current = await stored.find_alert(tx, workspace_id, alert.id)
    if current is None or current.reopened_at != alert.reopened_at:
        return None
    move = AlertMove(at=now, from_=current.status, to=AlertStatus.RESOLVED, by=SERVICE, note=note)
    moved = await stored.change_status(
        tx,
        workspace_id,
        alert.id,
        move,
        from_=[current.status] if current.status in stored.OPEN else [],
        open_rule=None,
        resolved_at=now,
    )
    return await stored.find_alert(tx, workspace_id, alert.id) if moved else None


async def _record_event(
    tx: Transaction, workspace_id: str, alert: Alert, event: EventType, now: datetime
) -> Notification:
    await record_event(
        tx,
        workspace_id,
        event,
        actor=SERVICE,
        subject=alert.id,
        at=now,
        alert=alert.model_dump(mode="json", by_alias=True),
    )
    log.info(event.replace(".", "_"), alert=alert.id, title=alert.title)
    notify = await _find_notify_settings(tx, workspace_id, alert)
    return Notification(workspace_id, alert, event, notify)


async def _find_notify_settings(tx: Transaction, workspace_id: str, alert: Alert) -> Notify:
    return (await find_alert_settings(tx, workspace_id, alert.agent_id)).notify
