"""Alerts: list, acknowledge, reopen and comment."""

from collections.abc import Sequence
from datetime import datetime

from spanwise.model.accounts import Principal
from spanwise.model.alerts import (
    Alert,
    AlertFilter,
    AlertMove,
    AlertStatus,
    AlertSummary,
    find_silence_end,
)
from spanwise.model.api_model import Clock, utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.events import EventType
from spanwise.model.page import Listing, PageRequest
from spanwise.services.notifications.alert_notifications import Notification, enqueue_notifications
from spanwise.services.notifications.events import record_event
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog.alerting import alerts as stored
from spanwise.storage.catalog.alerting.alert_settings import find_alert_settings
from spanwise.storage.catalog.alerting.silences import find_active_silences

MAX_HISTORY = 1000


async def count_active_alerts(catalog: Catalog, workspace_id: str, agent: str | None = None) -> int:
    """Count the alerts of a workspace, or of one agent, that are active now."""
    async with catalog.read() as tx:
        return await stored.count_active(tx, workspace_id, agent)


class Alerts:
    def __init__(self, catalog: Catalog, clock: Clock = utc_now) -> None:
        self._catalog = catalog
        self._clock = clock

    async def list(
        self, caller: Principal, filters: AlertFilter, page: PageRequest
    ) -> Listing[Alert]:
        async with self._catalog.read() as tx:
            listing = await stored.list_alerts(tx, caller.workspace_id, filters, page)
            return Listing(await self._mark_silenced(tx, caller, listing.items), listing.total)

    async def summarize(self, caller: Principal, filters: AlertFilter) -> AlertSummary:
        async with self._catalog.read() as tx:
            return await stored.summarize_alerts(tx, caller.workspace_id, filters)

    async def get(self, caller: Principal, alert_id: str) -> Alert:
        async with self._catalog.read() as tx:
            alerts = [await require_alert(tx, caller, alert_id)]
            return (await self._mark_silenced(tx, caller, alerts))[0]

    async def acknowledge(self, caller: Principal, alert_id: str, note: str | None) -> Alert:
        """Mark an active alert as acknowledged. Does nothing if it already is."""
        now = self._clock()
        async with self._catalog.write() as tx:
            alert = await require_alert(tx, caller, alert_id)
            if alert.status is AlertStatus.RESOLVED:
                raise Invalid("the alert is resolved; only an active one can be acknowledged")
            move = AlertMove(
                at=now,
                from_=AlertStatus.ACTIVE,
                to=AlertStatus.ACKNOWLEDGED,
                by=caller.caller_id,
                note=note,
            )
            moved = await stored.change_status(
                tx,
                caller.workspace_id,
                alert_id,
                move,
                from_=[AlertStatus.ACTIVE],
                acknowledged_at=now,
                acknowledged_by=caller.caller_id,
            )
            alert = await require_alert(tx, caller, alert_id)
            if moved:
                await _record(tx, caller, EventType.ALERT_ACKNOWLEDGED, alert, now)
        return alert

    async def reopen(self, caller: Principal, alert_id: str, note: str | None) -> Alert:
        """Make an alert active again. Does nothing if it already is."""
        now = self._clock()
        async with self._catalog.write() as tx:
            alert = await require_alert(tx, caller, alert_id)
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
            await stored.delete_rule_states(tx, [stored.rule_key(caller.workspace_id, alert)])
            alert = await require_alert(tx, caller, alert_id)
            await _record(tx, caller, EventType.ALERT_REOPENED, alert, now)
            settings = await find_alert_settings(tx, caller.workspace_id, alert.agent_id)
            notification = Notification(
                caller.workspace_id, alert, EventType.ALERT_REOPENED, settings.notify
            )
            await enqueue_notifications(tx, [notification], now)
        return alert

    async def comment(self, caller: Principal, alert_id: str, text: str) -> Alert:
        """Add a comment to the history of an alert."""
        async with self._catalog.write() as tx:
            alert = await require_alert(tx, caller, alert_id)
            if await stored.count_status_changes(tx, alert_id) >= MAX_HISTORY:
                raise Invalid(f"the history of an alert has at most {MAX_HISTORY:,} entries")
            move = AlertMove(
                at=self._clock(),
                from_=alert.status,
                to=alert.status,
                by=caller.caller_id,
                note=text,
            )
            await stored.add_status_change(tx, alert_id, move)
            alerts = [await require_alert(tx, caller, alert_id)]
            return (await self._mark_silenced(tx, caller, alerts))[0]

    async def _mark_silenced(
        self, tx: Transaction, caller: Principal, alerts: Sequence[Alert]
    ) -> Sequence[Alert]:
        """Set until when open alerts are muted."""
        workspace = caller.workspace_id
        active = (await find_active_silences(tx, [workspace], self._clock())).get(workspace, [])
        return [
            alert
            if alert.status is AlertStatus.RESOLVED
            else alert.model_copy(update={"silenced_until": find_silence_end(alert, active)})
            for alert in alerts
        ]


async def require_alert(tx: Transaction, caller: Principal, alert_id: str) -> Alert:
    alert = await stored.find_alert(tx, caller.workspace_id, alert_id)
    if alert is None:
        raise NotFound("alert not found")
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
