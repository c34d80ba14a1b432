"""Views and dashboards: two tables with the same rule of who sees a row."""

from collections.abc import Mapping
from typing import Any, TypeVar

from sqlalchemy import (
    ColumnElement,
    Row,
    Table,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    true,
    update,
)

from spanwise.model.dashboards.views import Dashboard, SharedRecord, View
from spanwise.model.page import Listing, PageRequest
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import dashboards, views

T = TypeVar("T", bound=SharedRecord)

_TABLES: Mapping[type[SharedRecord], Table] = {View: views, Dashboard: dashboards}


async def add_record(tx: Transaction, workspace_id: str, record: SharedRecord) -> None:
    values = {**_to_columns(record), "workspace_id": workspace_id}
    await tx.execute(insert(_TABLES[type(record)]).values(values))


async def count_records(tx: Transaction, kind: type[SharedRecord], workspace_id: str) -> int:
    table = _TABLES[kind]
    query = select(func.count()).select_from(table).where(table.c.workspace_id == workspace_id)
    return (await tx.execute(query)).scalar_one()


async def list_records(
    tx: Transaction,
    kind: type[T],
    workspace_id: str,
    user_id: str,
    page: PageRequest,
    on_page: str | None = None,
) -> Listing[T]:
    """Return a page of the records that a person sees, newest first; views of one page only."""
    table = _TABLES[kind]
    of_page = true() if on_page is None else table.c.page == on_page
    condition = and_(_is_visible(table, workspace_id, user_id), of_page)
    total = await tx.execute(select(func.count()).select_from(table).where(condition))
    query = select(table).where(condition).order_by(table.c.id.desc())
    rows = await tx.execute(query.limit(page.limit).offset(page.skip))
    return Listing([_to_record(kind, row) for row in rows], total.scalar_one())


async def find_record(
    tx: Transaction, kind: type[T], workspace_id: str, user_id: str, record_id: str
) -> T | None:
    """Return a record that a person sees, or None."""
    table = _TABLES[kind]
    condition = and_(_is_visible(table, workspace_id, user_id), table.c.id == record_id)
    row = (await tx.execute(select(table).where(condition))).one_or_none()
    return None if row is None else _to_record(kind, row)


async def update_record(tx: Transaction, workspace_id: str, record: SharedRecord) -> None:
    table = _TABLES[type(record)]
    of_record = and_(table.c.workspace_id == workspace_id, table.c.id == record.id)
    await tx.execute(update(table).where(of_record).values(_to_columns(record)))


async def delete_record(tx: Transaction, workspace_id: str, record: SharedRecord) -> None:
    table = _TABLES[type(record)]
    of_record = and_(table.c.workspace_id == workspace_id, table.c.id == record.id)
    await tx.execute(delete(table).where(of_record))


def _is_visible(table: Table, workspace_id: str, user_id: str) -> ColumnElement[bool]:
    return and_(
        table.c.workspace_id == workspace_id,
        or_(table.c.is_shared.is_(True), table.c.owner_id == user_id),
    )


def _to_columns(record: SharedRecord) -> dict[str, Any]:
    """Return the column values; panels are JSON."""
    values = record.model_dump(by_alias=False)
    if isinstance(record, Dashboard):
        values["panels"] = [panel.model_dump(mode="json") for panel in record.panels]
    return values


def _to_record(kind: type[T], row: Row[Any]) -> T:
    values = row._mapping
    return kind.model_validate({name: values[name] for name in kind.model_fields})
