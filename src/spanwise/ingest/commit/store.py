"""The protocol of the store that the applier writes to, and errors that control retries."""

from collections.abc import Callable, Sequence
from typing import Protocol

from spanwise.ingest.records.record import Record

Step = Callable[[Sequence[Record]], None]


class PermanentError(Exception):
    """The store can never take this record: retrying does not help."""


class UnclassifiedError(Exception):
    """The store failed for an unknown reason: the record may be the cause."""


class Store(Protocol):
    """Takes batches in two steps. Each step sees the batches in order, one at a time.

    The next batch may be inserted while one is being finished. Both steps are idempotent. Any
    exception but the two above counts as transient.
    """

    def insert(self, records: Sequence[Record]) -> None:
        """Make the records durable."""

    def finish(self, records: Sequence[Record]) -> None:
        """Update everything derived from inserted records, and make all of it visible."""

    def quarantine(self, record: Record, reason: str) -> None:
        """Save a record that the store cannot take, for an operator to inspect."""
