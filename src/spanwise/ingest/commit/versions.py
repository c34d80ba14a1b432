"""The version of a row: of two rows of the same span or signal, the later version counts.

Versions ascend in the order of the journal, which is the order in which records are applied:
summaries and deletions rely on a batch having higher versions than the batch before it. So a record
gets its version from the thread that journals it, and keeps it when the journal is replayed.
"""

import time
from threading import Lock

from spanwise.ingest.commit.journal import Kind, Record
from spanwise.ingest.otlp.frames import set_version
from spanwise.ingest.rest.signals import set_row_versions
from spanwise.storage.telemetry.traces.aggregates import VERSION_STEP


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

    def start_after(self, version: int) -> None:
        """Let all versions to come be higher than one of an earlier process."""
        with self._lock:
            self._last = max(self._last, version)


_clock = VersionClock()
next_version = _clock.tick
start_after = _clock.start_after


def with_version(record: Record, version: int) -> Record:
    """Return the record with its version, also in its rows. The payload may be changed in place."""
    payload = record.payload
    match record.kind:
        case Kind.TRACES | Kind.CALLS | Kind.LOGS | Kind.METRICS:
            payload = bytearray(payload) if isinstance(payload, bytes) else payload
            set_version(payload, version)
        case Kind.SIGNALS:
            payload = set_row_versions(payload, version)
        case Kind.DELETIONS | Kind.EXPOSURES:
            # Their rows have no version.
            pass
    return Record(record.kind, payload, version)
