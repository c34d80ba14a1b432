"""Which variant a unit gets, and the exposure that is written down when it gets it."""

import time
from dataclasses import dataclass

from spanwise.model.experiments import Experiment
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import experiments as stored

# A change made by another process is seen after this long at the latest.
CACHE_SECONDS = 2.0
_CACHE_ENTRIES = 10_000


@dataclass(frozen=True)
class _Entry:
    experiment: Experiment | None
    fresh_until: float


class Definitions:
    """Experiments as read in the last seconds; forgotten at once when changed in this process."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._entries: dict[tuple[str, str], _Entry] = {}
        self._generation = 0

    async def find(self, workspace: str, key: str) -> Experiment | None:
        """Return the experiment with this id or name."""
        entry = self._entries.get((workspace, key))
        if entry is not None and entry.fresh_until > time.monotonic():
            return entry.experiment
        generation = self._generation
        async with self._catalog.read() as tx:
            experiment = await stored.find_experiment_by_key(tx, workspace, key)
        if generation == self._generation:
            if len(self._entries) >= _CACHE_ENTRIES:
                self._entries.clear()
            until = time.monotonic() + CACHE_SECONDS
            self._entries[workspace, key] = _Entry(experiment, until)
        return experiment

    def forget(self, workspace: str) -> None:
        self._generation += 1
        self._entries = {key: e for key, e in self._entries.items() if key[0] != workspace}
