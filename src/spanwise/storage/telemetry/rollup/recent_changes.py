"""Remembers which traces' times the latest batches changed, so that readers need not look."""

import threading
from collections import Counter, deque
from collections.abc import Mapping
from datetime import datetime

# A batch that changes more moments than this is looked up in the store like an unknown one.
MAX_MOMENTS = 3000
_REMEMBERED = 100
_LATEST = 10

# Workspace -> agent -> the beginnings of the slices in which changed traces start -> how many.
Moments = Mapping[str, Mapping[str, Mapping[datetime, int]]]


class Changes:
    """A log of the latest changes. One thread notes them, all may read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._log: deque[Moments | None] = deque(maxlen=_REMEMBERED)

    def note(self, moments: Moments | None) -> None:
        """Note a change, once it is visible; None when nobody knows what it changed."""
        if moments is not None and _count(moments) > MAX_MOMENTS:
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
            for of_agent in moments.get(workspace, {}).values():
                found.update(of_agent)
        return found

    def busy_since(
        self, workspace: str, agent: str | None, traces: int, before: datetime | None
    ) -> datetime | None:
        """Return since when about so many traces have started, as the latest changes tell.

        A trace that was changed more than once counts more than once.
        """
        with self._lock:
            latest = list(self._log)[-_LATEST:]
        counts = Counter[datetime]()
        for moments in latest:
            by_agent = moments.get(workspace, {}) if moments else {}
            for name, of_agent in by_agent.items():
                counts.update(of_agent if agent in (None, name) else {})
        for moment in sorted(counts, reverse=True):
            if before is not None and moment >= before:
                continue
            traces -= counts[moment]
            if traces <= 0:
                return moment
        return None


def _count(moments: Moments) -> int:
    return sum(len(of_agent) for agents in moments.values() for of_agent in agents.values())
