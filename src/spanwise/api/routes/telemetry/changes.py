"""Route for changes: what differs between two periods, releases, models or other groups."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Depends, Query

from spanwise.api.auth import Reader
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Success, succeed
from spanwise.api.requests.parameters import DATE, Filtered
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseTelemetry
from spanwise.model.analytics import DEFAULT_DAYS, Question
from spanwise.model.api_model import utc_now
from spanwise.model.dashboards.changes import Changes, ChangesQuery, SideQuery
from spanwise.model.dashboards.queries import Dimension
from spanwise.model.errors import Invalid
from spanwise.model.telemetry.filters import FilterCondition, TraceFilter
from spanwise.model.times import BoundedRange, TimeRange

router = PrefixRouter("analytics", "/analytics/changes")

_VALUE: dict[str, Any] = {"min_length": 1, "max_length": 512, "pattern": r"^[^\x00]*$"}


async def _query(
    filters: Filtered,
    dimension: Annotated[
        Dimension | None, Query(description="Compare two values of it; without it, two periods.")
    ] = None,
    baseline: Annotated[str | None, Query(**_VALUE)] = None,
    candidate: Annotated[str | None, Query(**_VALUE)] = None,
    baseline_start: Annotated[
        str | None,
        Query(
            alias="baselineStart",
            description="Start of the baseline; by default, the period before the other one.",
            json_schema_extra=DATE,
        ),
    ] = None,
    baseline_end: Annotated[str | None, Query(alias="baselineEnd", json_schema_extra=DATE)] = None,
) -> ChangesQuery:
    for name, value in (("baseline", baseline), ("candidate", candidate)):
        if (dimension is None) != (value is None):
            problem = "needs a dimension" if value else "is needed to compare two values"
            raise Invalid.field(name, problem)
    period = filters.period.or_last_days(DEFAULT_DAYS, utc_now())
    earlier = TimeRange.parse(baseline_start, baseline_end, "baselineStart", "baselineEnd")
    if earlier != TimeRange():
        length = period.end - period.start
        before = earlier.or_last_days(max(1, length.days), period.start)
    elif dimension is None:
        before = Question(period, filters).before().period
    else:
        before = period
    return ChangesQuery(
        dimension,
        _side(filters, before, dimension, baseline),
        _side(filters, period, dimension, candidate),
    )


def _side(
    filters: TraceFilter, period: BoundedRange, dimension: str | None, value: str | None
) -> SideQuery:
    own = () if dimension is None else (FilterCondition(field=dimension, value=value),)
    return SideQuery(value, period, replace(filters, conditions=(*filters.conditions, *own)))


@router.get("")
async def get_changes(
    caller: Reader,
    telemetry: UseTelemetry,
    query: Annotated[ChangesQuery, Depends(_query)],
    _fresh: Fresh,
) -> Success[Changes]:
    """Compare two periods, releases, models or other groups of traces, with intervals."""
    return succeed(await telemetry.changes.find(caller.workspace_id, query))
