"""The journal as a process that starts after a kill would find it."""

import shutil
import tempfile
from contextlib import closing
from pathlib import Path

from spanwise.ingest.commit.journal import Journal, Record


def read_as_left_over(folder: Path) -> list[Record]:
    """What a kill at this moment would leave: read from a copy, as the folder has its owner."""
    with tempfile.TemporaryDirectory() as elsewhere:
        copy = shutil.copytree(folder, Path(elsewhere) / "journal")
        with closing(Journal(copy)) as journal:
            return list(journal.left_over())


def leave_over(folder: Path, *records: Record) -> None:
    """Write records as a process that ended before it applied them."""
    with closing(Journal(folder)) as journal:
        journal.append(records, 1)
