"""Remembers which traces' times the latest batches changed, so that readers need not look."""

import threading
from collections import deque
from collections.abc import Mapping, Set
from datetime import datetime

# A batch that changes more moments than this is looked up in the store like an unknown one.
MAX_MOMENTS = 1000
_REMEMBERED = 100

# Workspace -> moments, each the beginning of a slice in which a trace starts that was changed.
Moments = Mapping[str, Set[datetime]]


class Changes:
    """A log of the latest changes. One thread notes them, all may read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._log: deque[Moments | None] = deque(maxlen=_REMEMBERED)

    def note(self, moments: Moments | None) -> None:
        """Note a change, once it is visible; None when nobody knows what it changed."""
        if moments is not None and sum(map(len, moments.values())) > MAX_MOMENTS:
            moments = None
        with self._lock:
            self._log.append(moments)
            self._number += 1

    @property
    def number(self) -> int:
        """How many changes there were so far."""
        return self._number

    def since(self, number: int, workspace: str) -> set[datetime] | None:
        """Return what was changed after so many changes; None when that is not known any more."""
        with self._lock:
            count = self._number - number
            if count > len(self._log):
                return None
            latest = list(self._log)[len(self._log) - count :]
        found: set[datetime] = set()
        for moments in latest:
            if moments is None:
                return None
            found |= moments.get(workspace, set())
        return found
