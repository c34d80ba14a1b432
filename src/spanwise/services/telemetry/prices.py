"""Model prices set by workspaces: stored in the catalog, copied to the telemetry engine."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from spanwise.ingest.commit.versions import next_version
from spanwise.model.accounts import Principal
from spanwise.model.api_model import utc_now
from spanwise.model.errors import FieldProblem, Invalid, NotFound
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.prices import (
    ModelPrice,
    OwnPrice,
    PriceKey,
    PricePeriod,
    Repricing,
    SeenModel,
)
from spanwise.model.times import TimeRange
from spanwise.services.accounts import audit
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog import prices as stored
from spanwise.storage.catalog import repricing as tasks
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.prices.seen_models import find_seen_models
from spanwise.storage.telemetry.writer import TelemetryWriter

_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class RepricingProgress:
    """Repricing progress of this process since its start."""

    tasks_left: int = 0
    months_done: int = 0


class PriceSync:
    """Copies workspace prices from the catalog to the engine."""

    def __init__(self, catalog: Catalog, writer: TelemetryWriter) -> None:
        self._catalog = catalog
        self._writer = writer
        self._lock = asyncio.Lock()

    async def sync(self, key: PriceKey) -> bool:
        """Copy one workspace price to the engine; return whether it exists."""
        # With concurrent changes, the last reader of the catalog must also be the last writer.
        async with self._lock:
            async with self._catalog.read() as tx:
                price = await stored.find_price(tx, key.workspace, key.model)
            periods = own_periods(price)
            await asyncio.to_thread(self._writer.put_prices, key, periods, next_version())
        return price is not None


class Prices:
    """Workspace prices. `wake` starts the job that reprices stored spans."""

    def __init__(
        self,
        catalog: Catalog,
        engine: Engine,
        price_sync: PriceSync,
        wake: Callable[[], None],
    ) -> None:
        self._catalog = catalog
        self._engine = engine
        self._price_sync = price_sync
        self._wake = wake

    async def put(
        self, caller: Principal, model: str, given: Mapping[str, Any], address: str | None
    ) -> OwnPrice:
        """Set a price. Missing rates keep their value."""
        key = PriceKey(caller.workspace_id, "", model)
        async with self._catalog.write() as tx:
            before = await stored.find_price(tx, caller.workspace_id, model)
            price = _merge(model, before, given)
            await stored.put_price(tx, caller.workspace_id, price)
            await tasks.request_repricing(tx, key)
            await audit.record(
                tx,
                "price.set",
                workspace=caller.workspace_id,
                actor=caller.user_id,
                subject=model,
                address=address,
                **price.model_dump(mode="json", exclude={"model", "updated_at"}),
            )
        await self._apply_change(key)
        async with self._catalog.read() as tx:
            [described] = await _describe(tx, caller.workspace_id, [price])
        return described

    async def delete(self, caller: Principal, model: str, address: str | None) -> None:
        """Delete a workspace price: the list price applies again, also to stored spans."""
        key = PriceKey(caller.workspace_id, "", model)
        async with self._catalog.write() as tx:
            if not await stored.delete_price(tx, caller.workspace_id, model):
                raise NotFound("this workspace has set no price for that model")
            await tasks.request_repricing(tx, key)
            await audit.record(
                tx,
                "price.deleted",
                workspace=caller.workspace_id,
                actor=caller.user_id,
                subject=model,
                address=address,
            )
        await self._apply_change(key)

    async def list(self, workspace: str, page: PageRequest) -> Listing[OwnPrice]:
        async with self._catalog.read() as tx:
            listing = await stored.list_prices(tx, workspace, page)
            return Listing(await _describe(tx, workspace, listing.items), listing.total)

    async def list_repricing(self, workspace: str, page: PageRequest) -> Listing[Repricing]:
        async with self._catalog.read() as tx:
            listing = await tasks.list_tasks(tx, workspace, page)
        return Listing([task.describe() for task in listing.items], listing.total)

    async def find_models(
        self, workspace: str, period: TimeRange, page: PageRequest
    ) -> Listing[SeenModel]:
        return await find_seen_models(self._engine, workspace, period, page)

    async def _apply_change(self, key: PriceKey) -> None:
        # New spans use the price at once; the job reprices stored ones.
        await self._price_sync.sync(key)
        self._wake()


async def _describe(
    tx: Transaction, workspace: str, prices: Sequence[ModelPrice]
) -> list[OwnPrice]:
    """Add the repricing progress to prices."""
    found = await tasks.find_tasks(tx, workspace, [price.model for price in prices])
    return [
        OwnPrice(
            **price.model_dump(),
            repricing=found[price.model].describe() if price.model in found else None,
        )
        for price in prices
    ]


def own_periods(price: ModelPrice | None) -> list[PricePeriod]:
    """Return the price periods: a workspace price applies to all times."""
    return [] if price is None else [PricePeriod(_ALWAYS, price.to_rates())]


def _merge(model: str, before: ModelPrice | None, given: Mapping[str, Any]) -> ModelPrice:
    values = {**(before.model_dump(by_alias=False) if before else {}), **given}
    try:
        return ModelPrice.model_validate({**values, "model": model, "updated_at": utc_now()})
    except ValidationError as error:
        problems = [
            FieldProblem(field=to_camel(str(p["loc"][0])), message=p["msg"]) for p in error.errors()
        ]
        raise Invalid(f"{problems[0].field}: {problems[0].message}", problems) from None
