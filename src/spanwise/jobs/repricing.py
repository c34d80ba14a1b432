"""Reprices stored spans in the background, month by month, when a price appears or changes.

Tasks are stored in the catalog: they continue after a restart, and one replica at a time claims a
price. Repricing a month twice is harmless, because spans with the right cost are not changed.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

import structlog

from spanwise.ingest.records.versions import next_version
from spanwise.jobs.periodic import Periodic
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.telemetry.prices import (
    TOOL,
    ModelPrice,
    PriceKey,
    PricePeriod,
    RepricingTask,
    own_key,
)
from spanwise.services.telemetry.price_list import PriceList
from spanwise.services.telemetry.prices import PriceSync, RepricingProgress, own_periods
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import prices as own_prices
from spanwise.storage.catalog import repricing as tasks
from spanwise.storage.telemetry.prices.price_dictionary import find_known_prices
from spanwise.storage.telemetry.write.price_lookups import MAX_LOOKUPS
from spanwise.storage.telemetry.write.repricing import (
    find_months_to_reprice,
    find_providers,
    find_unpriced,
    reprice_hours,
    split_month,
)
from spanwise.storage.telemetry.write.writer import TelemetryWriter

log = structlog.get_logger()

POLL_SECONDS = 30.0
CLAIM_SECONDS = 120
# Column widths of the catalog; no price list has longer names.
_MAX_PROVIDER, _MAX_MODEL = 200, 512


class Repricer:
    """`is_only_process`: no other process uses the engine, so claims found at start are stale."""

    def __init__(
        self,
        catalog: Catalog,
        writer: TelemetryWriter,
        price_sync: PriceSync,
        price_list: PriceList,
        *,
        is_only_process: bool,
    ) -> None:
        self._catalog = catalog
        self._writer = writer
        self._price_sync = price_sync
        self._price_list = price_list
        self._is_alone = is_only_process
        self._worker_id = new_id("wrk")
        self._stopping = False
        self._has_reviewed = False
        self._job = Periodic("reprice", POLL_SECONDS, self._run, runs_on_start=True, finishes=True)
        self.progress = RepricingProgress()

    def start(self) -> None:
        self._job.start()

    def wake(self) -> None:
        """Check for tasks now instead of at the next poll."""
        self._job.wake()

    async def stop(self) -> None:
        """Finish the current range of hours; the next process continues with the rest."""
        self._stopping = True
        await self._job.stop()
        await self._release(self._worker_id)

    async def _release(self, worker: str | None) -> None:
        async with self._catalog.write() as tx:
            await tasks.release_claims(tx, worker)

    async def _run(self) -> None:
        if await asyncio.to_thread(self._price_list.refresh):
            self._writer.forget_lookups()
            self._has_reviewed = False
        if not self._has_reviewed:
            if self._is_alone:
                await self._release(None)
            await self.review_prices()
            self._has_reviewed = True
        await self.look_up_postponed()
        await self.run_tasks()

    async def review_prices(self) -> None:
        """Request repricing where the engine's prices are outdated, such as after an upgrade."""
        async with self._catalog.read() as tx:
            own = await own_prices.list_all_prices(tx)
        by_key: dict[PriceKey, list[ModelPrice]] = {}
        for workspace, price in own:
            by_key.setdefault(own_key(workspace, price.kind, price.model), []).append(price)
        current: dict[PriceKey, Sequence[PricePeriod]] = {
            key: own_periods(prices) for key, prices in by_key.items()
        }
        known = await asyncio.to_thread(self._writer.run_exclusively, find_known_prices)
        unpriced = await asyncio.to_thread(
            self._writer.run_exclusively, lambda client: find_unpriced(client, MAX_LOOKUPS)
        )
        listed = {key for key in known if not key.workspace}
        keys = listed | {PriceKey("", provider, model) for provider, model in unpriced}
        current |= await self._look_up(keys)
        changed = [key for key, periods in current.items() if list(periods) != known.get(key, [])]
        await self._request(changed)
        if changed:
            log.info("prices_changed", models=len(changed))

    async def look_up_postponed(self) -> None:
        """Look up the prices that ingest postponed; request repricing of models that have one."""
        keys = self._writer.postponed_lookups()
        periods_by_key = await self._look_up(keys)
        await self._request(key for key, periods in periods_by_key.items() if periods)
        self._writer.finish_lookups(keys, [key for key in keys if not periods_by_key.get(key)])

    async def _request(self, keys: Iterable[PriceKey]) -> None:
        # One transaction per key, so that other catalog writers are not blocked.
        for key in keys:
            async with self._catalog.write() as tx:
                await tasks.request_repricing(tx, key)

    async def _look_up(self, keys: Iterable[PriceKey]) -> dict[PriceKey, Sequence[PricePeriod]]:
        """Find list prices in a thread: thousands of names take seconds."""
        named = [k for k in keys if len(k.provider) <= _MAX_PROVIDER and len(k.model) <= _MAX_MODEL]

        def look_up() -> dict[PriceKey, Sequence[PricePeriod]]:
            return {key: self._price_list.find(key.provider, key.model) for key in named}

        return await asyncio.to_thread(look_up)

    async def run_tasks(self) -> None:
        """Run all tasks that no other worker has claimed."""
        while not self._stopping:
            now = utc_now()
            async with self._catalog.write() as tx:
                task = await tasks.claim_repricing(
                    tx, self._worker_id, now, now + timedelta(seconds=CLAIM_SECONDS)
                )
                self.progress.tasks_left = await tasks.count_unfinished(tx)
            if task is None:
                return
            await self._run_task(task)

    async def _run_task(self, task: RepricingTask) -> None:
        key = task.key
        await self._update_engine_price(key)
        left = task.months_left
        if left is None:
            left = tuple(
                await asyncio.to_thread(
                    self._writer.run_exclusively, lambda client: find_months_to_reprice(client, key)
                )
            )
            task = replace(task, months_left=left, months_total=len(left))
            log.info("repricing_started", model=key.model, months=len(left))
        is_current = await self._save_progress(task, left)
        while left and is_current and not self._stopping:
            is_current = await self._reprice_month(task, left)
            if is_current and not self._stopping:
                left = left[1:]
                is_current = await self._save_progress(task, left)
                self.progress.months_done += 1
                log.info("repricing_progress", model=key.model, months_left=len(left))
        if is_current and not left:
            log.info("repricing_done", model=key.model)

    async def _update_engine_price(self, key: PriceKey) -> None:
        """Write the current price to the engine; it may have changed since the request."""
        if not key.workspace:
            await self._put_list_price(key)
            return
        await self._price_sync.sync(key)
        if key.provider != TOOL:
            # The list price applies where no own price does, and the engine may not have it yet.
            providers = await asyncio.to_thread(
                self._writer.run_exclusively, lambda client: find_providers(client, key)
            )
            for provider in providers:
                await self._put_list_price(PriceKey("", provider, key.model))

    async def _put_list_price(self, key: PriceKey) -> None:
        periods = self._price_list.find(key.provider, key.model)
        await asyncio.to_thread(self._writer.put_prices, key, periods, next_version())

    async def _reprice_month(self, task: RepricingTask, left: Sequence[int]) -> bool:
        """Reprice a month range by range, with ingest in between; False when the price changed."""
        key = task.key
        ranges = await asyncio.to_thread(
            self._writer.run_exclusively, lambda client: split_month(client, key, left[0])
        )
        for hours in ranges:
            if self._stopping:
                break
            await asyncio.to_thread(
                self._writer.run_exclusively,
                partial(reprice_hours, key=key, hours=hours),
            )
            if not await self._save_progress(task, left):
                return False
        return True

    async def _save_progress(self, task: RepricingTask, left: Sequence[int]) -> bool:
        until = utc_now() + timedelta(seconds=CLAIM_SECONDS)
        async with self._catalog.write() as tx:
            return await tasks.save_progress(tx, task, left, self._worker_id, until)
