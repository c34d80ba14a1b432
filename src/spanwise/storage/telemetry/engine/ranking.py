"""Finds the first rows in an order without deduplicating all others.

Narrow columns of every stored row are ranked, outdated rows too; then the current rows of the first
ones are read. Those up to the last ranked row are in their place, also if they were written in
between; the others may follow rows that were not ranked.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from spanwise.model.telemetry.filters import Order
from spanwise.storage.telemetry.engine.query import Rows

# Extra rows per page: some may be deleted or outdated.
SPARE_ROWS = 10
# Pages up to this row are found by ranking; later ones deduplicate all rows.
MAX_RANKED = 1000


def placed_rows(
    current: Rows,
    ranked: Rows,
    wanted: int,
    position: Callable[[Mapping[str, Any]], tuple[Any, ...]],
    order: Order,
) -> Rows | None:
    """Return the current rows that are in their place; None if they may not be the first `wanted`.

    `ranked` are the first stored rows, `SPARE_ROWS` more than wanted, if there are so many.
    """
    if len(ranked) < wanted + SPARE_ROWS:
        return current
    last = position(ranked[-1])
    is_before = operator.ge if order is Order.DESC else operator.le
    found = [row for row in current if is_before(position(row), last)]
    return found if len(found) >= wanted else None
