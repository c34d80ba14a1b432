"""One page of a list: what was asked for, and what is given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from spanwise.model.record import Noun

T = TypeVar("T")

# Beyond this no list is long, and 64-bit engines still take it.
MAX_SKIP = 2**31 - 1


@dataclass(frozen=True)
class PageRequest:
    limit: int = 50
    skip: int = 0


@dataclass(frozen=True)
class Listing(Generic[T]):
    """The items of one page with the number of items in all."""

    items: Sequence[T]
    total: int


class Pagination(Noun):
    """Where a page stands in its list."""

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
