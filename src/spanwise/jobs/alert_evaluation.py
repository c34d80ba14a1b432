"""Evaluates all alert rules periodically, on one replica at a time.

Rules are measured and judged outside of any transaction. Then one transaction checks the lease and
writes all results: rule states, alerts, their history, events and notifications. A crash loses the
whole evaluation or nothing, and the next one continues from the stored state.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from spanwise.analysis.alert_rules import Judgement, Verdict, judge
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.jobs.alert_measurements import RuleMeasurer
from spanwise.jobs.alert_texts import write_description, write_title
from spanwise.model.alerts import (
    Alert,
    AlertMove,
    AlertStatus,
    Condition,
    Notify,
    RuleState,
    WatchedRule,
    Window,
)
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.events import SERVICE, EventType
from spanwise.services.alerts.evaluation_health import EvaluationHealth
from spanwise.services.notifications.alert_notifications import (
    REPEATED,
    Notification,
    enqueue_notifications,
)
from spanwise.services.notifications.events import record_event
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog import agents as stored_agents
from spanwise.storage.catalog import alerts as stored
from spanwise.storage.catalog.leases import keep_lease, release_lease, take_lease
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.traces.alert_windows import find_examples

log = structlog.get_logger()

LEASE = "alerts"
REPEAT_AFTER = timedelta(hours=4)
_MIN_LEASE_SECONDS = 10

Clock = Callable[[], datetime]
RuleKey = tuple[str, str]


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
    fired: list[tuple[WatchedRule, Window, Judgement]] = field(default_factory=list)
    breached: list[tuple[str, float, WatchedRule]] = field(default_factory=list)
    resolved: list[tuple[str, Alert, str]] = field(default_factory=list)


class AlertEvaluator:
    def __init__(
        self,
        catalog: Catalog,
        engine: Engine,
        pipeline: Pipeline,
        interval_seconds: float,
        holder: str,
        clock: Clock = utc_now,
    ) -> None:
        self._catalog = catalog
        self._engine = engine
        self._pipeline = pipeline
        self._holder = holder
        self._clock = clock
        self._lease = timedelta(seconds=max(interval_seconds * 3, _MIN_LEASE_SECONDS))
        self._measurer = RuleMeasurer(catalog, engine)
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
        planned = self._judge(snapshot, windows, now)
        low = {watched.key for watched, _, judged in planned.fired if _is_low(watched, judged)}
        fired = [watched for watched, _, _ in planned.fired]
        examples = await find_examples(self._engine, fired, now, low)
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
                await self._write(tx, planned, examples, reminders_due, now)

    async def _read_snapshot(self, tx: Transaction) -> _Snapshot:
        rules = await stored_agents.find_watched_rules(tx)
        states = await stored.read_rule_states(tx)
        open_alerts = {
            (entry[1].agent_id, entry[1].rule_id): entry
            for entry in await stored.find_open_alerts(tx)
        }
        return _Snapshot(rules, states, open_alerts)

    def _judge(self, snapshot: _Snapshot, windows: Sequence[Window], now: datetime) -> _Writes:
        planned = _Writes()
        unwatched = dict(snapshot.open_alerts)
        for watched, window in zip(snapshot.rules, windows, strict=True):
            entry = unwatched.pop(watched.key, None)
            alert = entry[1] if entry else None
            state = snapshot.states.get(watched.key, RuleState())
            if (
                entry
                and alert
                and (alert.metric, alert.condition)
                != (
                    watched.rule.metric,
                    watched.rule.condition,
                )
            ):
                planned.resolved.append((entry[0], alert, "the rule has changed"))
                planned.states[watched.key] = RuleState()
                continue
            past = self._measurer.baseline_of(watched)
            since = alert.triggered_at if alert else None
            judged = judge(watched.rule, state, window, past, now, since)
            if judged.state != state:
                planned.states[watched.key] = judged.state
            _plan_verdict(planned, watched, window, judged, alert)
        for workspace_id, alert, _ in unwatched.values():
            note = "the rule was removed or switched off"
            planned.resolved.append((workspace_id, alert, note))
        return planned

    async def _write(
        self,
        tx: Transaction,
        planned: _Writes,
        examples: Mapping[RuleKey, list[str]],
        reminders_due: Sequence[tuple[str, Alert, datetime]],
        now: datetime,
    ) -> None:
        notifications: list[Notification] = []
        await stored.write_rule_states(tx, planned.states)
        for watched, window, judged in planned.fired:
            alert = _new_alert(watched, window, judged, examples[watched.key], now)
            if await stored.add_alert(tx, watched.workspace_id, alert):
                notifications.append(
                    await _record_event(
                        tx, watched.workspace_id, alert, EventType.ALERT_TRIGGERED, now
                    )
                )
        for alert_id, value, watched in planned.breached:
            start = now - timedelta(minutes=watched.rule.window_minutes)
            await stored.count_occurrence(tx, alert_id, value, start, now)
        for workspace_id, alert, note in planned.resolved:
            resolved = await _resolve(tx, workspace_id, alert, note, now)
            if resolved is not None:
                notifications.append(
                    await _record_event(tx, workspace_id, resolved, EventType.ALERT_RESOLVED, now)
                )
        for workspace_id, alert, _ in reminders_due:
            current = await stored.find_alert(tx, workspace_id, alert.id)
            if current is not None and current.status is AlertStatus.ACTIVE:
                await stored.set_notified_at(tx, alert.id, now)
                notify = await _find_notify_settings(tx, alert)
                notifications.append(Notification(workspace_id, current, REPEATED, notify))
        await enqueue_notifications(tx, notifications, now)


def _is_low(watched: WatchedRule, judged: Judgement) -> bool:
    if watched.rule.condition is not Condition.ANOMALY:
        return watched.rule.condition is Condition.BELOW
    return (judged.value or 0.0) < (judged.baseline or 0.0)


def _plan_verdict(
    planned: _Writes,
    watched: WatchedRule,
    window: Window,
    judged: Judgement,
    alert: Alert | None,
) -> None:
    """Add what a judgement requires to the planned writes."""
    match judged.verdict:
        case Verdict.FIRE if judged.value is not None:
            planned.fired.append((watched, window, judged))
        case Verdict.HOLD if alert is not None and judged.breaches:
            planned.breached.append((alert.id, judged.value or 0.0, watched))
        case Verdict.RESOLVE if alert is not None:
            note = judged.note or "the condition has cleared"
            planned.resolved.append((watched.workspace_id, alert, note))


def _new_alert(
    watched: WatchedRule, window: Window, judged: Judgement, examples: list[str], now: datetime
) -> Alert:
    rule, value = watched.rule, judged.value or 0.0
    move = AlertMove(at=now, from_=None, to=AlertStatus.ACTIVE, by=SERVICE, note=None)
    return Alert(
        id=new_id("alr"),
        agent_id=watched.agent_id,
        agent_name=watched.agent_name,
        rule_id=watched.rule_id,
        metric=rule.metric,
        condition=rule.condition,
        severity=rule.severity,
        status=AlertStatus.ACTIVE,
        title=write_title(watched.agent_name, rule, value, judged.baseline),
        description=write_description(rule, window.samples, now),
        value=value,
        threshold=rule.threshold,
        baseline=judged.baseline,
        window_start=now - timedelta(minutes=rule.window_minutes),
        window_end=now,
        triggered_at=now,
        acknowledged_at=None,
        acknowledged_by=None,
        reopened_at=None,
        resolved_at=None,
        occurrences=1,
        example_trace_ids=examples,
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
    moved = await stored.move_alert(
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
    return Notification(workspace_id, alert, event, await _find_notify_settings(tx, alert))


async def _find_notify_settings(tx: Transaction, alert: Alert) -> Notify:
    settings = await stored_agents.find_alert_settings(tx, alert.agent_id)
    return Notify() if settings is None else settings.notify
