"""The backlog: records that are in the journal but not yet in the store, oldest first.

The journal writer adds to it and the applier takes batches from it. Back-pressure depends on its
size.
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from spanwise.ingest.records.record import Record
from spanwise.model.errors import Unavailable

# The journal writer pauses when the backlog is this large.
MAX_BYTES = 72 * 2**20
# Beyond this the store is behind, and requests are admitted at its pace.
PACED_BYTES = 56 * 2**20
# Each batch costs about 200 ms of processor time, nearly all of it planning, so batches are as
# large as memory allows: with batches of 16 MB instead of 24, two cores store 12 % fewer spans per
# second.
BATCH_BYTES = 24 * 2**20
LINGER_SECONDS = 0.75
LINGER_BYTES = 20 * 2**20


class Backlog:
    """Not thread-safe: call every method with the lock held."""

    def __init__(self, lock: threading.Lock) -> None:
        self._records: deque[tuple[int, Record]] = deque()
        # When the records that are left over from the last batch, or came after it, began to wait.
        self._waiting_since = 0.0
        self._has_records = threading.Condition(lock)
        self._may_flush = threading.Condition(lock)
        # Includes records that are being applied.
        self.size_bytes = 0
        self._untaken_bytes = 0
        self.apply_bytes_per_second = math.inf
        # The store fails: nothing is acknowledged until it works again.
        self.is_stalled = False

    def __len__(self) -> int:
        return len(self._records)

    @property
    def is_full(self) -> bool:
        return self.size_bytes >= MAX_BYTES

    @property
    def is_behind(self) -> bool:
        return self.size_bytes >= PACED_BYTES

    def check_not_stalled(self) -> None:
        if self.is_stalled:
            raise Unavailable("the store cannot take more at the moment", 5)

    def add(self, records: Iterable[Record], sequence: int) -> None:
        """Add one journal group; `notify_inserter` then wakes the inserting thread."""
        size = 0
        if not self._records:
            self._waiting_since = time.monotonic()
        for record in records:
            self._records.append((sequence, record))
            size += len(record.payload)
        self.size_bytes += size
        self._untaken_bytes += size

    def notify_inserter(self) -> None:
        """Wake the inserting thread."""
        self._has_records.notify()
        if self._has_enough():
            self._may_flush.notify()

    def flush(self) -> None:
        """Make the inserting thread check again whether it must wait for more records."""
        self._may_flush.notify()

    def wake_all(self) -> None:
        self._has_records.notify_all()
        self._may_flush.notify_all()

    def take_batch(
        self, has_ended: Callable[[], bool], is_urgent: Callable[[], bool]
    ) -> tuple[Sequence[Record], int] | None:
        """Wait for records and take the oldest; None when the input has ended and none are left.

        Also returns the sequence that is complete in the store once these records are.
        """
        self._has_records.wait_for(lambda: self._records or has_ended())
        if not self._records:
            return None
        # An insert costs the engine the same for one record as for hundreds, so wait for more.
        linger = self._waiting_since + LINGER_SECONDS - time.monotonic()
        self._may_flush.wait_for(lambda: self._has_enough() or is_urgent(), timeout=max(0, linger))
        taken: list[Record] = []
        size = sequence = 0
        while self._records and (not taken or size < BATCH_BYTES):
            sequence, record = self._records.popleft()
            taken.append(record)
            size += len(record.payload)
        self._untaken_bytes -= size
        return taken, self._records[0][0] - 1 if self._records else sequence

    def remove_applied(self, size_bytes: int, seconds: float) -> None:
        """Remove a batch that is in the store, and record how fast it was applied."""
        self.size_bytes -= size_bytes
        # Small batches are ignored: their time is mostly fixed overhead.
        if size_bytes >= LINGER_BYTES:
            self.apply_bytes_per_second = size_bytes / seconds

    def _has_enough(self) -> bool:
        return self._untaken_bytes >= LINGER_BYTES
