"""Repricing tasks, one row per price; stored, so that they survive restarts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, insert, or_, select, true, update

from spanwise.model.api_model import utc_now
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.prices import PriceKey, RepricingState, RepricingTask
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import repricing

_UNFINISHED = (RepricingState.WAITING, RepricingState.RUNNING)


async def request_repricing(tx: Transaction, key: PriceKey) -> None:
    """Request repricing of the spans that this price applies to, from the start."""
    now = utc_now()
    initial = {
        "state": RepricingState.WAITING,
        "months_left": None,
        "months_total": 0,
        "claimed_by": None,
        "claimed_until": None,
        "updated_at": now,
    }
    changed = await tx.execute(
        update(repricing)
        .where(_matches(key))
        .values(**initial, generation=repricing.c.generation + 1, created_at=now)
    )
    if changed.rowcount == 0:
        await tx.execute(
            insert(repricing).values(
                workspace_id=key.workspace,
                provider=key.provider,
                model=key.model,
                generation=1,
                created_at=now,
                **initial,
            )
        )


async def claim_repricing(
    tx: Transaction, worker: str, now: datetime, until: datetime
) -> RepricingTask | None:
    """Claim the oldest unclaimed task until a time; None when there is none."""
    free = or_(
        repricing.c.claimed_until.is_(None),
        repricing.c.claimed_until < now,
        repricing.c.claimed_by == worker,
    )
    condition = and_(repricing.c.state.in_(_UNFINISHED), free)
    rows = await tx.execute(
        select(repricing)
        .where(condition)
        .order_by(repricing.c.created_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    row = rows.one_or_none()
    if row is None:
        return None
    task = _to_task(row)
    await save_progress(tx, task, task.months_left, worker, until)
    return task


async def save_progress(
    tx: Transaction,
    task: RepricingTask,
    months_left: Sequence[int] | None,
    worker: str,
    until: datetime,
) -> bool:
    """Save a task's progress; False when the price changed again since it started."""
    is_done = months_left is not None and not months_left
    changed = await tx.execute(
        update(repricing)
        .where(_matches(task.key), repricing.c.generation == task.generation)
        .values(
            state=RepricingState.DONE if is_done else RepricingState.RUNNING,
            months_left=None if months_left is None else list(months_left),
            months_total=task.months_total,
            claimed_by=None if is_done else worker,
            claimed_until=None if is_done else until,
            updated_at=utc_now(),
        )
    )
    return changed.rowcount > 0


async def release_claims(tx: Transaction, worker: str | None) -> None:
    """Release the claims of a worker, or all claims for None."""
    mine = true() if worker is None else repricing.c.claimed_by == worker
    await tx.execute(update(repricing).where(mine).values(claimed_by=None, claimed_until=None))


async def find_tasks(
    tx: Transaction, workspace_id: str, models: Sequence[str]
) -> dict[PriceKey, RepricingTask]:
    """Return the tasks of a workspace's own prices with these names."""
    rows = await tx.execute(
        select(repricing).where(
            repricing.c.workspace_id == workspace_id, repricing.c.model.in_(models)
        )
    )
    tasks = map(_to_task, rows)
    return {task.key: task for task in tasks}


async def list_tasks(
    tx: Transaction, workspace_id: str, page: PageRequest
) -> Listing[RepricingTask]:
    """Return a workspace's tasks, the latest first."""
    in_workspace = repricing.c.workspace_id == workspace_id
    total = await tx.execute(select(func.count()).select_from(repricing).where(in_workspace))
    rows = await tx.execute(
        select(repricing)
        .where(in_workspace)
        .order_by(repricing.c.created_at.desc(), repricing.c.model)
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing([_to_task(row) for row in rows], total.scalar_one())


async def count_unfinished(tx: Transaction) -> int:
    rows = await tx.execute(
        select(func.count()).select_from(repricing).where(repricing.c.state.in_(_UNFINISHED))
    )
    return rows.scalar_one()


def _matches(key: PriceKey) -> ColumnElement[bool]:
    return and_(
        repricing.c.workspace_id == key.workspace,
        repricing.c.provider == key.provider,
        repricing.c.model == key.model,
    )


def _to_task(row: Row[Any]) -> RepricingTask:
    return RepricingTask(
        key=PriceKey(row.workspace_id, row.provider, row.model),
        generation=row.generation,
        state=RepricingState(row.state),
        months_left=None if row.months_left is None else tuple(row.months_left),
        months_total=row.months_total,
        updated_at=row.updated_at,
    )
