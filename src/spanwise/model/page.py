"""Pagination: the requested page and the returned one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from spanwise.model.api_model import ApiModel

T = TypeVar("T")

# Longer than any list, and the largest offset that every store accepts.
MAX_SKIP = 2**31 - 1


@dataclass(frozen=True)
class PageRequest:
    limit: int = 50
    skip: int = 0


@dataclass(frozen=True)
class Listing(Generic[T]):
    """The items of one page, with the total number of items."""

    items: Sequence[T]
    total: int


class Pagination(ApiModel):
    """Position of a page in its list."""

    total: int
    limit: int
    skip: int
    has_more: bool

    @classmethod
    def describe(cls, request: PageRequest, listing: Listing[T]) -> "Pagination":
        return cls(
            total=listing.total,
            limit=request.limit,
            skip=request.skip,
            has_more=request.skip + len(listing.items) < listing.total,
        )
