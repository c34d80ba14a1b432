"""The journal: batches are atomic, whatever happens to the process or the disk."""

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from spanwise.ingest.commit.journal import Journal, JournalInUseError, hold_journal
from spanwise.ingest.records.record import Kind, Record
from support.journal import find_segments, read_unapplied, write_unapplied


def record(version: int, payload: bytes = b"rows") -> Record:
    return Record(Kind.TRACES, payload, version)


@pytest.mark.parametrize("kind", Kind)
def test_a_record_is_read_back_unchanged(tmp_path: Path, kind: Kind) -> None:
    written = [Record(kind, b"\x00\xff" * 500, 2**63), Record(kind, b"", 7)]
    write_unapplied(tmp_path, *written)
    assert read_unapplied(tmp_path) == written


def test_records_are_read_back_in_write_order(tmp_path: Path) -> None:
    journal = Journal(tmp_path, segment_bytes=100)
    for number in range(20):
        journal.append([record(2 * number), record(2 * number + 1)], number)
    assert len(find_segments(tmp_path)) > 1
    assert [found.version for found in read_unapplied(tmp_path)] == list(range(40))


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(min_value=0, max_value=3 * (17 + 30) - 1))
def test_a_truncated_journal_returns_the_complete_records(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    write_unapplied(folder, *(record(n, bytes([n]) * 30) for n in range(3)))
    (segment,) = find_segments(folder)
    assert segment.stat().st_size == 3 * (17 + 30)
    os.truncate(segment, cut)
    assert [found.version for found in read_unapplied(folder)] == list(range(cut // (17 + 30)))


@settings(max_examples=60, deadline=None)
@given(position=st.integers(min_value=47, max_value=2 * 47 - 1), bit=st.integers(0, 7))
def test_a_flipped_bit_never_returns_a_corrupt_record(
    tmp_path_factory: pytest.TempPathFactory, position: int, bit: int
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    write_unapplied(folder, *(record(n, bytes([n]) * 30) for n in range(2)))
    (segment,) = find_segments(folder)
    data = bytearray(segment.read_bytes())
    data[position] ^= 1 << bit
    segment.write_bytes(data)
    assert [found.version for found in read_unapplied(folder)] == [0]


def test_a_corrupt_segment_is_kept_for_inspection(tmp_path: Path) -> None:
    write_unapplied(tmp_path, record(1, b"good"), record(2, b"evil"), record(3))
    (segment,) = find_segments(tmp_path)
    data = segment.read_bytes().replace(b"evil", b"Evil")
    segment.write_bytes(data)
    with capture_logs() as logs:
        journal = Journal(tmp_path)
        assert [found.version for found in journal.replay()] == [1]
    assert [line["event"] for line in logs] == ["journal_damaged"]
    journal.release(0)
    assert (tmp_path / f"{segment.stem}.damaged").read_bytes() == data


def test_a_truncated_record_is_only_a_warning(tmp_path: Path) -> None:
    write_unapplied(tmp_path, record(1), record(2))
    (segment,) = find_segments(tmp_path)
    os.truncate(segment, segment.stat().st_size - 1)
    with capture_logs() as logs:
        assert len(read_unapplied(tmp_path)) == 1
    assert [(line["event"], line["log_level"]) for line in logs] == [("journal_torn", "warning")]
    assert not list(tmp_path.glob("*.damaged"))


def test_released_records_are_not_replayed(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append([record(1)], 1)
    journal.append([record(2)], 2)
    journal.release(1)
    assert [found.version for found in read_unapplied(tmp_path)] == [1, 2]
    journal.release(2)
    assert read_unapplied(tmp_path) == []
    journal.append([record(3)], 3)
    assert [found.version for found in read_unapplied(tmp_path)] == [3]


def test_full_segments_are_removed_once_applied(tmp_path: Path) -> None:
    journal = Journal(tmp_path, segment_bytes=1)
    for number in (1, 2, 3):
        journal.append([record(number)], number)
    assert len(find_segments(tmp_path)) == 3
    journal.release(2)
    assert len(find_segments(tmp_path)) == 1
    assert [found.version for found in read_unapplied(tmp_path)] == [3]


def test_replayed_records_stay_until_they_are_released(tmp_path: Path) -> None:
    write_unapplied(tmp_path, record(1))
    journal = Journal(tmp_path)
    assert len(list(journal.replay())) == 1
    journal.append([record(2)], 1)
    # A second kill before anything was applied.
    assert [found.version for found in read_unapplied(tmp_path)] == [1, 2]
    journal.release(0)
    assert [found.version for found in read_unapplied(tmp_path)] == [2]


def test_closing_an_empty_journal_leaves_no_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.append([record(1)], 1)
    journal.release(1)
    journal.close()
    assert find_segments(tmp_path) == []


def test_a_write_returns_after_it_is_durable(tmp_path: Path) -> None:
    journal = Journal(tmp_path, segment_bytes=1)
    for number in range(3):
        journal.append([record(number)], number)
        assert _flags_of(find_segments(tmp_path)[-1]) & os.O_DSYNC


def _flags_of(path: Path) -> int:
    """Return the flags with which this process has a file open."""
    for file in Path("/dev/fd").iterdir():
        with suppress(OSError):
            if os.path.samestat(os.fstat(int(file.name)), path.stat()):
                return fcntl.fcntl(int(file.name), fcntl.F_GETFL)
    raise LookupError(path)


HOLD = """
import sys
from pathlib import Path
from spanwise.ingest.commit.journal import Journal
journal = Journal(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.readline()
"""


def test_a_second_process_is_refused_until_the_first_is_killed(
    tmp_path: Path,
) -> None:
    write_unapplied(tmp_path, record(1))
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"open\n"
        before = {path: path.read_bytes() for path in tmp_path.iterdir()}
        with pytest.raises(JournalInUseError, match=r"in use by another process.*DATA_DIR"):
            Journal(tmp_path)
        with pytest.raises(JournalInUseError), hold_journal(tmp_path):
            raise AssertionError("it was let in")
        assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
        owner.kill()
    with closing(Journal(tmp_path)) as journal:
        assert [found.version for found in journal.replay()] == [1]


def test_a_removed_lock_file_does_not_count_as_a_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, flock = tmp_path / "journal", fcntl.flock

    def remove_and_lock(file: int, how: int) -> None:
        # Like `demo --fresh`, between opening the file and locking it.
        monkeypatch.undo()
        shutil.rmtree(folder)
        flock(file, how)

    monkeypatch.setattr(fcntl, "flock", remove_and_lock)
    with closing(Journal(folder)), pytest.raises(JournalInUseError):
        Journal(folder)


class FullDisk:
    """A disk that accepts some more bytes and is then full."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.room = 10**9
        self._write = os.write
        patch.setattr(os, "write", self.write)

    def write(self, file: int, data: bytes) -> int:
        if not self.room:
            raise OSError(28, "No space left on device")
        written = self._write(file, memoryview(data)[: self.room])
        self.room -= written
        return written


@pytest.mark.parametrize("room", [0, 1, 16, 17, 40, 60])
def test_a_full_disk_leaves_no_partial_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    disk = FullDisk(monkeypatch)
    journal = Journal(tmp_path)
    journal.append([record(1)], 1)
    size = find_segments(tmp_path)[0].stat().st_size
    disk.room = room
    with pytest.raises(OSError, match="No space"):
        journal.append([record(2, b"x" * 30), record(3, b"y" * 30)], 2)
    assert find_segments(tmp_path)[0].stat().st_size == size
    disk.room = 10**9
    journal.append([record(4)], 2)
    assert [found.version for found in read_unapplied(tmp_path)] == [1, 4]


def test_a_write_that_fails_after_its_last_byte_is_rolled_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    journal.append([record(1)], 1)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, data: (os.writev(file, [data]), _fail()))
        with pytest.raises(OSError, match="No space"):
            journal.append([record(2)], 2)
    journal.append([record(3)], 2)
    assert [found.version for found in read_unapplied(tmp_path)] == [1, 3]


def test_nothing_is_written_after_a_tail_that_cannot_be_rolled_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    journal = Journal(tmp_path)
    journal.append([record(1)], 1)
    disk.room = 5
    with monkeypatch.context() as patch:
        patch.setattr(os, "ftruncate", _fail)
        with pytest.raises(OSError, match="No space"):
            journal.append([record(2)], 2)
    disk.room = 10**9
    journal.append([record(3)], 2)
    assert [found.version for found in read_unapplied(tmp_path)] == [1, 3]
    journal.release(2)
    assert read_unapplied(tmp_path) == []


def test_a_failed_segment_creation_leaves_the_journal_usable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path, segment_bytes=1)
    journal.append([record(1)], 1)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", _fail)
        with pytest.raises(OSError, match="No space"):
            journal.append([record(2)], 2)
    journal.append([record(3)], 2)
    assert [found.version for found in read_unapplied(tmp_path)] == [1, 3]


def _fail(*_: object) -> int:
    raise OSError(28, "No space left on device")
