"""Prices that a workspace has set for models and tools, each from a date on."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, delete, func, insert, select, update

from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.prices import ModelPrice, PriceKind
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import model_prices

# Stands for a price without a date, because a primary key cannot be null.
_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)


async def put_price(tx: Transaction, workspace_id: str, price: ModelPrice) -> None:
    """Insert a price, or replace the one of the same date."""
    values = price.model_dump(by_alias=False)
    values["effective_from"] = price.effective_from or _ALWAYS
    changed = await tx.execute(
        update(model_prices)
        .where(_is_of(workspace_id, price.kind, price.model), _is_from(price.effective_from))
        .values(values)
    )
    if changed.rowcount == 0:
        await tx.execute(insert(model_prices).values(workspace_id=workspace_id, **values))


async def delete_prices(
    tx: Transaction,
    workspace_id: str,
    kind: PriceKind,
    name: str,
    effective_from: datetime | None,
    *,
    has_date: bool,
) -> bool:
    """Remove the price of one date, or all of a model; False when there is none."""
    condition = _is_of(workspace_id, kind, name)
    if has_date:
        condition = and_(condition, _is_from(effective_from))
    deleted = await tx.execute(delete(model_prices).where(condition))
    return deleted.rowcount > 0


async def find_prices(
    tx: Transaction, workspace_id: str, kind: PriceKind, name: str
) -> list[ModelPrice]:
    """Return a workspace's prices of a model or tool, the oldest first."""
    rows = await tx.execute(
        select(model_prices)
        .where(_is_of(workspace_id, kind, name))
        .order_by(model_prices.c.effective_from)
    )
    return [_to_price(row) for row in rows]


async def list_prices(tx: Transaction, workspace_id: str, page: PageRequest) -> Listing[ModelPrice]:
    """Return one page of a workspace's own prices, by name and date."""
    in_workspace = model_prices.c.workspace_id == workspace_id
    total = await tx.execute(select(func.count()).select_from(model_prices).where(in_workspace))
    rows = await tx.execute(
        select(model_prices)
        .where(in_workspace)
        .order_by(model_prices.c.model, model_prices.c.kind, model_prices.c.effective_from)
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing([_to_price(row) for row in rows], total.scalar_one())


async def list_all_prices(tx: Transaction) -> list[tuple[str, ModelPrice]]:
    """Return the prices of all workspaces, the oldest first; for internal jobs only."""
    rows = await tx.execute(select(model_prices).order_by(model_prices.c.effective_from))
    return [(row.workspace_id, _to_price(row)) for row in rows]


def _is_of(workspace_id: str, kind: PriceKind, name: str) -> ColumnElement[bool]:
    return and_(
        model_prices.c.workspace_id == workspace_id,
        model_prices.c.kind == kind,
        model_prices.c.model == name,
    )


def _is_from(effective_from: datetime | None) -> ColumnElement[bool]:
    return model_prices.c.effective_from == (effective_from or _ALWAYS)


def _to_price(row: Row[Any]) -> ModelPrice:
    values = dict(row._mapping)
    if values["effective_from"] == _ALWAYS:
        values["effective_from"] = None
    return ModelPrice.model_validate(values)
