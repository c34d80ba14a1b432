"""Analytics queries: measures of traces or spans, in groups and over time."""

from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from spanwise.model.api_model import ApiModel
from spanwise.model.errors import Invalid
from spanwise.model.measures import MEASURES, SIGNAL, measure_named
from spanwise.model.telemetry.filters import ATTRIBUTE_PATTERN, DIMENSIONS, Conditions, Order
from spanwise.model.times import Granularity, TimeRange

MAX_MEASURES = 20
MAX_DIMENSIONS = 3
DEFAULT_LIMIT = 100
MAX_LIMIT = 1000
# Groups times buckets per response.
MAX_ROWS = 10_000

_SIGNAL_PATTERN = rf"{SIGNAL}[^\x00-\x1f]{{1,128}}"
Measure = Annotated[str, StringConstraints(pattern=f"^({'|'.join((*MEASURES, _SIGNAL_PATTERN))})$")]
Dimension = Annotated[
    str, StringConstraints(pattern=f"^({'|'.join((*DIMENSIONS, ATTRIBUTE_PATTERN))})$")
]
Date = Annotated[
    str,
    StringConstraints(max_length=40),
    Field(json_schema_extra={"examples": ["2026-01-31", "2026-01-31T12:00:00Z"]}),
]


def _reject_duplicates(names: list[str]) -> list[str]:
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise ValueError(f"{duplicates[0]} is named more than once")
    return names


class Entity(StrEnum):
    TRACES = "traces"
    SPANS = "spans"


def wrong_entity(measure: str, of: Entity) -> Entity | None:
    """Return which entity has a measure, when the given one does not."""
    known = measure_named(measure)
    if of is Entity.SPANS:
        return None if known.of_spans else Entity.TRACES
    return None if known.of_traces else Entity.SPANS


class QueryOrder(ApiModel):
    """`field` is a measure or a dimension of the query."""

    field: Measure | Dimension
    order: Order = Order.DESC


class AnalyticsQuery(ApiModel):
    """Without `groupBy` there is one group; without `granularity` one row per group.

    `limit` is a number of groups, the first in `orderBy`: by default the largest first measure.
    """

    measures: Annotated[
        list[Measure],
        Field(min_length=1, max_length=MAX_MEASURES),
        AfterValidator(_reject_duplicates),
    ]
    of: Entity = Entity.TRACES
    group_by: Annotated[
        list[Dimension], Field(max_length=MAX_DIMENSIONS), AfterValidator(_reject_duplicates)
    ] = Field(default_factory=list)
    granularity: Granularity | None = None
    start_date: Date | None = None
    end_date: Date | None = None
    filters: Conditions = Field(default_factory=list)
    order_by: QueryOrder | None = None
    limit: Annotated[int, Field(strict=True, ge=1, le=2**31 - 1)] = DEFAULT_LIMIT

    @model_validator(mode="after")
    def _check(self) -> Self:
        for name in self.measures:
            if (entity := wrong_entity(name, self.of)) is not None:
                raise ValueError(f"{name} is a measure of {entity}")
        if self.order_by and self.order_by.field not in (*self.measures, *self.group_by):
            raise ValueError("orderBy must name a measure or a dimension of the query")
        try:
            _ = self.period
        except Invalid as error:
            raise ValueError(error.message) from None
        return self

    @property
    def period(self) -> TimeRange:
        return TimeRange.parse(self.start_date, self.end_date)

    @property
    def order(self) -> QueryOrder:
        return self.order_by or QueryOrder(field=self.measures[0])


class QueryResult(ApiModel):
    """A row has its `date` if the query has a granularity, its dimensions and its measures.

    `totals` has a row for each group over the whole period if the query has a granularity: rates,
    percentiles and distinct users of steps cannot be added up. `total` is the number of groups;
    `truncated` says that some are not in `rows`. `others` has their sums for each bucket, if the
    query has a granularity, of the measures that add up; it is empty where a trace may be in
    several groups. Percentiles of traces may be within 0.5 % of the exact value; all other figures
    are exact.
    """

    rows: list[dict[str, Any]]
    totals: list[dict[str, Any]]
    others: list[dict[str, Any]]
    truncated: bool
    total: int


class AttributeCount(ApiModel):
    """A key or a value of span attributes, and the number of spans that have it."""

    name: str
    count: int
