"""Counts accepted and rejected items, and the time to store them, for `/metrics` and operators."""

import threading
import time
from collections import Counter, deque
from collections.abc import Sequence

from spanwise.ingest.commit.store import PermanentError, Step, Store
from spanwise.ingest.records.record import Kind, Record

RATE_SECONDS = 60


class IngestCounters:
    """Totals since the process started. The event loop and the store threads add to them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.accepted: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.batches = 0
        self.apply_seconds = 0.0
        self.failures = 0
        self.refused_records = 0
        self._spans_by_second: deque[tuple[int, int]] = deque(maxlen=RATE_SECONDS + 1)

    def count_request(
        self, kind: Kind, accepted: int, rejected: int, records: Sequence[Record]
    ) -> None:
        """Count one acknowledged request."""
        name = kind.name.lower()
        second = int(time.monotonic())
        with self._lock:
            self.accepted[name] += accepted
            self.rejected[name] += rejected
            self.bytes[name] += sum(len(record.payload) for record in records)
            if kind is not Kind.TRACES:
                return
            if self._spans_by_second and self._spans_by_second[-1][0] == second:
                accepted += self._spans_by_second.pop()[1]
            self._spans_by_second.append((second, accepted))

    def spans_per_second(self) -> float:
        """Return the average rate of accepted spans over the last minute."""
        since = int(time.monotonic()) - RATE_SECONDS
        with self._lock:
            spans = sum(count for second, count in self._spans_by_second if second > since)
        return spans / RATE_SECONDS

    def count_step(self, seconds: float, batches: int) -> None:
        """Count the time of one step, and the batches that it completed."""
        with self._lock:
            self.batches += batches
            self.apply_seconds += seconds

    def count_failure(self) -> None:
        with self._lock:
            self.failures += 1

    def count_refused_record(self) -> None:
        with self._lock:
            self.refused_records += 1


class CountingStore:
    """Wraps a store and counts the time of its steps and their failures."""

    def __init__(self, store: Store, counters: IngestCounters) -> None:
        self._store = store
        self._counters = counters

    def insert(self, records: Sequence[Record]) -> None:
        self._run(self._store.insert, records, batches=0)

    def finish(self, records: Sequence[Record]) -> None:
        self._run(self._store.finish, records, batches=1)

    def _run(self, step: Step, records: Sequence[Record], batches: int) -> None:
        started = time.perf_counter()
        try:
            step(records)
        except PermanentError:
            raise
        except Exception:
            self._counters.count_failure()
            raise
        self._counters.count_step(time.perf_counter() - started, batches)

    def quarantine(self, record: Record, reason: str) -> None:
        self._counters.count_refused_record()
        self._store.quarantine(record, reason)
