"""Experiments: definitions and status."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row, case, delete, func, insert, or_, select, update

from spanwise.model.experiments.definition import Experiment, ExperimentStatus
from spanwise.model.page import Listing, PageRequest
from spanwise.model.times import TimeRange
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import experiments


async def add_experiment(tx: Transaction, workspace_id: str, experiment: Experiment) -> None:
    await tx.execute(
        insert(experiments).values(**to_columns(experiment), workspace_id=workspace_id)
    )


async def list_experiments(
    tx: Transaction,
    workspace_id: str,
    page: PageRequest,
    period: TimeRange,
    status: ExperimentStatus | None = None,
) -> Listing[Experiment]:
    """Return a page of the experiments created in a period, newest first."""
    where = [experiments.c.workspace_id == workspace_id]
    if status is not None:
        where.append(experiments.c.status == status)
    if period.start is not None:
        where.append(experiments.c.created_at >= period.start)
    if period.end is not None:
        where.append(experiments.c.created_at < period.end)
    total = await tx.execute(select(func.count()).select_from(experiments).where(*where))
    rows = await tx.execute(
        select(experiments)
        .where(*where)
        .order_by(experiments.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing([_to_experiment(row) for row in rows], total.scalar_one())


async def find_experiment(
    tx: Transaction, workspace_id: str, experiment_id: str
) -> Experiment | None:
    row = (
        await tx.execute(
            select(experiments).where(
                experiments.c.workspace_id == workspace_id, experiments.c.id == experiment_id
            )
        )
    ).one_or_none()
    return None if row is None else _to_experiment(row)


async def find_experiment_by_key(tx: Transaction, workspace_id: str, key: str) -> Experiment | None:
    """Find by id or name; among equal names a running experiment wins, then the newest."""
    row = (
        await tx.execute(
            select(experiments)
            .where(
                experiments.c.workspace_id == workspace_id,
                or_(experiments.c.id == key, experiments.c.name == key),
            )
            .order_by(
                (experiments.c.id == key).desc(),
                case(_STATUS_ORDER, value=experiments.c.status),
                experiments.c.id.desc(),
            )
            .limit(1)
        )
    ).one_or_none()
    return None if row is None else _to_experiment(row)


async def list_started_experiments(
    tx: Transaction, workspace_id: str, limit: int
) -> list[Experiment]:
    """Return the experiments that are not drafts, running ones first."""
    rows = await tx.execute(
        select(experiments)
        .where(
            experiments.c.workspace_id == workspace_id,
            experiments.c.status != ExperimentStatus.DRAFT,
        )
        .order_by(case(_STATUS_ORDER, value=experiments.c.status), experiments.c.id.desc())
        .limit(limit)
    )
    return [_to_experiment(row) for row in rows]


async def change_experiment(
    tx: Transaction, workspace_id: str, experiment_id: str, changes: Mapping[str, Any]
) -> None:
    await tx.execute(
        update(experiments)
        .where(experiments.c.workspace_id == workspace_id, experiments.c.id == experiment_id)
        .values(**changes)
    )


async def delete_experiment(tx: Transaction, workspace_id: str, experiment_id: str) -> None:
    await tx.execute(
        delete(experiments).where(
            experiments.c.workspace_id == workspace_id, experiments.c.id == experiment_id
        )
    )


_STATUS_ORDER = {
    ExperimentStatus.RUNNING.value: 0,
    ExperimentStatus.PAUSED.value: 1,
    ExperimentStatus.STOPPED.value: 2,
    ExperimentStatus.DRAFT.value: 3,
}
_JSON_COLUMNS = {"variants", "metrics"}


def to_columns(experiment: Experiment) -> dict[str, Any]:
    """Return the column values; lists of records are JSON."""
    values = experiment.model_dump(by_alias=False)
    for name in _JSON_COLUMNS:
        values[name] = [
            item.model_dump(mode="json", by_alias=False) for item in getattr(experiment, name)
        ]
    return values


def _to_experiment(row: Row[Any]) -> Experiment:
    values = row._mapping
    return Experiment.model_validate({name: values[name] for name in Experiment.model_fields})
