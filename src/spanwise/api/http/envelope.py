"""The envelope of every JSON response: `success` with `data` or `error`."""

from collections.abc import Mapping
from typing import Any, Generic, Literal, TypeVar

import orjson
from starlette.responses import Response

from spanwise.ingest.rest_bodies import MAX_PROBLEMS, Parsed
from spanwise.model.api_model import ApiModel
from spanwise.model.errors import Code, FieldProblem
from spanwise.model.page import Listing, PageRequest, Pagination

T = TypeVar("T")


class Success(ApiModel, Generic[T]):
    success: Literal[True] = True
    data: T


class SuccessPage(ApiModel, Generic[T]):
    success: Literal[True] = True
    data: list[T]
    pagination: Pagination


class Problem(ApiModel):
    message: str
    code: Code
    details: list[FieldProblem] | None = None


class Failure(ApiModel):
    success: Literal[False] = False
    error: Problem


class Deleted(ApiModel):
    id: str
    deleted: Literal[True] = True


class RejectedRow(ApiModel):
    """One row of a batch that was not stored."""

    index: int
    reason: str


class Accepted(ApiModel):
    """How many rows were stored; if some were not, how many, and why for the first 100."""

    accepted: int
    rejected: int | None = None
    details: list[RejectedRow] | None = None

    @classmethod
    def describe(cls, parsed: Parsed[Any]) -> "Accepted":
        if not parsed.rejections:
            return cls(accepted=len(parsed.items))
        return cls(
            accepted=len(parsed.items),
            rejected=len(parsed.rejections),
            details=[
                RejectedRow(index=row.index, reason=row.reason)
                for row in parsed.rejections[:MAX_PROBLEMS]
            ],
        )


class Done(ApiModel):
    """The response to an action without a result."""

    message: str


def succeed(data: T) -> Success[T]:
    return Success(data=data)


def success_response(data: Mapping[str, Any]) -> Response:
    """Build a success response without pydantic, which is slow for large data."""
    body = orjson.dumps({"success": True, "data": data}, option=orjson.OPT_UTC_Z)
    return Response(body, media_type="application/json")


def succeed_page(request: PageRequest, listing: Listing[T]) -> SuccessPage[T]:
    return SuccessPage(data=list(listing.items), pagination=Pagination.describe(request, listing))
