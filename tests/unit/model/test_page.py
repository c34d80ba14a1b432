"""Pagination metadata."""

import pytest

from spanwise.model.page import Listing, PageRequest, Pagination


@pytest.mark.parametrize(
    ("skip", "items", "total", "has_more"),
    [(0, 2, 5, True), (3, 2, 5, False), (4, 1, 5, False), (9, 0, 5, False), (0, 0, 0, False)],
)
def test_has_more_is_true_only_when_items_follow(
    skip: int, items: int, total: int, has_more: bool
) -> None:
    listing = Listing(["item"] * items, total)
    assert Pagination.describe(PageRequest(2, skip), listing).has_more is has_more


def test_a_page_is_described_by_the_documented_properties() -> None:
    described = Pagination.describe(PageRequest(2, 3), Listing(["a", "b"], 9))
    assert described.model_dump() == {"total": 9, "limit": 2, "skip": 3, "hasMore": True}
