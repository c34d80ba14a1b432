"""Queue of batches whose traces are aggregated a second time when several writers share a store.

Spans of one trace may arrive through two replicas at once. Each recomputes the trace, and the
result that was read first may be stored last. After half a minute all concurrent writes have
finished, and recomputing again gives the exact aggregates.
"""

import time
from collections import deque

from spanwise.storage.telemetry.rows.batch_rows import BatchRows

SETTLED_SECONDS = 30.0
# The first entries cover batches that an earlier process may not have reaggregated, a few seconds
# each, because their traces are held in memory.
_BEFORE_START_SECONDS = 600
_JOINED_SECONDS = 5.0


class ReaggregationQueue:
    def __init__(self) -> None:
        now, step = time.time_ns(), int(_JOINED_SECONDS * 10**9)
        self._batches: deque[tuple[float, BatchRows, bool]] = deque(
            (time.monotonic(), BatchRows(first, first + step - 1), True)
            for first in range(now - _BEFORE_START_SECONDS * 10**9, now, step)
        )
        self._may_join = False

    def add(self, rows: BatchRows, *, has_calls: bool = False) -> None:
        """Add a batch; batches of a few seconds are joined."""
        now = time.monotonic()
        if self._may_join and self._batches and now - self._batches[-1][0] < _JOINED_SECONDS:
            now, earlier, had_calls = self._batches.pop()
            has_calls |= had_calls
            rows = earlier.join(rows)
        self._batches.append((now, rows, has_calls))
        self._may_join = True

    def take_settled(self, seconds: float) -> list[tuple[BatchRows, bool]]:
        """Remove and return batches at least this old, each with whether it has calls."""
        latest = time.monotonic() - seconds - (_JOINED_SECONDS if seconds else 0)
        settled = []
        while self._batches and self._batches[0][0] <= latest:
            _, rows, has_calls = self._batches.popleft()
            settled.append((rows, has_calls))
        return settled
