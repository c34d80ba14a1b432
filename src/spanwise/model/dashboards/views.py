"""Saved views and dashboards, which a person keeps for themselves or shares with a workspace."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field

from spanwise.model.api_model import ApiModel, UtcTime
from spanwise.model.dashboards.queries import AnalyticsQuery

# Per workspace, of each kind.
MAX_RECORDS = 1000


class SharedRecord(ApiModel):
    """Visible to its owner or, if shared, to all members of the workspace."""

    id: str
    name: str
    is_shared: bool
    owner_id: str
    created_at: UtcTime
    updated_at: UtcTime


class View(SharedRecord):
    """A page of the dashboard with its filters; `query` holds the parameters of its URL."""

    page: str
    query: dict[str, Any]


class Chart(StrEnum):
    LINE = "line"
    BAR = "bar"
    AREA = "area"
    NUMBER = "number"
    TABLE = "table"


class Panel(ApiModel):
    """`width` and `height` are cells of a grid with twelve columns.

    A query without dates covers the time range of the dashboard.
    """

    title: Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
    chart: Chart = Chart.LINE
    query: AnalyticsQuery
    width: Annotated[int, Field(strict=True, ge=1, le=12)] = 6
    height: Annotated[int, Field(strict=True, ge=1, le=24)] = 4


class Dashboard(SharedRecord):
    panels: list[Panel]
