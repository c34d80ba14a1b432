"""Routes for alerts raised by the rules of agents and workspaces."""

from typing import Annotated

from fastapi import Depends, Path, Query
from pydantic import AfterValidator, Field, StringConstraints

from spanwise.api.auth import Reader, Writer
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Paged, Period
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseAlerting
from spanwise.model.alerts import (
    Alert,
    AlertFilter,
    AlertStatus,
    AlertSummary,
    Backtest,
    Severity,
)
from spanwise.model.api_model import ApiModel, without_nul

router = PrefixRouter("alerts", "/spans/alerts")

AlertId = Annotated[str, Path(alias="alertId")]


class AlertNote(ApiModel):
    """A note on a change of status."""

    note: Annotated[str, Field(max_length=2000), AfterValidator(without_nul)] | None = None


class AlertComment(ApiModel):
    text: Annotated[
        str,
        StringConstraints(min_length=1, max_length=2000, strip_whitespace=True),
        AfterValidator(without_nul),
    ]


async def _alert_filter(
    period: Period,
    status: AlertStatus | None = None,
    severity: Severity | None = None,
    agent_id: Annotated[str | None, Query(alias="agentId", description="Id or name.")] = None,
) -> AlertFilter:
    return AlertFilter(period.start, period.end, status, severity, agent_id)


Filtered = Annotated[AlertFilter, Depends(_alert_filter)]


@router.get("")
async def list_alerts(
    caller: Reader, alerting: UseAlerting, page: Paged, filters: Filtered
) -> SuccessPage[Alert]:
    """List alerts, newest first; the period refers to when they were triggered."""
    return succeed_page(page, await alerting.alerts.list(caller, filters, page))


@router.get("/summary")
async def summarize_alerts(
    caller: Reader, alerting: UseAlerting, filters: Filtered
) -> Success[AlertSummary]:
    """Count alerts by status, severity and agent."""
    return succeed(await alerting.alerts.summarize(caller, filters))


@router.get("/{alertId}")
async def get_alert(alert_id: AlertId, caller: Reader, alerting: UseAlerting) -> Success[Alert]:
    return succeed(await alerting.alerts.get(caller, alert_id))


@router.get("/{alertId}/backtest")
async def backtest_alert(
    alert_id: AlertId, caller: Reader, alerting: UseAlerting, _fresh: Fresh
) -> Success[Backtest]:
    """Replay the alert's rule from a day before to a day after the alert, for at most 14 days."""
    return succeed(await alerting.backtests.run_around_alert(caller, alert_id))


@router.put("/{alertId}/acknowledge")
async def acknowledge_alert(
    alert_id: AlertId, caller: Writer, alerting: UseAlerting, body: AlertNote | None = None
) -> Success[Alert]:
    """Acknowledge an active alert."""
    note = body.note if body else None
    return succeed(await alerting.alerts.acknowledge(caller, alert_id, note))


@router.put("/{alertId}/reopen")
async def reopen_alert(
    alert_id: AlertId, caller: Writer, alerting: UseAlerting, body: AlertNote | None = None
) -> Success[Alert]:
    """Reopen an alert. It resolves when a new breach clears, or after 15 minutes without one."""
    return succeed(await alerting.alerts.reopen(caller, alert_id, body.note if body else None))


@router.post("/{alertId}/comments", status_code=201)
async def comment_alert(
    alert_id: AlertId, body: AlertComment, caller: Writer, alerting: UseAlerting
) -> Success[Alert]:
    """Add a comment to the history of an alert: an entry that does not change the status."""
    return succeed(await alerting.alerts.comment(caller, alert_id, body.text))
