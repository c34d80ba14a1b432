"""Gives earlier spans the cost of a price that appeared or changed: in the background, by months.

What is to be done is in the catalog, so that it goes on after a restart and one replica at a time
works on a price. Doing a month twice is harmless: what has its right cost already stays.
"""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

import structlog

from spanwise.ingest.commit.versions import next_version
from spanwise.model.record import new_id, utc_now
from spanwise.model.telemetry.prices import PriceKey, PricePeriod, RepricingTask
from spanwise.services.telemetry.prices import PriceSync, RepricingProgress, own_periods
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import prices as own_prices
from spanwise.storage.catalog import repricing as tasks
from spanwise.storage.telemetry.prices.prices import find_known_prices
from spanwise.storage.telemetry.prices.repricing import (
    find_providers,
    find_unpriced,
    months_to_reprice,
    pieces_of_month,
    reprice_piece,
)
from spanwise.storage.telemetry.writer import MAX_LOOKUPS, PriceFinder, Writer

log = structlog.get_logger()

LOOK_SECONDS = 30.0
CLAIM_SECONDS = 120
# What the catalog can name; anything longer is not a model that anyone has a price for.
_MAX_PROVIDER, _MAX_MODEL = 200, 512


class Repricer:
    """`is_alone`: the engine belongs to this process, so claims of others are of dead ones."""

    def __init__(
        self,
        catalog: Catalog,
        writer: Writer,
        book: PriceSync,
        find_prices: PriceFinder,
        *,
        is_alone: bool,
    ) -> None:
        self._catalog = catalog
        self._writer = writer
        self._price_sync = book
        self._find_prices = find_prices
        self._is_alone = is_alone
        self._name = new_id("wrk")
        self._wake = asyncio.Event()
        self._stopping = False
        self._task: asyncio.Task[None] | None = None
        self.progress = RepricingProgress()

    def start(self) -> None:
        self._task = asyncio.create_task(self._loop(), name="reprice")

    def wake(self) -> None:
        """There is a task to look for."""
        self._wake.set()

    async def stop(self) -> None:
        """Finish the piece under way; the rest is done by whoever comes next."""
        self._stopping = True
        self._wake.set()
        if self._task is not None:
            await self._task
        await self._release(self._name)

    async def _release(self, worker: str | None) -> None:
        async with self._catalog.write() as tx:
            await tasks.release_claims(tx, worker)

    async def _loop(self) -> None:
        is_reviewed = False
        while not self._stopping:
            self._wake.clear()
            try:
                if not is_reviewed:
                    if self._is_alone:
                        await self._release(None)
                    await self.review()
                    is_reviewed = True
                await self.look_up_postponed()
                await self.work()
            except Exception:
                log.exception("job_failed", job="reprice")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._wake.wait()

    async def review(self) -> None:
        """Ask for what changed while nobody looked: a newer price list, or an emptied engine."""
        async with self._catalog.read() as tx:
            own = await own_prices.all_prices(tx)
        wanted: dict[PriceKey, Sequence[PricePeriod]] = {
            PriceKey(workspace, "", price.model): own_periods(price) for workspace, price in own
        }
        known = await asyncio.to_thread(self._writer.exclusively, find_known_prices)
        unpriced = await asyncio.to_thread(
            self._writer.exclusively, lambda client: find_unpriced(client, MAX_LOOKUPS)
        )
        listed = {key for key in known if not key.workspace}
        keys = listed | {PriceKey("", provider, model) for provider, model in unpriced}
        wanted |= await self._look_up(keys)
        changed = [key for key, periods in wanted.items() if list(periods) != known.get(key, [])]
        await self._request(changed)
        if changed:
            log.info("prices_changed", models=len(changed))

    async def look_up_postponed(self) -> None:
        """Look up models that came in too many at once; those with a price are priced again."""
        keys = self._writer.postponed()
        found = await self._look_up(keys)
        await self._request(key for key, periods in found.items() if periods)
        self._writer.note_looked_up(keys, [key for key in keys if not found.get(key)])

    async def _request(self, keys: Iterable[PriceKey]) -> None:
        # A transaction each: other writers of the catalog have their turn in between.
        for key in keys:
            async with self._catalog.write() as tx:
                await tasks.request_repricing(tx, key)

    async def _look_up(self, keys: Iterable[PriceKey]) -> dict[PriceKey, Sequence[PricePeriod]]:
        """Find list prices, in a thread: for thousands of names it takes seconds."""
        named = [k for k in keys if len(k.provider) <= _MAX_PROVIDER and len(k.model) <= _MAX_MODEL]

        def look_up() -> dict[PriceKey, Sequence[PricePeriod]]:
            return {key: self._find_prices(key.provider, key.model) for key in named}

        return await asyncio.to_thread(look_up)

    async def work(self) -> None:
        """Do all tasks that nobody else is at."""
        while not self._stopping:
            now = utc_now()
            async with self._catalog.write() as tx:
                task = await tasks.claim_repricing(
                    tx, self._name, now, now + timedelta(seconds=CLAIM_SECONDS)
                )
                self.progress.tasks_left = await tasks.count_undone(tx)
            if task is None:
                return
            await self._do(task)

    async def _do(self, task: RepricingTask) -> None:
        key = task.key
        await self._prepare(key)
        left = task.months_left
        if left is None:
            left = tuple(
                await asyncio.to_thread(
                    self._writer.exclusively, lambda client: months_to_reprice(client, key)
                )
            )
            task = replace(task, months_left=left, months_total=len(left))
            log.info("repricing_started", model=key.model, months=len(left))
        is_current = await self._save(task, left)
        while left and is_current and not self._stopping:
            is_current = await self._reprice_month(task, left)
            if is_current and not self._stopping:
                left = left[1:]
                is_current = await self._save(task, left)
                self.progress.months_done += 1
                log.info("repricing_progress", model=key.model, months_left=len(left))
        if is_current and not left:
            log.info("repricing_done", model=key.model)

    async def _prepare(self, key: PriceKey) -> None:
        """See to it that the engine has the price, whatever happened after it was asked for."""
        if not key.workspace:
            await self._put_list_price(key)
        elif not await self._price_sync.sync(key):
            # The list price takes over, and perhaps nobody has needed it so far.
            providers = await asyncio.to_thread(
                self._writer.exclusively, lambda client: find_providers(client, key)
            )
            for provider in providers:
                await self._put_list_price(PriceKey("", provider, key.model))

    async def _put_list_price(self, key: PriceKey) -> None:
        periods = self._find_prices(key.provider, key.model)
        await asyncio.to_thread(self._writer.put_prices, key, periods, next_version())

    async def _reprice_month(self, task: RepricingTask, left: Sequence[int]) -> bool:
        """Price one month in pieces; ingest has its turn after each. False: begin anew."""
        key = task.key
        pieces = await asyncio.to_thread(
            self._writer.exclusively, lambda client: pieces_of_month(client, key, left[0])
        )
        for piece in pieces:
            if self._stopping:
                break
            await asyncio.to_thread(
                self._writer.exclusively,
                partial(reprice_piece, key=key, piece=piece),
            )
            if not await self._save(task, left):
                return False
        return True

    async def _save(self, task: RepricingTask, left: Sequence[int]) -> bool:
        until = utc_now() + timedelta(seconds=CLAIM_SECONDS)
        async with self._catalog.write() as tx:
            return await tasks.save_progress(tx, task, left, self._name, until)
