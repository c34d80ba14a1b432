"""Routes for OTLP metrics: their names, and queries about their data points."""

from typing import Annotated

from fastapi import Depends, Query
from pydantic import AfterValidator, Field, StringConstraints

from spanwise.api.auth import Reader
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Period, Text
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseTelemetry
from spanwise.model.api_model import ApiModel, utc_now, without_nul
from spanwise.model.page import MAX_SKIP, PageRequest
from spanwise.model.telemetry.filters import ATTRIBUTE, PointConditions
from spanwise.model.telemetry.metrics import (
    MAX_GROUP_KEYS,
    MAX_METRIC_NAME,
    Aggregation,
    MetricName,
    MetricQuery,
    MetricQueryResult,
)
from spanwise.model.times import Granularity, TimeRange

router = PrefixRouter("metrics", "/metrics")

DEFAULT_DAYS = 30
MAX_NAMES = 1000
MAX_GROUPS = 100

Key = Annotated[str, StringConstraints(min_length=1, max_length=255), AfterValidator(without_nul)]


class MetricQueryBody(ApiModel):
    """What to aggregate. Without `granularity` there is one value per group."""

    name: Annotated[
        str,
        StringConstraints(min_length=1, max_length=MAX_METRIC_NAME),
        AfterValidator(without_nul),
    ]
    aggregation: Aggregation
    group_by: Annotated[list[Key], Field(max_length=MAX_GROUP_KEYS)] = Field(default_factory=list)
    filters: PointConditions = Field(default_factory=list)
    granularity: Granularity | None = None
    start_date: str | None = None
    end_date: str | None = None
    limit: Annotated[int, Field(ge=1)] = 20

    def parse(self) -> MetricQuery:
        period = TimeRange.parse(self.start_date, self.end_date)
        keys = [key.removeprefix(ATTRIBUTE) for key in self.group_by]
        return MetricQuery(
            name=self.name,
            aggregation=self.aggregation,
            period=period.or_last_days(DEFAULT_DAYS, utc_now()),
            group_by=tuple(dict.fromkeys(keys)),
            filters=tuple(self.filters),
            granularity=self.granularity,
            limit=min(self.limit, MAX_GROUPS),
        )


async def _page(
    limit: Annotated[
        int, Query(ge=1, description="Page size; above 1000 it is lowered to 1000.")
    ] = 100,
    skip: Annotated[int, Query(ge=0, le=MAX_SKIP, description="Items to skip.")] = 0,
) -> PageRequest:
    return PageRequest(min(limit, MAX_NAMES), skip)


@router.get("/names")
async def list_metric_names(
    caller: Reader,
    telemetry: UseTelemetry,
    period: Period,
    _fresh: Fresh,
    page: Annotated[PageRequest, Depends(_page)],
    search: Annotated[Text, Query(description="Part of the name.")] = None,
) -> SuccessPage[MetricName]:
    """List metrics by name, with type, unit, number of series and the keys to group by."""
    listing = await telemetry.metrics.find_names(caller.workspace_id, period, search, page)
    return succeed_page(page, listing)


@router.post("/query")
async def query_metric(
    body: MetricQueryBody, caller: Reader, telemetry: UseTelemetry, _fresh: Fresh
) -> Success[MetricQueryResult]:
    """Aggregate a metric's data points by attributes and over time."""
    return succeed(await telemetry.metrics.query(caller.workspace_id, body.parse()))
