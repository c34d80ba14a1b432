"""Row versions: of two rows with the same id, the one with the higher version wins.

Versions ascend in journal order, which is also the order of application: aggregates and deletions
rely on each batch having higher versions than the batch before it. So the journal writer assigns
them, and a replayed record keeps its version.
"""

import time
from threading import Lock

from spanwise.ingest.records.frames import set_version
from spanwise.ingest.records.record import Kind, Record
from spanwise.ingest.records.rows import set_row_versions
from spanwise.storage.telemetry.write.aggregates import VERSION_STEP


class VersionClock:
    """Strictly ascending nanoseconds since 1970."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = Lock()

    def tick(self) -> int:
        with self._lock:
            # The versions in between are for corrections of a stored row, such as repricing.
            now = time.time_ns() // VERSION_STEP * VERSION_STEP
            self._last = max(self._last + VERSION_STEP, now)
            return self._last

    def start_after(self, version: int) -> None:
        """Make all later versions higher than one that an earlier process assigned."""
        with self._lock:
            self._last = max(self._last, version)


_clock = VersionClock()
next_version = _clock.tick
start_after = _clock.start_after


def with_version(record: Record, version: int) -> Record:
    """Return the record with its version, also in its rows. May change the payload in place."""
    payload = record.payload
    match record.kind:
        case Kind.TRACES | Kind.CALLS | Kind.LOGS | Kind.METRICS:
            payload = bytearray(payload) if isinstance(payload, bytes) else payload
            set_version(payload, version)
        case Kind.SIGNALS:
            payload = set_row_versions(payload, version)
        case Kind.DELETIONS | Kind.EXPOSURES:
            # Rows of these kinds have no version.
            pass
    return record._replace(payload=payload, version=version)
