"""Lets maintenance skip runs while nothing is written, so that an idle service stays idle."""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from spanwise.storage.telemetry.rollup.recent_changes import RecentChanges


@dataclass
class Completion:
    """Whether a run has done all there was to do."""

    is_complete: bool = True


class IdleCheck:
    """Knows whether a run has something to do.

    A run is skipped if an earlier one finished `delay_seconds` after the last change, at most
    `max_seconds` ago. With other writers, changes are unknown and runs are never skipped.
    """

    def __init__(
        self,
        changes: RecentChanges | None,
        delay_seconds: float = 0,
        max_seconds: float = math.inf,
    ) -> None:
        self._changes = changes
        self._delay_seconds = delay_seconds
        self._max_seconds = max_seconds
        self._count = -1
        self._changed_at = -math.inf
        self._completed_at = -math.inf

    def has_work(self) -> bool:
        if self._changes is None:
            return True
        now = time.monotonic()
        if self._changes.count != self._count:
            self._count, self._changed_at = self._changes.count, now
        is_seen = self._completed_at >= self._changed_at + self._delay_seconds
        return not is_seen or now - self._completed_at > self._max_seconds

    @contextmanager
    def completing(self) -> Iterator[Completion]:
        """Record a run; one that raises or is not complete is run again."""
        started, completion = time.monotonic(), Completion()
        yield completion
        if completion.is_complete:
            self._completed_at = started
