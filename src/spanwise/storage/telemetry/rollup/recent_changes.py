"""Keeps the slices changed by the latest batches in memory, so that reads need not query them."""

import threading
from collections import Counter, deque
from collections.abc import Mapping
from datetime import datetime

# A batch that changes more slices than this is logged as unknown.
MAX_CHANGED_SLICES = 3000
_LOGGED_BATCHES = 100
_BUSY_BATCHES = 10

# Workspace -> agent -> start of a slice -> how many changed traces start in it.
ChangedSlices = Mapping[str, Mapping[str, Mapping[datetime, int]]]


class RecentChanges:
    """One thread records changes, any thread may read them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._log: deque[ChangedSlices | None] = deque(maxlen=_LOGGED_BATCHES)

    def record(self, changed: ChangedSlices | None) -> None:
        """Log a change once it is visible; None if what it changed is unknown."""
        if changed is not None and _count_slices(changed) > MAX_CHANGED_SLICES:
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
            for slices in changed.get(workspace, {}).values():
                found.update(slices)
        return found

    def estimate_page_start(
        self, workspace: str, agent: str | None, traces: int, before: datetime | None
    ) -> datetime | None:
        """Return a time since which about `traces` traces have started, None if unknown.

        A trace that was changed more than once is counted more than once.
        """
        with self._lock:
            latest = list(self._log)[-_BUSY_BATCHES:]
        counts = Counter[datetime]()
        for changed in latest:
            by_agent = changed.get(workspace, {}) if changed else {}
            for name, slices in by_agent.items():
                counts.update(slices if agent in (None, name) else {})
        for moment in sorted(counts, reverse=True):
            if before is not None and moment >= before:
                continue
            traces -= counts[moment]
            if traces <= 0:
                return moment
        return None


def _count_slices(changed: ChangedSlices) -> int:
    return sum(len(slices) for agents in changed.values() for slices in agents.values())
