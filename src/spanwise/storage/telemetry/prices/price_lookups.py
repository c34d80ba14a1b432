"""Looks up list prices of models when ingest stores their first spans."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.prices import PriceKey, PricePeriod
from spanwise.storage.telemetry.prices.price_dictionary import put_prices
from spanwise.storage.telemetry.prices.repricing import reprice_batch
from spanwise.storage.telemetry.spans.batch_rows import BatchRows

PriceFinder = Callable[[str, str], Sequence[PricePeriod]]

# A lookup takes up to 0.3 ms while readers wait; further lookups of a batch are postponed.
INLINE_LOOKUPS = 100
# Per workspace: model names are arbitrary, and all workspaces share the price list.
MAX_LOOKUPS = 1000
_MAX_LOOKED_UP = 100_000


class PriceLookups:
    """Remembers which models were looked up; not thread-safe."""

    def __init__(self, find_prices: PriceFinder, cluster: str | None) -> None:
        self._find_prices = find_prices
        self._cluster = cluster
        self._looked_up: set[PriceKey] = set()
        self._lookups: Counter[str] = Counter()
        self._postponed: set[PriceKey] = set()

    def price_batch(
        self, client: Client, rows: BatchRows, unpriced: Iterable[tuple[str, str, str]]
    ) -> None:
        """Look up unpriced models and reprice a batch's spans, before they are aggregated.

        `unpriced` has the workspace, the provider and the name of each model.
        """
        unknown = self._take_unknown(unpriced)
        found = {key: self._find_prices(key.provider, key.model) for key in unknown}
        self._remember(found)
        priced = {key: periods for key, periods in found.items() if periods}
        if priced:
            put_prices(client, priced, rows.last_version, self._cluster)
            reprice_batch(client, list(priced), rows)

    def _take_unknown(self, unpriced: Iterable[tuple[str, str, str]]) -> list[PriceKey]:
        """Return the models to look up now; the rest is postponed."""
        unknown: dict[PriceKey, None] = {}
        for workspace, provider, model in unpriced:
            key = PriceKey("", provider, model)
            if key in self._looked_up or key in self._postponed or key in unknown:
                continue
            if self._lookups[workspace] < MAX_LOOKUPS:
                self._lookups[workspace] += 1
                unknown[key] = None
        keys = list(unknown)
        self._postponed.update(keys[INLINE_LOOKUPS:])
        return keys[:INLINE_LOOKUPS]

    def postponed(self) -> list[PriceKey]:
        """Return models whose price was not looked up with their batch."""
        return list(self._postponed)

    def finish(self, keys: Collection[PriceKey]) -> None:
        """Move looked-up models from the postponed ones to those that need no lookup."""
        self._postponed.difference_update(keys)
        self._remember(keys)

    def forget(self) -> None:
        """Look all models up again, because the price list is another one."""
        self._looked_up.clear()
        self._lookups.clear()

    def _remember(self, keys: Iterable[PriceKey]) -> None:
        if len(self._looked_up) >= _MAX_LOOKED_UP:
            self._looked_up = set()
        self._looked_up.update(keys)
