"""Routes for agents. In a path, `agentId` is an agent's id or its exact name."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import AfterValidator, Field, StringConstraints

from spanwise.api.auth import ClientAddress, Reader, Writer
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.alert_settings import AlertSettingsChange, Receiver
from spanwise.api.requests.parameters import Paged
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseAlerting, UseTelemetry
from spanwise.model.agents import MAX_NAME, Agent
from spanwise.model.alerts import Backtest
from spanwise.model.api_model import ApiModel, without_nul
from spanwise.model.events import Delivery

router = PrefixRouter("agents", "/agents")

AgentName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_NAME, strip_whitespace=True),
    AfterValidator(without_nul),
]
Description = Annotated[str, Field(max_length=4000), AfterValidator(without_nul)]
Tag = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, strip_whitespace=True),
    AfterValidator(without_nul),
]
Tags = Annotated[list[Tag], Field(max_length=50)]


AgentId = Annotated[str, Path(alias="agentId", description="An agent's id or exact name.")]


class NewAgent(ApiModel):
    name: AgentName
    description: Description | None = None
    tags: Tags = Field(default=[])
    metadata: dict[str, Any] = Field(default={})


class AgentChange(ApiModel):
    name: AgentName = ""
    description: Description | None = None
    tags: Tags = Field(default=[])
    metadata: dict[str, Any] = Field(default={})


@router.get("")
async def list_agents(
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
    _fresh: Fresh,
    search: Annotated[
        str | None, Query(max_length=MAX_NAME, description="Part of the name.")
    ] = None,
) -> SuccessPage[Agent]:
    """List agents, newest first."""
    return succeed_page(page, await telemetry.agents.list(caller, search, page))


@router.post("", status_code=201)
async def create_agent(body: NewAgent, caller: Writer, telemetry: UseTelemetry) -> Success[Agent]:
    """Create an agent before its first trace arrives."""
    return succeed(await telemetry.agents.create(caller, body.model_dump(by_alias=False)))


@router.get("/{agentId}")
async def get_agent(
    agent_id: AgentId, caller: Reader, telemetry: UseTelemetry, _fresh: Fresh
) -> Success[Agent]:
    return succeed(await telemetry.agents.get(caller, agent_id))


@router.put("/{agentId}")
async def change_agent(
    agent_id: AgentId,
    body: AgentChange,
    caller: Writer,
    telemetry: UseTelemetry,
) -> Success[Agent]:
    """Change the given fields. Traces, including old ones, are matched by name."""
    changes = body.model_dump(by_alias=False, exclude_unset=True)
    return succeed(await telemetry.agents.change(caller, agent_id, changes))


@router.delete("/{agentId}")
async def delete_agent(
    agent_id: AgentId, caller: Writer, telemetry: UseTelemetry, address: ClientAddress
) -> Success[Deleted]:
    """Delete an agent. Its telemetry stays, and a later trace creates it again."""
    return succeed(Deleted(id=await telemetry.agents.delete(caller, agent_id, address)))


@router.put("/{agentId}/alerts")
async def change_alert_settings(
    agent_id: AgentId,
    body: AlertSettingsChange,
    caller: Writer,
    alerting: UseAlerting,
    address: ClientAddress,
    _fresh: Fresh,
) -> Success[Agent]:
    """Change the alert rules and who is notified. Only this response has webhook secrets."""
    changed = await alerting.alert_rules.change_agent(caller, agent_id, body.to_changes(), address)
    return succeed(changed)


@router.post("/{agentId}/alerts/backtest")
async def backtest_alert_settings(
    agent_id: AgentId,
    body: AlertSettingsChange,
    caller: Reader,
    alerting: UseAlerting,
    _fresh: Fresh,
) -> Success[Backtest]:
    """Compute when each rule would have fired in the last 14 days."""
    return succeed(await alerting.backtests.run(caller, agent_id, body.given_rules))


@router.post("/{agentId}/alerts/test")
async def send_agent_test(
    agent_id: AgentId, body: Receiver, caller: Writer, alerting: UseAlerting
) -> Success[Delivery]:
    """Send a test notification now and return what the other side answered."""
    receiver = body.model_dump(by_alias=False)
    return succeed(await alerting.alert_rules.send_test(caller, agent_id, receiver))
