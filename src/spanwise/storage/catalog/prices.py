"""Model prices that a workspace has set."""

from sqlalchemy import delete, func, insert, select, update

from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.prices import ModelPrice
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import model_prices


async def put_price(tx: Transaction, workspace_id: str, price: ModelPrice) -> None:
    """Insert or replace the price of a model."""
    values = price.model_dump(by_alias=False)
    changed = await tx.execute(
        update(model_prices)
        .where(model_prices.c.workspace_id == workspace_id, model_prices.c.model == price.model)
        .values(values)
    )
    if changed.rowcount == 0:
        await tx.execute(insert(model_prices).values(workspace_id=workspace_id, **values))


async def delete_price(tx: Transaction, workspace_id: str, model: str) -> bool:
    """Remove a workspace's own price; False when it has none."""
    deleted = await tx.execute(
        delete(model_prices).where(
            model_prices.c.workspace_id == workspace_id, model_prices.c.model == model
        )
    )
    return deleted.rowcount > 0


async def find_price(tx: Transaction, workspace_id: str, model: str) -> ModelPrice | None:
    rows = await tx.execute(
        select(model_prices).where(
            model_prices.c.workspace_id == workspace_id, model_prices.c.model == model
        )
    )
    row = rows.one_or_none()
    return None if row is None else ModelPrice.model_validate(dict(row._mapping))


async def list_prices(tx: Transaction, workspace_id: str, page: PageRequest) -> Listing[ModelPrice]:
    """Return one page of a workspace's own prices, by the model's name."""
    in_workspace = model_prices.c.workspace_id == workspace_id
    total = await tx.execute(select(func.count()).select_from(model_prices).where(in_workspace))
    rows = await tx.execute(
        select(model_prices)
        .where(in_workspace)
        .order_by(model_prices.c.model)
        .limit(page.limit)
        .offset(page.skip)
    )
    items = [ModelPrice.model_validate(dict(row._mapping)) for row in rows]
    return Listing(items, total.scalar_one())


async def list_all_prices(tx: Transaction) -> list[tuple[str, ModelPrice]]:
    """Return the prices of all workspaces; for internal jobs only."""
    rows = await tx.execute(select(model_prices))
    return [(row.workspace_id, ModelPrice.model_validate(dict(row._mapping))) for row in rows]
