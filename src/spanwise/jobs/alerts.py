"""Evaluates all alert rules by the clock, once however many replicas run.

Reading and judging happen outside of any transaction; then one transaction checks that the lease is
still ours and writes everything that follows: states, alerts, their history, events and messages. A
crash loses the whole evaluation or nothing of it, and the next one starts from what is stored.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from spanwise.analysis.alert_rules import Judgement, Verdict, judge
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.jobs.alert_measurements import Measurer
from spanwise.jobs.alert_texts import write_description, write_title
from spanwise.model.alerts import (
    Alert,
    AlertMove,
    AlertStatus,
    Notify,
    RuleState,
    WatchedRule,
    Window,
)
from spanwise.model.events import SERVICE, EventType
from spanwise.model.record import new_id, utc_now
from spanwise.services.alerts.evaluation_health import EvaluationHealth
from spanwise.services.notifications.events import record_event
from spanwise.services.notifications.outbox import REPEATED, Notification, enqueue_notifications
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog import agents as stored_agents
from spanwise.storage.catalog import alerts as stored
from spanwise.storage.catalog.leases import keep_lease, release_lease, take_lease
from spanwise.storage.telemetry.engine.engine import Engine
from spanwise.storage.telemetry.traces.measurements import find_examples

log = structlog.get_logger()

LEASE = "alerts"
REPEAT_AFTER = timedelta(hours=4)
_LEAST_LEASE_SECONDS = 10

Clock = Callable[[], datetime]
RuleKey = tuple[str, str]


@dataclass
class _Known:
    """What the catalog knows when an evaluation begins."""

    rules: list[WatchedRule]
    states: dict[RuleKey, RuleState]
    open_alerts: dict[RuleKey, tuple[str, Alert, datetime]]


@dataclass
class _Outcome:
    """What an evaluation is going to write."""

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
        self._lease = timedelta(seconds=max(interval_seconds * 3, _LEAST_LEASE_SECONDS))
        self._measurer = Measurer(catalog, engine)
        self.health = EvaluationHealth(interval_seconds)

    async def run(self) -> None:
        """Evaluate all rules, unless another replica does."""
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
        """Let another replica go on at once."""
        async with self._catalog.write() as tx:
            await release_lease(tx, LEASE, self._holder, self._clock())

    async def _take_lease(self) -> bool:
        now = self._clock()
        async with self._catalog.write() as tx:
            return await take_lease(tx, LEASE, self._holder, now, now + self._lease)

    async def _evaluate(self) -> None:
        await self._pipeline.settle()
        now = self._clock()
        async with self._catalog.read() as tx:
            known = await self._read(tx)
        self.health.rules = len(known.rules)
        windows = await self._measurer.measure(known.rules, known.states, now)
        outcome = self._judge(known, windows, now)
        examples = await find_examples(self._engine, [fired[0] for fired in outcome.fired], now)
        news_due = [
            entry
            for entry in known.open_alerts.values()
            if entry[1].status is AlertStatus.ACTIVE and now - entry[2] >= REPEAT_AFTER
        ]
        if outcome == _Outcome() and not news_due:
            return
        async with self._catalog.write() as tx:
            # Whoever has lost the lease on the way here must not write over its successor's work.
            if await keep_lease(tx, LEASE, self._holder, self._clock() + self._lease):
                await self._write(tx, outcome, examples, news_due, now)

    async def _read(self, tx: Transaction) -> _Known:
        rules = await stored_agents.find_watched_rules(tx)
        states = await stored.read_rule_states(tx)
        open_alerts = {
            (entry[1].agent_id, entry[1].rule_id): entry
            for entry in await stored.find_open_alerts(tx)
        }
        return _Known(rules, states, open_alerts)

    def _judge(self, known: _Known, windows: Sequence[Window], now: datetime) -> _Outcome:
        outcome = _Outcome()
        unwatched = dict(known.open_alerts)
        for watched, window in zip(known.rules, windows, strict=True):
            entry = unwatched.pop(watched.key, None)
            alert = entry[1] if entry else None
            state = known.states.get(watched.key, RuleState())
            if (
                entry
                and alert
                and (alert.metric, alert.condition)
                != (
                    watched.rule.metric,
                    watched.rule.condition,
                )
            ):
                outcome.resolved.append((entry[0], alert, "the rule has changed"))
                outcome.states[watched.key] = RuleState()
                continue
            past = self._measurer.past_of(watched)
            since = alert.triggered_at if alert else None
            judged = judge(watched.rule, state, window, past, now, since)
            if judged.state != state:
                outcome.states[watched.key] = judged.state
            _follow(outcome, watched, window, judged, alert)
        for workspace_id, alert, _ in unwatched.values():
            note = "the rule was removed or switched off"
            outcome.resolved.append((workspace_id, alert, note))
        return outcome

    async def _write(
        self,
        tx: Transaction,
        outcome: _Outcome,
        examples: Mapping[RuleKey, list[str]],
        news_due: Sequence[tuple[str, Alert, datetime]],
        now: datetime,
    ) -> None:
        news: list[Notification] = []
        await stored.write_rule_states(tx, outcome.states)
        for watched, window, judged in outcome.fired:
            alert = _new_alert(watched, window, judged, examples[watched.key], now)
            if await stored.add_alert(tx, watched.workspace_id, alert):
                news.append(
                    await _tell(tx, watched.workspace_id, alert, EventType.ALERT_TRIGGERED, now)
                )
        for alert_id, value, watched in outcome.breached:
            start = now - timedelta(minutes=watched.rule.window_minutes)
            await stored.count_occurrence(tx, alert_id, value, start, now)
        for workspace_id, alert, note in outcome.resolved:
            resolved = await _resolve(tx, workspace_id, alert, note, now)
            if resolved is not None:
                news.append(await _tell(tx, workspace_id, resolved, EventType.ALERT_RESOLVED, now))
        for workspace_id, alert, _ in news_due:
            current = await stored.find_alert(tx, workspace_id, alert.id)
            if current is not None and current.status is AlertStatus.ACTIVE:
                await stored.note_notified(tx, alert.id, now)
                notify = await _receivers(tx, alert)
                news.append(Notification(workspace_id, current, REPEATED, notify))
        await enqueue_notifications(tx, news, now)


def _follow(
    outcome: _Outcome, watched: WatchedRule, window: Window, judged: Judgement, alert: Alert | None
) -> None:
    """Note what a judgement leads to."""
    match judged.verdict:
        case Verdict.FIRE if judged.value is not None:
            outcome.fired.append((watched, window, judged))
        case Verdict.HOLD if alert is not None and judged.breaches:
            outcome.breached.append((alert.id, judged.value or 0.0, watched))
        case Verdict.RESOLVE if alert is not None:
            note = judged.note or "the condition has cleared"
            outcome.resolved.append((watched.workspace_id, alert, note))


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
    """Resolve an alert, from wherever it is by now; None when it was resolved meanwhile."""
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


async def _tell(
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
    return Notification(workspace_id, alert, event, await _receivers(tx, alert))


async def _receivers(tx: Transaction, alert: Alert) -> Notify:
    settings = await stored_agents.find_alert_settings(tx, alert.agent_id)
    return Notify() if settings is None else settings.notify
