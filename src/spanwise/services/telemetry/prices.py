"""Model prices set by workspaces: stored in the catalog, copied to the telemetry engine."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from spanwise.ingest.records.versions import next_version
from spanwise.model.accounts import Principal
from spanwise.model.api_model import utc_now
from spanwise.model.errors import FieldProblem, Invalid, NotFound
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.prices import (
    TOOL,
    ModelPrice,
    OwnPrice,
    PriceKey,
    PriceKind,
    PriceListInfo,
    PricePeriod,
    Repricing,
    SeenModel,
    own_key,
)
from spanwise.model.times import TimeRange
from spanwise.services import audit
from spanwise.services.telemetry.price_list import PriceList
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog import prices as stored
from spanwise.storage.catalog import repricing as tasks
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.prices.seen_models import find_seen_models
from spanwise.storage.telemetry.write.writer import TelemetryWriter

_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class RepricingProgress:
    """Repricing progress of this process since its start."""

    tasks_left: int = 0
    months_done: int = 0


@dataclass(frozen=True)
class PriceSubject:
    """What a price is for, and from when on it applies; None means from the beginning."""

    kind: PriceKind
    name: str
    effective_from: datetime | None = None


class PriceSync:
    """Copies workspace prices from the catalog to the engine."""

    def __init__(self, catalog: Catalog, writer: TelemetryWriter) -> None:
        self._catalog = catalog
        self._writer = writer
        self._lock = asyncio.Lock()

    async def sync(self, key: PriceKey) -> None:
        """Copy a workspace's prices of one model or tool to the engine."""
        # With concurrent changes, the last reader of the catalog must also be the last writer.
        async with self._lock:
            kind = PriceKind.TOOL if key.provider == TOOL else PriceKind.MODEL
            async with self._catalog.read() as tx:
                prices = await stored.find_prices(tx, key.workspace, kind, key.model)
            periods = own_periods(prices)
            await asyncio.to_thread(self._writer.put_prices, key, periods, next_version())


class Prices:
    """Workspace prices. `wake` starts the job that reprices stored spans."""

    def __init__(
        self,
        catalog: Catalog,
        engine: Engine,
        price_sync: PriceSync,
        wake: Callable[[], None],
        price_list: PriceList,
    ) -> None:
        self._catalog = catalog
        self._engine = engine
        self._price_sync = price_sync
        self._wake = wake
        self._price_list = price_list

    async def put(
        self,
        caller: Principal,
        subject: PriceSubject,
        given: Mapping[str, Any],
        address: str | None,
    ) -> OwnPrice:
        """Set the price of a date. Missing rates keep their value."""
        key = own_key(caller.workspace_id, subject.kind, subject.name)
        async with self._catalog.write() as tx:
            stored_prices = await stored.find_prices(
                tx, caller.workspace_id, subject.kind, subject.name
            )
            before = next(
                (p for p in stored_prices if p.effective_from == subject.effective_from), None
            )
            price = _merge(subject, before, given)
            await stored.put_price(tx, caller.workspace_id, price)
            await tasks.request_repricing(tx, key)
            await audit.record(
                tx,
                "price.set",
                workspace=caller.workspace_id,
                actor=caller.user_id,
                subject=subject.name,
                address=address,
                **price.model_dump(mode="json", exclude={"model", "updated_at"}),
            )
        await self._apply_change(key)
        async with self._catalog.read() as tx:
            [described] = await _describe(tx, caller.workspace_id, [price])
        return described

    async def delete(
        self, caller: Principal, subject: PriceSubject, address: str | None, *, has_date: bool
    ) -> None:
        """Delete the price of one date, or all: the earlier or the list price applies again."""
        key = own_key(caller.workspace_id, subject.kind, subject.name)
        async with self._catalog.write() as tx:
            if not await stored.delete_prices(
                tx,
                caller.workspace_id,
                subject.kind,
                subject.name,
                subject.effective_from,
                has_date=has_date,
            ):
                raise NotFound(f"this workspace has set no such price for that {subject.kind}")
            await tasks.request_repricing(tx, key)
            await audit.record(
                tx,
                "price.deleted",
                workspace=caller.workspace_id,
                actor=caller.user_id,
                subject=subject.name,
                address=address,
            )
        await self._apply_change(key)

    async def list(self, workspace: str, page: PageRequest) -> Listing[OwnPrice]:
        async with self._catalog.read() as tx:
            listing = await stored.list_prices(tx, workspace, page)
            return Listing(await _describe(tx, workspace, listing.items), listing.total)

    @property
    def price_list(self) -> PriceListInfo:
        return self._price_list.info

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
    tasks_by_key = await tasks.find_tasks(tx, workspace, [price.model for price in prices])
    keys = [own_key(workspace, price.kind, price.model) for price in prices]
    return [
        OwnPrice(
            **price.model_dump(),
            repricing=tasks_by_key[key].describe() if key in tasks_by_key else None,
        )
        for price, key in zip(prices, keys, strict=True)
    ]


def own_periods(prices: Sequence[ModelPrice]) -> list[PricePeriod]:
    """Return the periods of the prices of a model or tool, given the oldest first."""
    return [PricePeriod(price.effective_from or _ALWAYS, price.to_rates()) for price in prices]


def _merge(
    subject: PriceSubject, before: ModelPrice | None, given: Mapping[str, Any]
) -> ModelPrice:
    values = {**(before.model_dump(by_alias=False) if before else {}), **given}
    if subject.kind is PriceKind.TOOL:
        _check_tool_rates(values)
        values |= {"input_per_million": 0.0, "output_per_million": 0.0}
    values |= {
        "kind": subject.kind,
        "model": subject.name,
        "effective_from": subject.effective_from,
        "updated_at": utc_now(),
    }
    try:
        return ModelPrice.model_validate(values)
    except ValidationError as error:
        problems = [
            FieldProblem(field=to_camel(str(p["loc"][0])), message=p["msg"]) for p in error.errors()
        ]
        raise Invalid(f"{problems[0].field}: {problems[0].message}", problems) from None


def _check_tool_rates(values: Mapping[str, Any]) -> None:
    if values.get("per_call") is None:
        raise Invalid.field("perCall", "the price of a tool is per call")
    for name in ModelPrice.model_fields:
        if (name.endswith("_per_million") or name == "per_image") and values.get(name):
            raise Invalid.field(to_camel(name), "a tool only has a price per call")
