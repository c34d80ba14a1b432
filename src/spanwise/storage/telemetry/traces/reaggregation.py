"""Remembers batches whose traces are added up a second time, once other writers are through.

Several replicas may write on one server, and spans of one trace may come through two of them at
the same moment: each adds the trace up, and the sum that was read first may be stored last. Half a
minute later nothing of that moment is under way any more, and adding up again is exact.
"""

import time
from collections import deque

SETTLED_SECONDS = 30.0
# What a process before this one may have left behind, on its first look.
_BEFORE_START_SECONDS = 600
_JOINED_SECONDS = 5.0


class SecondLook:
    def __init__(self) -> None:
        now = time.time_ns()
        self._ranges: deque[tuple[float, int, int, bool]] = deque(
            [(time.monotonic(), now - _BEFORE_START_SECONDS * 10**9, now, True)]
        )

    def note(self, first_version: int, last_version: int, *, has_calls: bool = False) -> None:
        """Remember a batch and whether it has calls; those of a few seconds become one."""
        now = time.monotonic()
        if len(self._ranges) > 1 and now - self._ranges[-1][0] < _JOINED_SECONDS:
            began, first, last, had_calls = self._ranges.pop()
            has_calls |= had_calls
            first_version, last_version = min(first, first_version), max(last, last_version)
            now = began
        self._ranges.append((now, first_version, last_version, has_calls))

    def take_settled(self, seconds: float) -> list[tuple[int, int, bool]]:
        """Return the version ranges that are at least that old, each once, and if with calls."""
        latest = time.monotonic() - seconds - (_JOINED_SECONDS if seconds else 0)
        settled = []
        while self._ranges and self._ranges[0][0] <= latest:
            _, first, last, has_calls = self._ranges.popleft()
            settled.append((first, last, has_calls))
        return settled
