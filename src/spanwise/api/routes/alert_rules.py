"""Routes for the rules of all agents, for those of the whole workspace, and for silences."""

from typing import Annotated

from fastapi import Path

from spanwise.api.auth import ClientAddress, Reader, Writer
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.alert_settings import AlertSettingsChange, Receiver
from spanwise.api.requests.parameters import Paged
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseAlerting
from spanwise.model.alerts import AlertSettings, Backtest, NewSilence, RuleEntry, Silence
from spanwise.model.events import Delivery

router = PrefixRouter("alerts", "/alerts")


@router.get("/rules")
async def list_alert_rules(
    caller: Reader, alerting: UseAlerting, page: Paged
) -> SuccessPage[RuleEntry]:
    """List all rules with their last alert: those of the workspace, then those of its agents."""
    return succeed_page(page, await alerting.alert_rules.list(caller, page))


@router.get("/settings")
async def get_workspace_alert_settings(
    caller: Reader, alerting: UseAlerting
) -> Success[AlertSettings]:
    """Return the rules that apply to all traces of the workspace, and who is notified."""
    return succeed(await alerting.alert_rules.get(caller))


@router.put("/settings")
async def change_workspace_alert_settings(
    body: AlertSettingsChange, caller: Writer, alerting: UseAlerting, address: ClientAddress
) -> Success[AlertSettings]:
    """Change the workspace's rules and who is notified. Only this response has webhook secrets."""
    return succeed(await alerting.alert_rules.change(caller, body.to_changes(), address))


@router.post("/backtest")
async def backtest_workspace_rules(
    body: AlertSettingsChange, caller: Reader, alerting: UseAlerting, _fresh: Fresh
) -> Success[Backtest]:
    """Compute when each rule of the workspace would have fired in the last 14 days."""
    return succeed(await alerting.backtests.run(caller, None, body.given_rules))


@router.post("/test")
async def send_workspace_test(
    body: Receiver, caller: Writer, alerting: UseAlerting
) -> Success[Delivery]:
    """Send a test notification now and return what the other side answered."""
    receiver = body.model_dump(by_alias=False)
    return succeed(await alerting.alert_rules.send_test(caller, None, receiver))


@router.get("/silences")
async def list_silences(caller: Reader, alerting: UseAlerting, page: Paged) -> SuccessPage[Silence]:
    """List silences, those that end last first."""
    return succeed_page(page, await alerting.silences.list(caller, page))


@router.post("/silences", status_code=201)
async def create_silence(
    body: NewSilence, caller: Writer, alerting: UseAlerting, address: ClientAddress
) -> Success[Silence]:
    """Mute notifications of a rule, an agent or the workspace. Alerts are still raised."""
    return succeed(await alerting.silences.create(caller, body, address))


@router.delete("/silences/{silenceId}")
async def end_silence(
    silence_id: Annotated[str, Path(alias="silenceId")],
    caller: Writer,
    alerting: UseAlerting,
    address: ClientAddress,
) -> Success[Deleted]:
    """End a silence early. It stays in the list."""
    await alerting.silences.end(caller, silence_id, address)
    return succeed(Deleted(id=silence_id))
