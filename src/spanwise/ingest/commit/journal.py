"""The journal: what is in it survives `kill -9`. One write covers all requests that wait for it.

Its folder belongs to one process at a time: a second one would take what the first has not applied
yet for left over, and remove the file that the first still writes to.
"""

import fcntl
import os
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import structlog

from spanwise.model.errors import StartError

log = structlog.get_logger()

SEGMENT_BYTES = 32 * 2**20
LOCK_FILE = "lock"

_CRC = struct.Struct("<I")
_HEADER = struct.Struct("<IBQ")


class Kind(IntEnum):
    """What a record's payload is; the number is part of the file format."""

    TRACES = 1
    LOGS = 2
    METRICS = 3
    SIGNALS = 4
    DELETIONS = 5
    EXPOSURES = 6
    # As TRACES, but with calls among the spans that a coding agent may report twice.
    CALLS = 7


class Record(NamedTuple):
    """One request's rows, ready for the store. The version is 0 until the journal takes it."""

    kind: Kind
    payload: bytes | bytearray
    version: int = 0


@dataclass
class _Segment:
    path: Path
    last_sequence: int = 0


class JournalInUseError(StartError):
    """Another process has the journal's folder."""


class Journal:
    """Appends batches of records to segment files and drops the files once all is applied."""

    def __init__(self, folder: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._folder_lock = _lock_folder(folder)
        self.folder = folder
        self._segment_bytes = segment_bytes
        self._lock = threading.Lock()
        # What an earlier process left counts as sequence 0: it goes first.
        self._full = [_Segment(path) for path in sorted(folder.glob("*.journal"))]
        self._next_number = 1 + max((int(s.path.stem) for s in self._full), default=0)
        self._must_rotate = False
        self._open_segment()

    def left_over(self) -> Iterator[Record]:
        """Read what an earlier process wrote and perhaps did not apply. Call before `append`."""
        for segment in self._full:
            yield from _read_segment(segment.path)

    def append(self, records: Sequence[Record], sequence: int) -> None:
        """Write the records and wait until the disk has them. All of them, or none."""
        data = b"".join(part for record in records for part in _encode(record))
        with self._lock:
            if self._must_rotate or self._size >= self._segment_bytes:
                self._rotate()
            try:
                _write_all(self._file, data)
            except OSError:
                self._take_back()
                raise
            self._size += len(data)
            self._current.last_sequence = sequence

    def release(self, applied_sequence: int) -> None:
        """Drop what is in the store by now. A record that comes back after a crash is harmless."""
        with self._lock:
            while self._full and self._full[0].last_sequence <= applied_sequence:
                self._full.pop(0).path.unlink(missing_ok=True)
            if self._size and self._current.last_sequence <= applied_sequence:
                self._cut(0)

    def close(self) -> None:
        os.close(self._file)
        if self._size == 0:
            self._current.path.unlink(missing_ok=True)
        os.close(self._folder_lock)

    def _take_back(self) -> None:
        """Remove what a failed write left, or never write behind it again."""
        self._must_rotate = True
        with suppress(OSError):
            self._cut(self._size)
            self._must_rotate = False

    def _cut(self, size: int) -> None:
        os.ftruncate(self._file, size)
        os.lseek(self._file, size, os.SEEK_SET)
        self._size = size

    def _rotate(self) -> None:
        full, file = self._current, self._file
        # The new one first: when the disk has no room for it, all stays as it was.
        self._open_segment()
        os.close(file)
        self._full.append(full)
        self._must_rotate = False

    def _open_segment(self) -> None:
        path = self.folder / f"{self._next_number:012}.journal"
        # With O_DSYNC a write returns when the disk has it: one wait for the interpreter less.
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_DSYNC, 0o600)
        self._next_number += 1
        try:
            _sync_folder(self.folder)
        except OSError:
            os.close(file)
            path.unlink()
            raise
        self._current, self._file, self._size = _Segment(path), file, 0


@contextmanager
def hold_journal(folder: Path) -> Iterator[None]:
    """Keep other processes from opening the journal while its owner must not run."""
    file = _lock_folder(folder)
    try:
        yield
    finally:
        os.close(file)


def _lock_folder(folder: Path) -> int:
    """Lock the folder; the kernel unlocks it when this process ends, however it ends."""
    path = folder / LOCK_FILE
    try:
        while True:
            folder.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The file may have been removed since it was opened: then another one counts.
                if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                    return file
            except OSError:
                os.close(file)
                raise
            os.close(file)
    except BlockingIOError:
        raise JournalInUseError(
            f"the journal at {folder} is in use by another process, perhaps a running "
            "`spanwise serve`: stop that one first, or give each process a SPANWISE_DATA_DIR of "
            "its own"
        ) from None
    except OSError as error:
        raise StartError(f"cannot use the journal at {folder}: {error.strerror}") from None


def _sync_folder(folder: Path) -> None:
    """Without this a new file's very name might not survive a power cut."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _encode(record: Record) -> tuple[bytes, bytes, bytes | bytearray]:
    header = _HEADER.pack(len(record.payload), record.kind, record.version)
    crc = zlib.crc32(record.payload, zlib.crc32(header))
    return _CRC.pack(crc), header, record.payload


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _read_segment(path: Path) -> Iterator[Record]:
    """Yield the whole records of a segment.

    A record cut short at the end was never acknowledged. Anything else that cannot be read is
    damage: the file is kept beside the journal, for a person to look at.
    """
    data = path.read_bytes()
    offset = 0
    while record := _decode(data, offset):
        yield record
        offset += _CRC.size + _HEADER.size + len(record.payload)
    if offset == len(data):
        return
    lost = len(data) - offset
    if _is_cut_short(data, offset):
        log.warning("journal_torn", segment=path.name, bytes_ignored=lost)
        return
    kept = path.with_suffix(".damaged")
    with suppress(OSError):
        kept.hardlink_to(path)
    log.error("journal_damaged", kept_as=str(kept), bytes_ignored=lost)


def _decode(data: bytes, offset: int) -> Record | None:
    start = offset + _CRC.size
    if start + _HEADER.size > len(data):
        return None
    size, kind, version = _HEADER.unpack_from(data, start)
    end = start + _HEADER.size + size
    if end > len(data) or _CRC.unpack_from(data, offset)[0] != zlib.crc32(data[start:end]):
        return None
    return Record(Kind(kind), data[start + _HEADER.size : end], version)


def _is_cut_short(data: bytes, offset: int) -> bool:
    start = offset + _CRC.size
    if start + _HEADER.size > len(data):
        return True
    size: int = _HEADER.unpack_from(data, start)[0]
    return start + _HEADER.size + size > len(data)
