"""Routes for failures: groups of failed spans that fail the same way."""

from typing import Annotated, Literal

from fastapi import Path, Query

from spanwise.api.auth import ClientAddress, Reader, Writer
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import AgentId, Filters, Paged, Period, Text
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseTelemetry
from spanwise.model.api_model import ApiModel, utc_now
from spanwise.model.page import PageRequest
from spanwise.model.telemetry.failures import FailureGroup, FailureMark, FailureQuery, FailureStatus
from spanwise.model.telemetry.filters import parse_conditions

router = PrefixRouter("analytics", "/analytics/failures")

DEFAULT_DAYS = 30
FailureId = Annotated[str, Path(alias="failureId", max_length=40)]


class NewFailureStatus(ApiModel):
    """A failure regresses by itself."""

    status: Literal[FailureStatus.NEW, FailureStatus.KNOWN, FailureStatus.MUTED]


@router.get("")
async def list_failures(
    caller: Reader,
    telemetry: UseTelemetry,
    page: Paged,
    period: Period,
    _fresh: Fresh,
    agent_id: AgentId = None,
    environment: Text = None,
    status: Annotated[FailureStatus | None, Query()] = None,
    search: Annotated[Text, Query(description="Part of a title.")] = None,
    filters: Filters = None,
) -> SuccessPage[FailureGroup]:
    """List groups of failed spans, new and regressed ones first, then by their number.

    Conditions in `filters` are on the failed spans; session, experiment and variant are those of
    their traces.
    """
    query = FailureQuery(
        period.or_last_days(DEFAULT_DAYS, utc_now()),
        page,
        agent_id,
        environment,
        status,
        search,
        parse_conditions(filters),
    )
    return succeed_page(page, await telemetry.failures.find(caller.workspace_id, query))


@router.get("/{failureId}")
async def get_failure(
    failure_id: FailureId, caller: Reader, telemetry: UseTelemetry, period: Period, _fresh: Fresh
) -> Success[FailureGroup]:
    """Return one group of failed spans, as it is in the list."""
    query = FailureQuery(period.or_last_days(DEFAULT_DAYS, utc_now()), PageRequest(limit=1))
    return succeed(await telemetry.failures.get(caller.workspace_id, failure_id, query))


@router.put("/{failureId}")
async def mark_failure(
    failure_id: FailureId,
    body: NewFailureStatus,
    caller: Writer,
    telemetry: UseTelemetry,
    address: ClientAddress,
) -> Success[FailureMark]:
    """Mark a failure as known or muted, or remove the mark with `new`."""
    return succeed(await telemetry.failures.mark(caller, failure_id, body.status, address))
