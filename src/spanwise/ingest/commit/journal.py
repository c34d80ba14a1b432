"""The journal: segment files of records that are acknowledged but may not be in the store yet.

A lock makes one process the owner of the folder: a second one would replay records that the first
is still applying, and delete the segment that it writes to.
"""

import fcntl
import os
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import structlog

from spanwise.ingest.records.record import Kind, Record
from spanwise.model.errors import StartError

log = structlog.get_logger()

SEGMENT_BYTES = 32 * 2**20
LOCK_FILE = "lock"

_CRC = struct.Struct("<I")
_HEADER = struct.Struct("<IBQ")


@dataclass
class _Segment:
    path: Path
    last_sequence: int = 0


class JournalInUseError(StartError):
    """Another process owns the journal's folder."""


class Journal:
    """Appends groups of records to segment files and deletes segments that are applied.

    The sequence number of a group is not stored: it only orders groups within this process.
    """

    def __init__(self, folder: Path, segment_bytes: int = SEGMENT_BYTES) -> None:
        self._folder_lock = _lock_folder(folder)
        self.folder = folder
        self._segment_bytes = segment_bytes
        self._lock = threading.Lock()
        # Segments of an earlier process count as sequence 0: they are applied first.
        self._full = [_Segment(path) for path in sorted(folder.glob("*.journal"))]
        self._next_number = 1 + max((int(s.path.stem) for s in self._full), default=0)
        self._must_rotate = False
        self._open_segment()

    def replay(self) -> Iterator[Record]:
        """Read the records of an earlier process. Call before the first `append`."""
        for segment in self._full:
            yield from _read_segment(segment.path)

    def append(self, records: Sequence[Record], sequence: int) -> None:
        """Return when all records are on disk. On an OSError, none of them are."""
        data = b"".join(part for record in records for part in _encode(record))
        with self._lock:
            if self._must_rotate or self._size >= self._segment_bytes:
                self._rotate()
            try:
                _write_all(self._file, data)
            except OSError:
                self._undo_write()
                raise
            self._size += len(data)
            self._current.last_sequence = sequence

    def release(self, applied_sequence: int) -> None:
        """Delete what the store has. A record that is replayed after a crash does no harm."""
        with self._lock:
            while self._full and self._full[0].last_sequence <= applied_sequence:
                self._full.pop(0).path.unlink(missing_ok=True)
            if self._size and self._current.last_sequence <= applied_sequence:
                self._truncate(0)

    def close(self) -> None:
        os.close(self._file)
        if self._size == 0:
            self._current.path.unlink(missing_ok=True)
        os.close(self._folder_lock)

    def _undo_write(self) -> None:
        """Truncate a partial write; if that fails too, continue in a new segment."""
        self._must_rotate = True
        with suppress(OSError):
            self._truncate(self._size)
            self._must_rotate = False

    def _truncate(self, size: int) -> None:
        os.ftruncate(self._file, size)
        os.lseek(self._file, size, os.SEEK_SET)
        self._size = size

    def _rotate(self) -> None:
        full, file = self._current, self._file
        # Open the new segment first: when the disk is full, nothing has changed.
        self._open_segment()
        os.close(file)
        self._full.append(full)
        self._must_rotate = False

    def _open_segment(self) -> None:
        path = self.folder / f"{self._next_number:012}.journal"
        # O_DSYNC makes a separate fsync call, and its wait for the GIL, unnecessary.
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
    """Lock the journal without opening it, so that no service can start on it."""
    file = _lock_folder(folder)
    try:
        yield
    finally:
        os.close(file)


def is_journal_held(folder: Path) -> bool:
    """Return whether a process owns the journal, without changing anything."""
    try:
        with (folder / LOCK_FILE).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _lock_folder(folder: Path) -> int:
    """Lock the folder; the kernel releases the lock when the process ends, even on `kill -9`."""
    path = folder / LOCK_FILE
    try:
        while True:
            folder.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # The file may have been replaced since it was opened; the lock is then useless.
                if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
                    return file
            except OSError:
                os.close(file)
                raise
            os.close(file)
    except BlockingIOError:
        raise JournalInUseError(
            f"the journal at {folder} is in use by another process, perhaps a running "
            "`spanwise serve`: stop that one first, or give each process its own "
            "SPANWISE_DATA_DIR"
        ) from None
    except OSError as error:
        raise StartError(f"cannot use the journal at {folder}: {error.strerror}") from None


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file survive a power cut."""
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
    """Yield the intact records of a segment.

    A torn record at the end was never acknowledged. Anything else that cannot be read is damage:
    a copy of the file stays beside the journal for an operator to inspect.
    """
    data = path.read_bytes()
    offset = 0
    while record := _decode(data, offset):
        yield record
        offset += _CRC.size + _HEADER.size + len(record.payload)
    if offset == len(data):
        return
    lost = len(data) - offset
    if _is_torn(data, offset):
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


def _is_torn(data: bytes, offset: int) -> bool:
    start = offset + _CRC.size
    if start + _HEADER.size > len(data):
        return True
    size: int = _HEADER.unpack_from(data, start)[0]
    return start + _HEADER.size + size > len(data)
