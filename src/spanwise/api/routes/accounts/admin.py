"""Routes for administrators of the installation: users, statistics, audit log."""

import platform
import shutil
import time
from typing import Annotated

from fastapi import Query
from pydantic import StrictBool

from spanwise import __version__
from spanwise.api.auth import Admin, ClientAddress
from spanwise.api.http.envelope import Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.parameters import Paged, Period
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import Ingest, Use, UseIdentity
from spanwise.model.accounts import AdminUser, AuditEntry, AuditFilter, Role
from spanwise.model.api_model import ApiModel
from spanwise.storage.catalog.accounts import audit as stored_audit
from spanwise.storage.catalog.accounts import users as stored_users
from spanwise.storage.telemetry.engine.table_sizes import measure_tables

router = PrefixRouter("admin", "/admin")

_STARTED = time.monotonic()


class UserChange(ApiModel):
    role: Role | None = None
    disabled: StrictBool | None = None


class Versions(ApiModel):
    spanwise: str
    python: str
    catalog: str
    telemetry: str


class TableStats(ApiModel):
    """Rows as stored: duplicates count until the engine merges them."""

    table: str
    rows: int
    bytes: int


class IngestStats(ApiModel):
    spans_per_second: float
    accepted: dict[str, int]
    rejected: dict[str, int]
    waiting_bytes: int
    backlog_bytes: int
    is_stalled: bool


class Stats(ApiModel):
    users: int
    uptime_seconds: int
    disk_free_bytes: int
    rows: int
    bytes: int
    tables: list[TableStats]
    ingest: IngestStats
    repricing_tasks: int
    versions: Versions


@router.get("/users")
async def list_users(_caller: Admin, use: Use, page: Paged) -> SuccessPage[AdminUser]:
    """List all accounts of the installation, oldest first."""
    async with use.catalog.read() as tx:
        return succeed_page(page, await stored_users.list_users(tx, page))


@router.put("/users/{id}")
async def update_user(
    id: str,  # noqa: A002 -- the name in the path
    body: UserChange,
    caller: Admin,
    identity: UseIdentity,
    address: ClientAddress,
) -> Success[AdminUser]:
    """Change a role, or disable an account, which ends its sign-ins.

    Keys belong to workspaces: they work while the workspace has another active member.
    """
    return succeed(
        await identity.accounts.administer(caller, id, body.role, body.disabled, address)
    )


@router.get("/stats")
async def get_stats(_caller: Admin, use: Use) -> Success[Stats]:
    """Get statistics of the installation."""
    async with use.catalog.read() as tx:
        users = await stored_users.count_users(tx)
    tables = await measure_tables(use.engine)
    return succeed(
        Stats(
            users=users,
            uptime_seconds=int(time.monotonic() - _STARTED),
            disk_free_bytes=shutil.disk_usage(use.settings.data_dir).free,
            rows=sum(table.rows for table in tables),
            bytes=sum(table.size_bytes for table in tables),
            tables=[TableStats(table=t.table, rows=t.rows, bytes=t.size_bytes) for t in tables],
            ingest=_ingest_stats(use.ingest),
            repricing_tasks=use.telemetry.repricing.tasks_left,
            versions=Versions(
                spanwise=__version__,
                python=platform.python_version(),
                catalog=await use.catalog.version(),
                telemetry=await use.engine.version(),
            ),
        )
    )


def _ingest_stats(ingest: Ingest) -> IngestStats:
    load = ingest.pipeline.load()
    return IngestStats(
        spans_per_second=round(ingest.counters.spans_per_second(), 3),
        accepted=dict(ingest.counters.accepted),
        rejected=dict(ingest.counters.rejected),
        waiting_bytes=load.waiting_bytes,
        backlog_bytes=load.backlog_bytes,
        is_stalled=load.is_stalled,
    )


@router.get("/audit")
async def list_audit(
    _caller: Admin,
    use: Use,
    page: Paged,
    period: Period,
    action: Annotated[str | None, Query(description="Only this action.")] = None,
) -> SuccessPage[AuditEntry]:
    """List sign-ins (including failed ones), key changes and role changes, newest first."""
    filters = AuditFilter(period, action=action)
    async with use.catalog.read() as tx:
        return succeed_page(page, await stored_audit.list_entries(tx, filters, page))
