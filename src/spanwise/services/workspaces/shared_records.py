"""Saved views and dashboards: create, list, change and delete, with an audit entry for each."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from spanwise.model.accounts import Principal
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.dashboards.views import MAX_RECORDS, SharedRecord
from spanwise.model.errors import Forbidden, Invalid, NotFound
from spanwise.model.page import Listing, PageRequest
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services.audit import record_action
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog import shared_records as stored

T = TypeVar("T", bound=SharedRecord)


class SharedRecords(Generic[T]):
    """The records of one kind. Others see a shared one; its owner and admins change it.

    An API key owns what it made, and sees nothing private of the person who made the key.
    """

    def __init__(self, catalog: Catalog, kind: type[T], id_prefix: str) -> None:
        self._catalog = catalog
        self._kind = kind
        self._id_prefix = id_prefix
        self._noun = kind.__name__.lower()

    async def create(self, caller: Principal, fields: Mapping[str, Any], address: str | None) -> T:
        now = utc_now()
        record = self._kind(
            **fields,
            id=new_id(self._id_prefix),
            owner_id=caller.caller_id,
            created_at=now,
            updated_at=now,
        )
        async with self._catalog.write() as tx:
            if await stored.count_records(tx, self._kind, caller.workspace_id) >= MAX_RECORDS:
                raise Invalid(f"a workspace has at most {MAX_RECORDS:,} {self._noun}s")
            await stored.add_record(tx, caller.workspace_id, record)
            await self._record(tx, caller, "created", record, address)
        return record

    async def list(
        self, caller: Principal, page: PageRequest, on_page: str | None = None
    ) -> Listing[T]:
        async with self._catalog.read() as tx:
            return await stored.list_records(
                tx, self._kind, caller.workspace_id, caller.caller_id, page, on_page
            )

    async def get(self, caller: Principal, record_id: str) -> T:
        async with self._catalog.read() as tx:
            return await self._require(tx, caller, record_id)

    async def change(
        self, caller: Principal, record_id: str, fields: Mapping[str, Any], address: str | None
    ) -> T:
        async with self._catalog.write() as tx:
            record = await self._require_own(tx, caller, record_id)
            changed = record.model_copy(update={**fields, "updated_at": utc_now()})
            await stored.update_record(tx, caller.workspace_id, changed)
            await self._record(tx, caller, "changed", changed, address)
        return changed

    async def delete(self, caller: Principal, record_id: str, address: str | None) -> None:
        async with self._catalog.write() as tx:
            record = await self._require_own(tx, caller, record_id)
            await stored.delete_record(tx, caller.workspace_id, record)
            await self._record(tx, caller, "deleted", record, address)

    async def _require(self, tx: Transaction, caller: Principal, record_id: str) -> T:
        record = await stored.find_record(
            tx, self._kind, caller.workspace_id, caller.caller_id, record_id
        )
        if record is None:
            raise NotFound(f"{self._noun} not found")
        return record

    async def _require_own(self, tx: Transaction, caller: Principal, record_id: str) -> T:
        """Return a record that the caller may change."""
        record = await self._require(tx, caller, record_id)
        is_admin = caller.role is not None and caller.role.includes(WorkspaceRole.ADMIN)
        if record.owner_id != caller.caller_id and not is_admin:
            raise Forbidden(f"only its owner or an admin may change this {self._noun}")
        return record

    async def _record(
        self, tx: Transaction, caller: Principal, action: str, record: T, address: str | None
    ) -> None:
        await record_action(
            tx, caller, f"{self._noun}.{action}", record.id, address, name=record.name
        )
