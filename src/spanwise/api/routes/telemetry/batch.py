"""Route for batches: many reads in one request, for pages that need them all."""

from typing import Annotated, Any
from urllib.parse import urlencode

import orjson
from fastapi import Depends, Request
from pydantic import Field
from starlette.responses import StreamingResponse

from spanwise.api.auth import Requires
from spanwise.api.freshness import Fresh
from spanwise.api.http.anonymous_limits import MAX_PARAMETERS
from spanwise.api.http.envelope import Failure, Success
from spanwise.api.http.paths import API_PREFIX
from spanwise.api.routes.telemetry.batch_parts import Part, answer_all
from spanwise.api.routing import PrefixRouter
from spanwise.model.accounts import Principal
from spanwise.model.api_model import ApiModel
from spanwise.model.errors import Invalid
from spanwise.model.keys import Scope

router = PrefixRouter("analytics", "/analytics/batch")

MAX_REQUESTS = 20

# Each request of the batch is authorized by itself: some need no role.
BatchReader = Annotated[Principal, Depends(Requires(Scope.READ))]


class BatchedRequest(ApiModel):
    """A read: with `body` it is sent as `POST`, else as `GET`."""

    path: Annotated[
        str,
        Field(
            max_length=2048,
            pattern=r"^/[^?#\x00]*$",
            description="As in a URL, such as `/analytics/metrics`; `/api` may precede it.",
        ),
    ]
    query: Annotated[
        dict[str, str | bool | int | float] | None,
        Field(max_length=MAX_PARAMETERS, description="The query parameters, not encoded."),
    ] = None
    body: dict[str, Any] | None = None

    def encode(self, index: int) -> Part:
        path = self.path if self.path.startswith(f"{API_PREFIX}/") else API_PREFIX + self.path
        texts = {name: _to_text(value) for name, value in (self.query or {}).items()}
        try:
            body = None if self.body is None else orjson.dumps(self.body)
        except orjson.JSONEncodeError:
            raise Invalid.field(f"requests.{index}.body", "is nested too deeply") from None
        return Part(path, urlencode(texts), body)


class Batch(ApiModel):
    requests: Annotated[list[BatchedRequest], Field(min_length=1, max_length=MAX_REQUESTS)]


class BatchedResponse(ApiModel):
    """What the request would have been answered alone."""

    status: int
    body: Success[Any] | Failure


def _to_text(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@router.post("", response_model=Success[list[BatchedResponse]])
async def read_batch(
    body: Batch, _caller: BatchReader, request: Request, _fresh: Fresh
) -> StreamingResponse:
    """Send up to 20 reads of the standard tier as one request; the answers are in their order."""
    parts = [one.encode(index) for index, one in enumerate(body.requests)]
    return StreamingResponse(answer_all(request, parts), media_type="application/json")
