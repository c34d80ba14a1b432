"""Alert rules and receivers of notifications: those of agents, and those of the workspace."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from spanwise.model.accounts import Principal
from spanwise.model.agents import Agent
from spanwise.model.alerts import (
    ALL_AGENTS,
    MASK,
    Alert,
    AlertMetric,
    AlertMove,
    AlertRule,
    AlertSettings,
    AlertStatus,
    ChannelType,
    Condition,
    NotifyChannel,
    NotifyWebhook,
    RuleEntry,
    Severity,
)
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.errors import FieldProblem, Invalid
from spanwise.model.events import SERVICE, Channel, Delivery, OutboxMessage
from spanwise.model.page import Listing, PageRequest
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services.agents import Agents, require_agent
from spanwise.services.alerts.rule_checks import check_rules, raise_if_any
from spanwise.services.audit import record_action
from spanwise.services.notifications.alert_notifications import (
    TEST,
    Notification,
    new_channel_message,
    new_mail_message,
    new_webhook_message,
)
from spanwise.services.notifications.events import deduplication_key
from spanwise.services.notifications.webhook_guard import WebhookGuard
from spanwise.services.notifications.webhooks import new_webhook_secret
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import agents as stored_agents
from spanwise.storage.catalog.alerting import alert_settings as stored
from spanwise.storage.catalog.events import add_message, find_delivery

_CHANGED = "alert_rules.changed"


class AlertRules:
    def __init__(
        self,
        catalog: Catalog,
        agents: Agents,
        guard: WebhookGuard,
        attempt: Callable[[OutboxMessage], Awaitable[bool]],
    ) -> None:
        self._catalog = catalog
        self._agents = agents
        self._guard = guard
        self._attempt = attempt

    async def list(self, caller: Principal, page: PageRequest) -> Listing[RuleEntry]:
        """List the rules of the workspace and of all its agents."""
        async with self._catalog.read() as tx:
            entries = await stored.list_rules(tx, caller.workspace_id)
        return Listing(entries[page.skip : page.skip + page.limit], len(entries))

    async def get(self, caller: Principal) -> AlertSettings:
        """Return the settings of the workspace, without secrets."""
        async with self._catalog.read() as tx:
            settings = await stored.find_alert_settings(tx, caller.workspace_id, None)
        may_change = caller.may_write(WorkspaceRole.EDITOR)
        return settings.without_secrets(shortens_webhooks=not may_change)

    async def change(
        self, caller: Principal, changes: Mapping[str, Any], address: str | None
    ) -> AlertSettings:
        """Replace the given parts of the workspace's settings; returns new webhooks' secrets."""
        await self._check_urls(changes)
        workspace = caller.workspace_id
        async with self._catalog.write() as tx:
            settings = _merge(await stored.find_alert_settings(tx, workspace, None), changes)
            if "rules" in changes:
                check_rules(settings.rules)
            await stored.set_workspace_settings(tx, workspace, settings)
            await record_action(tx, caller, _CHANGED, workspace, address, rules=len(settings.rules))
        return settings.with_masked_channels()

    async def change_agent(
        self, caller: Principal, agent: str, changes: Mapping[str, Any], address: str | None
    ) -> Agent:
        """Replace the given parts; only this response contains the secrets of new webhooks."""
        await self._check_urls(changes)
        # Waits until agents of just acknowledged traces are registered.
        await self._agents.get(caller, agent)
        async with self._catalog.write() as tx:
            record = await require_agent(tx, caller.workspace_id, agent)
            settings = _merge(record.alert_settings, changes)
            if "rules" in changes:
                check_rules(settings.rules)
            await stored_agents.change_agent(
                tx,
                caller.workspace_id,
                record.id,
                {"alert_settings": settings.model_dump(mode="json", by_alias=False)},
                utc_now(),
            )
            await record_action(
                tx,
                caller,
                _CHANGED,
                record.id,
                address,
                name=record.name,
                rules=len(settings.rules),
            )
        changed = await self._agents.get(caller, record.id)
        return changed.model_copy(update={"alert_settings": settings.with_masked_channels()})

    async def _check_urls(self, changes: Mapping[str, Any]) -> None:
        problems = []
        notify = changes.get("notify") or {}
        for kind in ("webhooks", "channels"):
            for number, target in enumerate(notify.get(kind) or []):
                if problem := await self._find_problem(target):
                    field = f"notify.{kind}.{number}.url"
                    problems.append(FieldProblem(field=field, message=problem))
        raise_if_any(problems)

    async def _find_problem(self, target: Mapping[str, Any]) -> str | None:
        url: str | None = target.get("url")
        if url is None or _is_masked_chat(target):
            return None
        return await self._guard.find_problem(url)

    async def send_test(
        self, caller: Principal, agent: str | None, receiver: Mapping[str, Any]
    ) -> Delivery:
        """Send a test message to a receiver now, also to one that is not saved yet."""
        if problem := await self._find_problem(receiver):
            raise Invalid.field("url", problem)
        now = utc_now()
        async with self._catalog.write() as tx:
            agent_id = None
            if agent is not None:
                agent_id = (await require_agent(tx, caller.workspace_id, agent)).id
            settings = await stored.find_alert_settings(tx, caller.workspace_id, agent_id)
            item = Notification(caller.workspace_id, _sample_alert(now), TEST, settings.notify)
            message = _new_test_message(item, receiver, now)
            await add_message(tx, message, deduplication_key(message.delivery.id))
        await self._attempt(message)
        async with self._catalog.read() as tx:
            return await find_delivery(tx, message.delivery.id)


def _merge(old: AlertSettings, changes: Mapping[str, Any]) -> AlertSettings:
    settings = {**old.model_dump(by_alias=False), **changes}
    notify = {**old.notify.model_dump(by_alias=False), **(changes.get("notify") or {})}
    urls = dict.fromkeys(webhook["url"] for webhook in notify["webhooks"])
    notify["webhooks"] = [_merge_webhook(old.notify.webhooks, url) for url in urls]
    notify["channels"] = [_merge_channel(old.notify.channels, one) for one in notify["channels"]]
    problems = [(n, _find_missing(one)) for n, one in enumerate(notify["channels"])]
    raise_if_any(
        [
            FieldProblem(field=f"notify.channels.{number}.{problem[0]}", message=problem[1])
            for number, problem in problems
            if problem
        ]
    )
    settings["notify"] = notify
    settings["rules"] = [{**rule, "id": rule["id"] or new_id("rul")} for rule in settings["rules"]]
    return AlertSettings.model_validate(settings)


def _is_masked_chat(target: Mapping[str, Any]) -> bool:
    """Return whether the URL is what responses show of a chat's, whose URL is its secret."""
    return target.get("type") in {ChannelType.SLACK, ChannelType.TEAMS} and MASK in target["url"]


def _merge_channel(known: Sequence[NotifyChannel], change: Mapping[str, Any]) -> NotifyChannel:
    """Return a channel; a secret that is missing or masked is that of the known channel.

    Not when the address changes: the secret must not go to whom an editor chooses.
    """
    old = next(
        (one for one in known if one.id == change.get("id") and one.type == change["type"]), None
    )
    url, routing_key = change.get("url"), change.get("routing_key")
    if old is not None:
        url = old.url if url is None or _is_masked_chat(change) else url
        if url == old.url and (routing_key is None or MASK in routing_key):
            routing_key = old.routing_key
    return NotifyChannel(
        id=old.id if old else new_id("chn"),
        type=change["type"],
        url=url,
        routing_key=routing_key,
    )


def _new_test_message(
    item: Notification, receiver: Mapping[str, Any], now: datetime
) -> OutboxMessage:
    if receiver["type"] is Channel.MAIL:
        if receiver["email"] is None:
            raise Invalid.field("email", "is required for mail")
        return new_mail_message([item], receiver["email"], now)
    if receiver["type"] is Channel.WEBHOOK:
        if receiver["url"] is None:
            raise Invalid.field("url", "is required for webhook")
        return new_webhook_message(item, _merge_webhook(item.notify.webhooks, receiver["url"]), now)
    channel = _merge_channel(item.notify.channels, receiver)
    if missing := _find_missing(channel):
        raise Invalid.field(*missing)
    return new_channel_message(item, channel, now)


def _merge_webhook(known: Sequence[NotifyWebhook], url: str) -> NotifyWebhook:
    """Return a webhook; one that is not known gets a new secret."""
    secret = next((one.secret for one in known if one.url == url), None)
    return NotifyWebhook(url=url, secret=secret or new_webhook_secret())


def _find_missing(channel: NotifyChannel) -> tuple[str, str] | None:
    """Return the field that a channel needs, and what is wrong with it."""
    if channel.secret and MASK not in channel.secret:
        return None
    if channel.type is ChannelType.PAGERDUTY:
        return "routingKey", "is required for pagerduty, also when the url changes"
    return "url", f"is required for {channel.type}"


def _sample_alert(now: datetime) -> Alert:
    rule = AlertRule(
        id="test", metric=AlertMetric.ERROR_RATE, condition=Condition.ABOVE, threshold=0.1
    )
    move = AlertMove(at=now, from_=None, to=AlertStatus.ACTIVE, by=SERVICE, note=None)
    return Alert(
        id="alr_test",
        agent_id=None,
        agent_name=ALL_AGENTS,
        rule_id="test",
        metric=AlertMetric.ERROR_RATE,
        measure=None,
        condition=Condition.ABOVE,
        severity=Severity.INFO,
        status=AlertStatus.ACTIVE,
        title="Notifications of Spanwise arrive here",
        description="A test message. Nothing is wrong.",
        value=0.125,
        threshold=0.1,
        baseline=None,
        window_start=now,
        window_end=now,
        triggered_at=now,
        acknowledged_at=None,
        acknowledged_by=None,
        reopened_at=None,
        resolved_at=None,
        occurrences=1,
        example_trace_ids=[],
        failure_id=None,
        rule=rule,
        history=[move],
    )
