"""Queue of batches whose traces are aggregated a second time when several writers share a store.

Spans of one trace may arrive through two replicas at once. Each recomputes the trace, and the
result that was read first may be stored last. After half a minute all concurrent writes have
finished, and recomputing again gives the exact aggregates.
"""

import time
from collections import deque

SETTLED_SECONDS = 30.0
# The first range covers batches that an earlier process may not have reaggregated.
_BEFORE_START_SECONDS = 600
_MERGED_SECONDS = 5.0


class ReaggregationQueue:
    def __init__(self) -> None:
        now = time.time_ns()
        self._ranges: deque[tuple[float, int, int, bool]] = deque(
            [(time.monotonic(), now - _BEFORE_START_SECONDS * 10**9, now, True)]
        )

    def add(self, first_version: int, last_version: int, *, has_calls: bool = False) -> None:
        """Add a batch's version range; ranges of a few seconds are merged."""
        now = time.monotonic()
        if len(self._ranges) > 1 and now - self._ranges[-1][0] < _MERGED_SECONDS:
            added_at, first, last, had_calls = self._ranges.pop()
            has_calls |= had_calls
            first_version, last_version = min(first, first_version), max(last, last_version)
            now = added_at
        self._ranges.append((now, first_version, last_version, has_calls))

    def take_settled(self, seconds: float) -> list[tuple[int, int, bool]]:
        """Remove and return ranges at least this old, each with whether it has calls."""
        latest = time.monotonic() - seconds - (_MERGED_SECONDS if seconds else 0)
        settled = []
        while self._ranges and self._ranges[0][0] <= latest:
            _, first, last, has_calls = self._ranges.popleft()
            settled.append((first, last, has_calls))
        return settled
