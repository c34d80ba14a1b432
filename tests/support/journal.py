"""A journal as the next process would find it after a kill."""

import shutil
import tempfile
from contextlib import closing
from pathlib import Path

from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.records.record import Record


def read_unapplied(folder: Path) -> list[Record]:
    """Return what a kill would leave now. Reads a copy: a running process owns the folder."""
    with tempfile.TemporaryDirectory() as parent:
        copy = shutil.copytree(folder, Path(parent) / "journal")
        with closing(Journal(copy)) as journal:
            return list(journal.replay())


def write_unapplied(folder: Path, *records: Record) -> None:
    """Write records as a process that ended before it applied them."""
    with closing(Journal(folder)) as journal:
        journal.append(records, 1)


def find_segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.journal"))
