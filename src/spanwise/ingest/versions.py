"""The version of a row: of two rows of the same span or signal, the later version counts.

Summaries rely on a batch having higher versions than the batch before it. That holds because a
request takes its version and its place in the queue in one step of the event loop.
"""

import time
from threading import Lock

from spanwise.storage.telemetry.summaries import VERSION_STEP


class VersionClock:
    """Nanoseconds since 1970 that never repeat in this process."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = Lock()

    def tick(self) -> int:
        with self._lock:
            # Re-pricing adds one to a row's version.
            now = time.time_ns() // VERSION_STEP * VERSION_STEP
            self._last = max(self._last + VERSION_STEP, now)
            return self._last


next_version = VersionClock().tick
