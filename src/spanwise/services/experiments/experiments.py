"""Lifecycle of an experiment: draft, running, paused, stopped."""

from collections.abc import Mapping, Sequence
from typing import Any

from spanwise.model.accounts import Principal
from spanwise.model.api_model import new_id, utc_now
from spanwise.model.errors import Invalid, NotFound
from spanwise.model.events import EventType
from spanwise.model.experiments.definition import Experiment, ExperimentStatus
from spanwise.model.page import Listing, PageRequest
from spanwise.model.times import TimeRange
from spanwise.services.audit import record_action
from spanwise.services.experiments.assignments import ExperimentCache
from spanwise.services.notifications.events import record_event
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog import experiments as stored


class Experiments:
    def __init__(self, catalog: Catalog, cache: ExperimentCache) -> None:
        self._catalog = catalog
        self._cache = cache

    async def create(self, caller: Principal, fields: Mapping[str, Any]) -> Experiment:
        experiment = Experiment(
            **fields,
            id=new_id("exp"),
            status=ExperimentStatus.DRAFT,
            created_at=utc_now(),
            started_at=None,
            paused_at=None,
            stopped_at=None,
            winner=None,
        )
        async with self._catalog.write() as tx:
            await stored.add_experiment(tx, caller.workspace_id, experiment)
            await _record_event(tx, caller, EventType.EXPERIMENT_CREATED, experiment)
        self._cache.invalidate(caller.workspace_id)
        return experiment

    async def list(
        self,
        workspace: str,
        page: PageRequest,
        period: TimeRange,
        status: ExperimentStatus | None,
    ) -> Listing[Experiment]:
        async with self._catalog.read() as tx:
            return await stored.list_experiments(tx, workspace, page, period, status)

    async def get(self, workspace: str, experiment_id: str) -> Experiment:
        async with self._catalog.read() as tx:
            return await _require(tx, workspace, experiment_id)

    async def find_flag(self, workspace: str, key: str) -> Experiment:
        """Return the experiment with this id or name, unless it is a draft."""
        experiment = await self._cache.find(workspace, key)
        if experiment is None or experiment.status is ExperimentStatus.DRAFT:
            raise NotFound("flag not found")
        return experiment

    async def list_flags(self, workspace: str, limit: int) -> Sequence[Experiment]:
        """Return the experiments that can be evaluated as flags, one per name."""
        started = await self._cache.list_started(workspace, limit)
        names: dict[str, Experiment] = {}
        for experiment in started:
            names.setdefault(experiment.name, experiment)
        return [*names.values()]

    async def change(
        self, caller: Principal, experiment_id: str, fields: Mapping[str, Any]
    ) -> Experiment:
        """Change a draft. A change after the start would invalidate the results."""
        async with self._catalog.write() as tx:
            experiment = await _require(tx, caller.workspace_id, experiment_id)
            _require_status(experiment, "changed", ExperimentStatus.DRAFT)
            return await self._save(tx, caller, experiment.model_copy(update=fields))

    async def delete(self, caller: Principal, experiment_id: str, address: str | None) -> None:
        async with self._catalog.write() as tx:
            experiment = await _require(tx, caller.workspace_id, experiment_id)
            if experiment.status is ExperimentStatus.RUNNING:
                raise Invalid.field("status", "the experiment is running; stop it first")
            await stored.delete_experiment(tx, caller.workspace_id, experiment_id)
            await _record_event(tx, caller, EventType.EXPERIMENT_DELETED, experiment)
            await record_action(
                tx, caller, "experiment.deleted", experiment_id, address, name=experiment.name
            )
        self._cache.invalidate(caller.workspace_id)

    async def start(
        self, caller: Principal, experiment_id: str, traffic_percent: float | None = None
    ) -> Experiment:
        """Start a draft or resume a paused experiment, optionally with more traffic."""
        async with self._catalog.write() as tx:
            experiment = await _require(tx, caller.workspace_id, experiment_id)
            _require_status(experiment, "started", ExperimentStatus.DRAFT, ExperimentStatus.PAUSED)
            traffic = experiment.traffic_percent if traffic_percent is None else traffic_percent
            if experiment.started_at is not None and traffic < experiment.traffic_percent:
                raise Invalid.field(
                    "trafficPercent", "must not decrease: units already exposed would drop out"
                )
            running = experiment.model_copy(
                update={
                    "status": ExperimentStatus.RUNNING,
                    "started_at": experiment.started_at or utc_now(),
                    "traffic_percent": traffic,
                }
            )
            return await self._save(tx, caller, running, EventType.EXPERIMENT_STARTED)

    async def pause(self, caller: Principal, experiment_id: str) -> Experiment:
        """Stop exposing new units; exposed units keep their variant."""
        async with self._catalog.write() as tx:
            experiment = await _require(tx, caller.workspace_id, experiment_id)
            _require_status(experiment, "paused", ExperimentStatus.RUNNING)
            paused = experiment.model_copy(
                update={"status": ExperimentStatus.PAUSED, "paused_at": utc_now()}
            )
            return await self._save(tx, caller, paused, EventType.EXPERIMENT_PAUSED)

    async def stop(
        self, caller: Principal, experiment_id: str, winner: str | None = None
    ) -> Experiment:
        """Stop permanently; from now on every unit gets the winner, or the control."""
        async with self._catalog.write() as tx:
            experiment = await _require(tx, caller.workspace_id, experiment_id)
            _require_status(
                experiment, "stopped", ExperimentStatus.RUNNING, ExperimentStatus.PAUSED
            )
            keys = [variant.key for variant in experiment.variants]
            if winner is not None and winner not in keys:
                raise Invalid.field("winner", f"must be one of {', '.join(keys)}")
            stopped = experiment.model_copy(
                update={
                    "status": ExperimentStatus.STOPPED,
                    "stopped_at": utc_now(),
                    "winner": winner,
                }
            )
            return await self._save(tx, caller, stopped, EventType.EXPERIMENT_STOPPED)

    async def _save(
        self,
        tx: Transaction,
        caller: Principal,
        experiment: Experiment,
        event: EventType | None = None,
    ) -> Experiment:
        columns = stored.to_columns(experiment)
        await stored.change_experiment(tx, caller.workspace_id, experiment.id, columns)
        if event is not None:
            await _record_event(tx, caller, event, experiment)
        self._cache.invalidate(caller.workspace_id)
        return experiment


async def _record_event(
    tx: Transaction, caller: Principal, event: EventType, experiment: Experiment
) -> None:
    """Record a status change as an event, in the transaction of the change."""
    await record_event(
        tx,
        caller.workspace_id,
        event,
        actor=caller.caller_id,
        subject=experiment.id,
        name=experiment.name,
        winner=experiment.winner,
    )


async def _require(tx: Transaction, workspace: str, experiment_id: str) -> Experiment:
    experiment = await stored.find_experiment(tx, workspace, experiment_id)
    if experiment is None:
        raise NotFound("experiment not found")
    return experiment


def _require_status(experiment: Experiment, done: str, *allowed: ExperimentStatus) -> None:
    if experiment.status not in allowed:
        statuses = " or ".join(allowed)
        raise Invalid.field(
            "status",
            f"the experiment is {experiment.status}; only a {statuses} one can be {done}",
        )
