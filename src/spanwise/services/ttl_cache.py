"""In-process TTL cache for values that every request needs from the catalog."""

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

_MAX_ENTRIES = 10_000
# After this share of the TTL one request reloads the value while others still use the cached one,
# so that requests do not all wait for the database at once.
_REFRESH_AFTER = 0.75

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@dataclass(slots=True)
class _Entry(Generic[T]):
    value: T
    refresh_at: float
    expires_at: float


@dataclass(frozen=True)
class Load:
    """A load in progress: its start, and the number of invalidations before it."""

    generation: int
    started: float


class TtlCache(Generic[K, T]):
    """Serves values for their TTL, unless they are invalidated before."""

    def __init__(self) -> None:
        self._entries: dict[K, _Entry[T]] = {}
        self._generation = 0

    def get(self, key: K) -> T | None:
        """Return the cached value; None if it is missing or the caller should reload it."""
        entry = self._entries.get(key)
        return entry.value if entry is not None and time.monotonic() < entry.refresh_at else None

    def start_load(self, key: K) -> Load:
        """Start a load: until `put`, other callers get the cached value up to its TTL."""
        if (entry := self._entries.get(key)) is not None:
            entry.refresh_at = entry.expires_at
        return Load(self._generation, time.monotonic())

    def put(self, key: K, value: T | None, load: Load, ttl_seconds: float) -> None:
        """Cache a loaded value, unless an invalidation happened during the load."""
        if value is None:
            self._entries.pop(key, None)
        if value is None or load.generation != self._generation:
            return
        if len(self._entries) >= _MAX_ENTRIES:
            self._entries.clear()
        # The TTL counts from the start of the load: a slow load may return a state that old.
        self._entries[key] = _Entry(
            value, load.started + ttl_seconds * _REFRESH_AFTER, load.started + ttl_seconds
        )

    def invalidate(self, matches: Callable[[K, T], bool]) -> None:
        """Drop matching entries, and the results of all loads in progress."""
        self._generation += 1
        self._entries = {k: e for k, e in self._entries.items() if not matches(k, e.value)}
