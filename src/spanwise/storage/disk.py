"""Checks that a disk accepts writes, and recognizes disk errors."""

import errno
import os
from pathlib import Path

_PROBE = ".write-probe"
# More than file systems store inline in the directory entry.
_PROBE_BYTES = 64 * 1024
_DISK_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})


def is_disk_fault(error: OSError) -> bool:
    """Return whether a write failed because of the disk: full, over quota, read-only or broken."""
    return error.errno in _DISK_FAULTS


def check_folder(folder: Path) -> None:
    """Write, sync and remove a small file; raises OSError when that fails."""
    path = folder / _PROBE
    try:
        with path.open("wb") as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
            os.fsync(file.fileno())
    finally:
        path.unlink(missing_ok=True)
