"""Values read in the last seconds, so that requests need not ask the database each time."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

_MAX_ENTRIES = 10_000
# After this share of its time a value is read anew: by one request, while others still have it.
# If all had to wait for it at once, they would queue up.
_RENEWED_AFTER = 0.75

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(slots=True)
class _Entry(Generic[T]):
    value: T
    renewed_at: float
    fresh_until: float


@dataclass(frozen=True)
class Reading:
    """A read under way: how old its outcome is, and whether something was forgotten meanwhile."""

    generation: int
    started: float


class RecentlySeen(Generic[K, T]):
    """Forgets at once what changes in this process."""

    def __init__(self) -> None:
        self._entries: dict[K, _Entry[T]] = {}
        self._generation = 0

    def get(self, key: K) -> T | None:
        """Return the value, unless it is unknown, or time that somebody reads it anew."""
        entry = self._entries.get(key)
        return entry.value if entry is not None and time.monotonic() < entry.renewed_at else None

    def begin_read(self, key: K) -> Reading:
        if (entry := self._entries.get(key)) is not None:
            entry.renewed_at = entry.fresh_until
        return Reading(self._generation, time.monotonic())

    def put(self, key: K, value: T | None, reading: Reading, seconds: float) -> None:
        """Keep what was read, unless something was forgotten while it was being read."""
        if value is None:
            self._entries.pop(key, None)
        if value is None or reading.generation != self._generation:
            return
        if len(self._entries) >= _MAX_ENTRIES:
            self._entries.clear()
        # A slow read shows how things were when it began, so its age counts from there.
        until = reading.started + seconds
        self._entries[key] = _Entry(value, reading.started + seconds * _RENEWED_AFTER, until)

    def forget(self, matches: Callable[[K, T], bool]) -> None:
        self._generation += 1
        self._entries = {k: e for k, e in self._entries.items() if not matches(k, e.value)}
