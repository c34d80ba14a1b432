"""Queue of batches whose traces are aggregated a second time when several writers share a store.

Spans of one trace may arrive through two replicas at once. Each recomputes the trace, and the
result that was read first may be stored last. After half a minute all concurrent writes have
finished, and recomputing again gives the exact aggregates.
"""

import time
from collections import deque

from spanwise.storage.telemetry.spans.batch_rows import BatchRows

SETTLED_SECONDS = 30.0
# The first entry covers batches that an earlier process may not have reaggregated.
_BEFORE_START_SECONDS = 600
_JOINED_SECONDS = 5.0


class ReaggregationQueue:
    def __init__(self) -> None:
        now = time.time_ns()
        before = BatchRows(now - _BEFORE_START_SECONDS * 10**9, now)
        self._batches: deque[tuple[float, BatchRows, bool]] = deque(
            [(time.monotonic(), before, True)]
        )

    def add(self, rows: BatchRows, *, has_calls: bool = False) -> None:
        """Add a batch; batches of a few seconds are joined."""
        now = time.monotonic()
        if len(self._batches) > 1 and now - self._batches[-1][0] < _JOINED_SECONDS:
            now, earlier, had_calls = self._batches.pop()
            has_calls |= had_calls
            rows = earlier.join(rows)
        self._batches.append((now, rows, has_calls))

    def take_settled(self, seconds: float) -> list[tuple[BatchRows, bool]]:
        """Remove and return batches at least this old, each with whether it has calls."""
        latest = time.monotonic() - seconds - (_JOINED_SECONDS if seconds else 0)
        settled = []
        while self._batches and self._batches[0][0] <= latest:
            _, rows, has_calls = self._batches.popleft()
            settled.append((rows, has_calls))
        return settled
