"""Alerts: list, acknowledge, reopen, and change an agent's alert settings."""

import secrets
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from spanwise.model.accounts import Principal
from spanwise.model.agents import Agent
from spanwise.model.alerts import (
    MAX_ANOMALY_MINUTES,
    Alert,
    AlertFilter,
    AlertMetric,
    AlertMove,
    AlertRule,
    AlertSettings,
    AlertStatus,
    AlertSummary,
    Condition,
    NotifyWebhook,
)
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.errors import FieldProblem, Invalid, NotFound
from spanwise.model.events import EventType
from spanwise.model.page import Listing, PageRequest
from spanwise.services.notifications.alert_notifications import Notification, enqueue_notifications
from spanwise.services.notifications.events import record_event
from spanwise.services.notifications.webhook_guard import WebhookGuard
from spanwise.services.telemetry.agents import Agents, require_agent
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog import agents as stored_agents
from spanwise.storage.catalog import alerts as stored

Clock = Callable[[], datetime]


async def count_active_alerts(catalog: Catalog, workspace_id: str, agent: str | None = None) -> int:
    """Count the alerts of a workspace, or of one agent, that are active now."""
    async with catalog.read() as tx:
        return await stored.count_active(tx, workspace_id, agent)


class Alerts:
    def __init__(
        self, catalog: Catalog, agents: Agents, guard: WebhookGuard, clock: Clock = utc_now
    ) -> None:
        self._catalog = catalog
        self._agents = agents
        self._guard = guard
        self._clock = clock

    async def list(
        self, caller: Principal, wanted: AlertFilter, page: PageRequest
    ) -> Listing[Alert]:
        async with self._catalog.read() as tx:
            return await stored.list_alerts(tx, caller.workspace_id, wanted, page)

    async def summarize(self, caller: Principal, wanted: AlertFilter) -> AlertSummary:
        async with self._catalog.read() as tx:
            return await stored.summarize_alerts(tx, caller.workspace_id, wanted)

    async def get(self, caller: Principal, alert_id: str) -> Alert:
        async with self._catalog.read() as tx:
            return await _require(tx, caller, alert_id)

    async def acknowledge(self, caller: Principal, alert_id: str, note: str | None) -> Alert:
        """Mark an active alert as acknowledged. Does nothing if it already is."""
        now = self._clock()
        async with self._catalog.write() as tx:
            alert = await _require(tx, caller, alert_id)
            if alert.status is AlertStatus.RESOLVED:
                raise Invalid("the alert is resolved; only an active one can be acknowledged")
            move = AlertMove(
                at=now,
                from_=AlertStatus.ACTIVE,
                to=AlertStatus.ACKNOWLEDGED,
                by=caller.caller_id,
                note=note,
            )
            moved = await stored.move_alert(
                tx,
                caller.workspace_id,
                alert_id,
                move,
                from_=[AlertStatus.ACTIVE],
                acknowledged_at=now,
                acknowledged_by=caller.caller_id,
            )
            alert = await _require(tx, caller, alert_id)
            if moved:
                await _record(tx, caller, EventType.ALERT_ACKNOWLEDGED, alert, now)
        return alert

    async def reopen(self, caller: Principal, alert_id: str, note: str | None) -> Alert:
        """Make an alert active again. Does nothing if it already is."""
        now = self._clock()
        async with self._catalog.write() as tx:
            alert = await _require(tx, caller, alert_id)
            if alert.status is AlertStatus.ACTIVE:
                return alert
            move = AlertMove(
                at=now,
                from_=alert.status,
                to=AlertStatus.ACTIVE,
                by=caller.caller_id,
                note=note,
            )
            if not await stored.reopen_alert(tx, caller.workspace_id, alert, move):
                raise Invalid("a newer alert of the same rule is open")
            # Forgets what the rule observed before the reopening, which must not resolve the alert.
            await stored.delete_rule_states(tx, [(alert.agent_id, alert.rule_id)])
            alert = await _require(tx, caller, alert_id)
            await _record(tx, caller, EventType.ALERT_REOPENED, alert, now)
            settings = await stored_agents.find_alert_settings(tx, alert.agent_id)
            if settings is not None:
                notification = Notification(
                    caller.workspace_id, alert, EventType.ALERT_REOPENED, settings.notify
                )
                await enqueue_notifications(tx, [notification], now)
        return alert

    async def change_settings(
        self, caller: Principal, agent: str, changes: Mapping[str, Any]
    ) -> Agent:
        """Replace the given parts; only this response contains the secrets of new webhooks."""
        await self._check_webhooks(changes)
        # Waits until agents of just acknowledged traces are registered.
        await self._agents.get(caller, agent)
        async with self._catalog.write() as tx:
            found = await require_agent(tx, caller.workspace_id, agent)
            settings = _merge(found.alert_settings, changes)
            check_rules(settings.rules)
            await stored_agents.change_agent(
                tx,
                caller.workspace_id,
                found.id,
                {"alert_settings": settings.model_dump(mode="json", by_alias=False)},
                utc_now(),
            )
        changed = await self._agents.get(caller, found.id)
        return changed.model_copy(update={"alert_settings": settings})

    async def _check_webhooks(self, changes: Mapping[str, Any]) -> None:
        problems = []
        for number, webhook in enumerate((changes.get("notify") or {}).get("webhooks") or []):
            if problem := await self._guard.find_problem(webhook["url"]):
                field = f"notify.webhooks.{number}.url"
                problems.append(FieldProblem(field=field, message=problem))
        _raise_if_any(problems)


def _merge(old: AlertSettings, changes: Mapping[str, Any]) -> AlertSettings:
    settings = {**old.model_dump(by_alias=False), **changes}
    notify = {**old.notify.model_dump(by_alias=False), **(changes.get("notify") or {})}
    known = {webhook.url: webhook.secret for webhook in old.notify.webhooks}
    urls = dict.fromkeys(webhook["url"] for webhook in notify["webhooks"])
    notify["webhooks"] = [
        NotifyWebhook(url=url, secret=known.get(url) or new_webhook_secret()) for url in urls
    ]
    settings["notify"] = notify
    settings["rules"] = [{**rule, "id": rule["id"] or new_id("rul")} for rule in settings["rules"]]
    return AlertSettings.model_validate(settings)


def new_webhook_secret() -> str:
    """Return a signing secret in the format of Standard Webhooks."""
    return "whsec_" + b64encode(secrets.token_bytes(24)).decode()


def check_rules(rules: Sequence[AlertRule]) -> None:
    """Raise Invalid for incomplete or contradictory rules, naming rule and field."""
    problems = []
    seen: set[str] = set()
    for number, rule in enumerate(rules):
        prefix = f"rule {rule.name!r}: " if rule.name else ""
        for field, message in _problems_of(rule):
            problems.append(FieldProblem(field=f"rules.{number}.{field}", message=prefix + message))
        if rule.id is not None and rule.id in seen:
            problems.append(
                FieldProblem(
                    field=f"rules.{number}.id", message=f"{prefix}another rule has this id"
                )
            )
        seen.add(rule.id or "")
    _raise_if_any(problems)


def _problems_of(rule: AlertRule) -> list[tuple[str, str]]:
    problems = []
    is_anomaly = rule.condition is Condition.ANOMALY
    if is_anomaly and rule.threshold is not None:
        problems.append(("threshold", "must be empty for the condition anomaly; it is learned"))
    if not is_anomaly and rule.threshold is None:
        problems.append(("threshold", f"is required when the condition is {rule.condition}"))
    if not is_anomaly and rule.sensitivity is not None:
        problems.append(("sensitivity", "is allowed only when the condition is anomaly"))
    if is_anomaly and rule.window_minutes > MAX_ANOMALY_MINUTES:
        problems.append(
            (
                "windowMinutes",
                f"must be at most {MAX_ANOMALY_MINUTES} when the condition is anomaly",
            )
        )
    if (rule.metric is AlertMetric.SIGNAL) != (rule.signal_name is not None):
        wanted = "is required" if rule.signal_name is None else "is allowed only"
        problems.append(("signalName", f"{wanted} when the metric is signal"))
    threshold = rule.threshold
    if threshold is not None:
        if rule.metric is AlertMetric.ERROR_RATE and not 0 <= threshold <= 1:
            problems.append(("threshold", "an error rate must be between 0 and 1"))
        elif rule.metric is not AlertMetric.SIGNAL and threshold < 0:
            problems.append(("threshold", "must not be negative"))
    return problems


def _raise_if_any(problems: Sequence[FieldProblem]) -> None:
    if problems:
        raise Invalid(f"{problems[0].field}: {problems[0].message}", problems)


async def _require(tx: Transaction, caller: Principal, alert_id: str) -> Alert:
    alert = await stored.find_alert(tx, caller.workspace_id, alert_id)
    if alert is None:
        raise NotFound("no such alert")
    return alert


async def _record(
    tx: Transaction, caller: Principal, event: EventType, alert: Alert, at: datetime
) -> None:
    await record_event(
        tx,
        caller.workspace_id,
        event,
        actor=caller.caller_id,
        subject=alert.id,
        at=at,
        alert=alert.model_dump(mode="json", by_alias=True),
    )
