"""Request bodies of the routes for views and dashboards."""

from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, Field, StrictBool, StringConstraints, field_validator

from spanwise.api.requests.fields import Name
from spanwise.ingest.rest_bodies import JsonObject
from spanwise.model.api_model import ApiModel
from spanwise.model.dashboards.views import Panel

MAX_PANELS = 50
MAX_QUERY_BYTES = 20_000


def _check_size(query: dict[str, Any]) -> dict[str, Any]:
    text = orjson.dumps(query)
    if len(text) > MAX_QUERY_BYTES:
        raise ValueError(f"must not be larger than {MAX_QUERY_BYTES:,} bytes")
    # PostgreSQL cannot store a NUL in JSON.
    if b"\\u0000" in text:
        raise ValueError("must not contain a NUL character")
    return query


PageName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-zA-Z0-9/-]{0,99}$")]
ViewQuery = Annotated[JsonObject, AfterValidator(_check_size)]
Panels = Annotated[list[Panel], Field(max_length=MAX_PANELS)]


class NewView(ApiModel):
    name: Name
    page: PageName
    query: ViewQuery = Field(default_factory=dict)
    is_shared: StrictBool = False


class NewDashboard(ApiModel):
    name: Name
    panels: Panels = Field(default_factory=list)
    is_shared: StrictBool = False


class RecordChange(ApiModel):
    """Only the given fields change; none may be null."""

    name: Name | None = None
    is_shared: StrictBool | None = None

    @field_validator("*")
    @classmethod
    def _reject_null(cls, value: Any) -> Any:  # noqa: ANN401 -- runs for several types
        if value is None:
            raise ValueError("must not be null")
        return value

    def to_fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields_set}


class ViewChange(RecordChange):
    page: PageName | None = None
    query: ViewQuery | None = None


class DashboardChange(RecordChange):
    panels: Panels | None = None
