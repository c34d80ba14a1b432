"""Looks up list prices of models when ingest stores their first spans."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.prices import PriceKey, PricePeriod
from spanwise.storage.telemetry.prices.price_dictionary import put_prices
from spanwise.storage.telemetry.rows.batch_rows import BatchRows
from spanwise.storage.telemetry.write.repricing import reprice_batch

PriceFinder = Callable[[str, str], Sequence[PricePeriod]]

# A lookup takes up to 0.3 ms while readers wait; further lookups of a batch are postponed.
INLINE_LOOKUPS = 100
# Per workspace: model names are arbitrary, and all workspaces share the price list.
MAX_LOOKUPS = 1000
_MAX_WITHOUT_PRICE = 100_000


class PriceLookups:
    """Remembers which models were looked up; not thread-safe."""

    def __init__(self, find_prices: PriceFinder, cluster: str | None) -> None:
        self._find_prices = find_prices
        self._cluster = cluster
        self._without_price: set[PriceKey] = set()
        # When the engine got the price: spans that were received later have it.
        self._priced_at: dict[PriceKey, int] = {}
        self._lookups: Counter[str] = Counter()
        self._postponed: set[PriceKey] = set()

    def price_batch(
        self, client: Client, rows: BatchRows, unpriced: Iterable[tuple[str, str, str]]
    ) -> bool:
        """Look up unpriced models and reprice a batch's spans; returns whether there were any.

        `unpriced` has the workspace, the provider and the name of each model.
        """
        keys = [
            (workspace, PriceKey("", provider, model)) for workspace, provider, model in unpriced
        ]
        # A batch that was inserted before the engine had the price; others lack only some rate.
        late = {key for _, key in keys if rows.first_version <= self._priced_at.get(key, 0)}
        unknown = self._take_unknown(keys)
        found = {key: self._find_prices(key.provider, key.model) for key in unknown}
        self._remember_without_price(key for key, periods in found.items() if not periods)
        priced = {key: periods for key, periods in found.items() if periods}
        if priced:
            put_prices(client, priced, rows.last_version, self._cluster)
            self._priced_at |= dict.fromkeys(priced, time.time_ns())
        outdated = [*priced, *late]
        if outdated:
            reprice_batch(client, outdated, rows)
        return bool(outdated)

    def _take_unknown(self, unpriced: Iterable[tuple[str, PriceKey]]) -> list[PriceKey]:
        """Return the models to look up now; the rest is postponed."""
        unknown: dict[PriceKey, None] = {}
        for workspace, key in unpriced:
            if (
                key in self._without_price
                or key in self._priced_at
                or key in self._postponed
                or key in unknown
            ):
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

    def finish(self, keys: Iterable[PriceKey], without_price: Iterable[PriceKey]) -> None:
        """Remove looked-up models from the postponed ones; remember those without a price."""
        self._postponed.difference_update(keys)
        self._remember_without_price(without_price)

    def forget(self) -> None:
        """Look all models up again, because the price list is another one."""
        self._without_price.clear()
        self._priced_at.clear()
        self._lookups.clear()

    def _remember_without_price(self, keys: Iterable[PriceKey]) -> None:
        if len(self._without_price) >= _MAX_WITHOUT_PRICE:
            self._without_price = set()
        self._without_price.update(keys)
