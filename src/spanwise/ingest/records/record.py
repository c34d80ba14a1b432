"""A record of the journal, and its kinds."""

from enum import IntEnum
from typing import NamedTuple


class Kind(IntEnum):
    """The type of a record's payload. The number is part of the journal's file format."""

    TRACES = 1
    LOGS = 2
    METRICS = 3
    SIGNALS = 4
    DELETIONS = 5
    EXPOSURES = 6
    # Like TRACES, but some spans are calls that a coding agent may report twice.
    CALLS = 7


class Record(NamedTuple):
    """Rows of one request. The version is 0 until the journal writer assigns one."""

    kind: Kind
    payload: bytes | bytearray
    version: int = 0
    # Where its spans are stored, with hours since 1970. Not known for a record that was replayed.
    workspace: str | None = None
    hours: frozenset[int] = frozenset()
