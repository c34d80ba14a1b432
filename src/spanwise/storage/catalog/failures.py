"""Failures that people marked as known or muted."""

from sqlalchemy import delete, func, insert, select

from spanwise.model.telemetry.failures import FailureMark, FailureStatus
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import failure_marks


async def list_marks(tx: Transaction, workspace_id: str) -> list[FailureMark]:
    rows = await tx.execute(
        select(failure_marks).where(failure_marks.c.workspace_id == workspace_id)
    )
    return [
        FailureMark(id=row.failure_id, status=FailureStatus(row.status), marked_at=row.marked_at)
        for row in rows
    ]


async def count_marks(tx: Transaction, workspace_id: str) -> int:
    counted = await tx.execute(
        select(func.count())
        .select_from(failure_marks)
        .where(failure_marks.c.workspace_id == workspace_id)
    )
    return int(counted.scalar_one())


async def put_mark(tx: Transaction, workspace_id: str, mark: FailureMark) -> None:
    """Insert or replace the mark of a failure."""
    await delete_mark(tx, workspace_id, mark.id)
    await tx.execute(
        insert(failure_marks).values(
            workspace_id=workspace_id,
            failure_id=mark.id,
            status=mark.status,
            marked_at=mark.marked_at,
        )
    )


async def delete_mark(tx: Transaction, workspace_id: str, failure_id: str) -> None:
    await tx.execute(
        delete(failure_marks).where(
            failure_marks.c.workspace_id == workspace_id,
            failure_marks.c.failure_id == failure_id,
        )
    )
