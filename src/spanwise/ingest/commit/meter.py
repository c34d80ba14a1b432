"""Counts what ingest takes in and how long the engine needs for it, for operators to see."""

import threading
import time
from collections import Counter, deque
from collections.abc import Sequence

from spanwise.ingest.commit.journal import Kind, Record
from spanwise.ingest.commit.pipeline import Refused, Step, Store

RATE_SECONDS = 60


class IngestMeter:
    """Numbers since the process started; written by the event loop and the threads that write."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.accepted: Counter[str] = Counter()
        self.rejected: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.batches = 0
        self.apply_seconds = 0.0
        self.failures = 0
        self.refused_records = 0
        self._by_second: deque[tuple[int, int]] = deque(maxlen=RATE_SECONDS + 1)

    def take(self, kind: Kind, accepted: int, rejected: int, records: Sequence[Record]) -> None:
        """Count one request that was acknowledged."""
        name = kind.name.lower()
        second = int(time.monotonic())
        with self._lock:
            self.accepted[name] += accepted
            self.rejected[name] += rejected
            self.bytes[name] += sum(len(record.payload) for record in records)
            if kind is not Kind.TRACES:
                return
            if self._by_second and self._by_second[-1][0] == second:
                accepted += self._by_second.pop()[1]
            self._by_second.append((second, accepted))

    def spans_per_second(self) -> float:
        """How many spans came in a second, on average over the last minute."""
        since = int(time.monotonic()) - RATE_SECONDS
        with self._lock:
            return sum(spans for second, spans in self._by_second if second > since) / RATE_SECONDS

    def worked(self, seconds: float, batches: int) -> None:
        """Count time that the engine took, and batches that are in it after that."""
        with self._lock:
            self.batches += batches
            self.apply_seconds += seconds

    def failed(self) -> None:
        with self._lock:
            self.failures += 1

    def refused(self) -> None:
        with self._lock:
            self.refused_records += 1


class MeteredStore:
    """A store that tells the meter how long batches take, and how often they fail."""

    def __init__(self, store: Store, meter: IngestMeter) -> None:
        self._store = store
        self._meter = meter

    def insert(self, records: Sequence[Record]) -> None:
        self._time(self._store.insert, records, batches=0)

    def finish(self, records: Sequence[Record]) -> None:
        self._time(self._store.finish, records, batches=1)

    def _time(self, step: Step, records: Sequence[Record], batches: int) -> None:
        started = time.perf_counter()
        try:
            step(records)
        except Refused:
            raise
        except Exception:
            self._meter.failed()
            raise
        self._meter.worked(time.perf_counter() - started, batches)

    def quarantine(self, record: Record, reason: str) -> None:
        self._meter.refused()
        self._store.quarantine(record, reason)
