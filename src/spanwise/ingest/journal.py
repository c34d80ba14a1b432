"""The journal: what is in it survives `kill -9`. One fsync covers all requests that wait for it."""

import os
import struct
import threading
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import structlog

log = structlog.get_logger()

SEGMENT_BYTES = 32 * 2**20

_HEADER = struct.Struct("<IIBQ")


class Kind(IntEnum):
    """What a record's payload is; the number is part of the file format."""

    TRACES = 1
    LOGS = 2
    METRICS = 3
    SIGNALS = 4


@dataclass(frozen=True)
class Record:
    """One request's rows, ready for the store."""

    kind: Kind
    payload: bytes
    version: int


@dataclass
class _Segment:
    path: Path
    last_sequence: int = 0


class Journal:
    """Appends batches of records to segment files and drops the files once all is applied."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._left_over = sorted(folder.glob("*.journal"))
        self._full: list[_Segment] = []
        self._lock = threading.Lock()
        self._size = 0
        self._next_number = 1 + max((int(p.stem) for p in self._left_over), default=0)
        self._open_segment()

    def left_over(self) -> Iterator[Record]:
        """Read what an earlier process wrote and perhaps did not apply."""
        for path in self._left_over:
            yield from _read_segment(path)

    def drop_left_over(self) -> None:
        for path in self._left_over:
            path.unlink()
        self._left_over = []

    def append(self, records: Sequence[Record], sequence: int) -> None:
        """Write the records and wait until the disk has them. All of them, or none."""
        parts: list[bytes] = []
        for record in records:
            crc = zlib.crc32(record.payload)
            header = _HEADER.pack(len(record.payload), crc, record.kind, record.version)
            parts += (header, record.payload)
        with self._lock:
            if self._size >= SEGMENT_BYTES:
                self._rotate()
            try:
                _write_all(self._file, b"".join(parts))
                os.fdatasync(self._file)
            except OSError:
                self._cut(self._size)
                raise
            self._size = os.lseek(self._file, 0, os.SEEK_CUR)
            self._current.last_sequence = sequence

    def release(self, applied_sequence: int) -> None:
        """Drop what is in the store by now. A record that comes back after a crash is harmless."""
        with self._lock:
            while self._full and self._full[0].last_sequence <= applied_sequence:
                self._full.pop(0).path.unlink()
            if self._size and self._current.last_sequence <= applied_sequence:
                self._cut(0)

    def close(self) -> None:
        os.close(self._file)
        if self._size == 0:
            self._current.path.unlink()

    def _cut(self, size: int) -> None:
        os.ftruncate(self._file, size)
        os.lseek(self._file, size, os.SEEK_SET)
        self._size = size

    def _rotate(self) -> None:
        os.close(self._file)
        self._full.append(self._current)
        self._open_segment()

    def _open_segment(self) -> None:
        self._current = _Segment(self._folder / f"{self._next_number:012}.journal")
        self._next_number += 1
        self._file = os.open(self._current.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._size = 0
        # Without this the file's very name might not survive a power cut.
        folder = os.open(self._folder, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _read_segment(path: Path) -> Iterator[Record]:
    """Yield the whole records of a segment; a torn one at its end was never acknowledged."""
    data = path.read_bytes()
    offset = 0
    while offset + _HEADER.size <= len(data):
        size, crc, kind, version = _HEADER.unpack_from(data, offset)
        payload = data[offset + _HEADER.size : offset + _HEADER.size + size]
        if len(payload) < size or zlib.crc32(payload) != crc:
            break
        yield Record(Kind(kind), payload, version)
        offset += _HEADER.size + size
    if offset < len(data):
        log.warning("journal_torn", segment=path.name, bytes_ignored=len(data) - offset)
