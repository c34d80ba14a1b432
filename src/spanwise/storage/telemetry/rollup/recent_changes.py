"""Keeps the slices changed by the latest batches in memory, so that reads need not query them."""

import threading
from collections import deque
from collections.abc import Mapping, Set
from datetime import datetime

# A batch that changes more slices than this is logged as unknown.
MAX_CHANGED_SLICES = 3000
_LOGGED_BATCHES = 100

# Workspace -> the starts of slices in which changed traces start.
ChangedSlices = Mapping[str, Set[datetime]]


class RecentChanges:
    """One thread records changes, any thread may read them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._log: deque[ChangedSlices | None] = deque(maxlen=_LOGGED_BATCHES)

    def record(self, changed: ChangedSlices | None) -> None:
        """Log a change once it is visible; None if what it changed is unknown."""
        if changed is not None and sum(map(len, changed.values())) > MAX_CHANGED_SLICES:
            changed = None
        with self._lock:
            self._log.append(changed)
            self._count += 1

    @property
    def count(self) -> int:
        """The number of changes so far."""
        return self._count

    def find_since(self, count: int, workspace: str) -> set[datetime] | None:
        """Return the slices changed after the first `count` changes; None if not known."""
        with self._lock:
            newer = self._count - count
            if newer > len(self._log):
                return None
            latest = list(self._log)[len(self._log) - newer :]
        found: set[datetime] = set()
        for changed in latest:
            if changed is None:
                return None
            found |= changed.get(workspace, set())
        return found
