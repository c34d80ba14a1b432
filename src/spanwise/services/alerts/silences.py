"""Silences: mute the notifications of a rule, an agent or the workspace for a time."""

from datetime import timedelta

from spanwise.model.accounts import Principal
from spanwise.model.alerts import NewSilence, Silence
from spanwise.model.api_model import Clock, new_id, utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.page import Listing, PageRequest
from spanwise.services.agents import require_agent
from spanwise.services.audit import record_action
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.alerting import silences as stored
from spanwise.storage.catalog.alerting.alert_settings import find_alert_settings

MAX_ACTIVE = 500
LONGEST = timedelta(days=366)


class Silences:
    def __init__(self, catalog: Catalog, clock: Clock = utc_now) -> None:
        self._catalog = catalog
        self._clock = clock

    async def list(self, caller: Principal, page: PageRequest) -> Listing[Silence]:
        async with self._catalog.read() as tx:
            return await stored.list_silences(tx, caller.workspace_id, page)

    async def create(self, caller: Principal, new: NewSilence, address: str | None) -> Silence:
        """Mute notifications from now on."""
        now, workspace = self._clock(), caller.workspace_id
        if not now < new.ends_at <= now + LONGEST:
            raise Invalid.field("endsAt", f"must be in the next {LONGEST.days} days")
        async with self._catalog.write() as tx:
            agent_id = None
            if new.agent_id is not None:
                agent_id = (await require_agent(tx, workspace, new.agent_id)).id
            settings = await find_alert_settings(tx, workspace, agent_id)
            if new.rule_id not in {None, *(rule.id for rule in settings.rules)}:
                raise NotFound("rule not found")
            if await stored.count_active_silences(tx, workspace, now) >= MAX_ACTIVE:
                raise Invalid(f"there are already {MAX_ACTIVE} active silences; end one first")
            silence = Silence(
                id=new_id("sil"),
                agent_id=agent_id,
                rule_id=new.rule_id,
                reason=new.reason or None,
                created_by=caller.caller_id,
                starts_at=now,
                ends_at=new.ends_at,
            )
            await stored.add_silence(tx, workspace, silence)
            await record_action(
                tx,
                caller,
                "silence.created",
                silence.id,
                address,
                reason=silence.reason,
                until=silence.model_dump(mode="json")["endsAt"],
            )
        return silence

    async def end(self, caller: Principal, silence_id: str, address: str | None) -> None:
        """End a silence early; nothing changes if it is over."""
        async with self._catalog.write() as tx:
            if await stored.find_silence(tx, caller.workspace_id, silence_id) is None:
                raise NotFound("silence not found")
            await stored.end_silence(tx, caller.workspace_id, silence_id, self._clock())
            await record_action(tx, caller, "silence.ended", silence_id, address)
