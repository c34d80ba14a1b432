"""Experiments: their life, who gets which variant, and what came of it."""

from typing import Annotated

from fastapi import APIRouter, Query

from spanwise.api.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.experiment_bodies import (
    ExperimentChange,
    ExperimentStart,
    ExperimentStop,
    NewExperiment,
)
from spanwise.api.guard import GuardedRoute, Reader, Writer
from spanwise.api.parameters import Paged, Period
from spanwise.api.services import Use
from spanwise.model.experiments import Experiment, ExperimentStatus

router = APIRouter(prefix="/experiments", tags=["experiments"], route_class=GuardedRoute)


@router.get("")
async def list_experiments(
    caller: Reader,
    use: Use,
    page: Paged,
    period: Period,
    status: Annotated[ExperimentStatus | None, Query()] = None,
) -> SuccessPage[Experiment]:
    """List the experiments created in the period, newest first."""
    listing = await use.experiments.list(caller.workspace_id, page, period, status)
    return succeed_page(page, listing)


@router.post("", status_code=201)
async def create_experiment(body: NewExperiment, caller: Writer, use: Use) -> Success[Experiment]:
    """Create a draft. The first variant is the control."""
    return succeed(await use.experiments.create(caller, body.to_fields()))


@router.get("/{id}")
async def get_experiment(
    id: str,  # noqa: A002 -- the path's own word
    caller: Reader,
    use: Use,
) -> Success[Experiment]:
    return succeed(await use.experiments.get(caller.workspace_id, id))


@router.put("/{id}")
async def change_experiment(
    id: str,  # noqa: A002
    body: ExperimentChange,
    caller: Writer,
    use: Use,
) -> Success[Experiment]:
    """Change a draft; what has started stays as it is."""
    return succeed(await use.experiments.change(caller, id, body.to_fields()))


@router.delete("/{id}")
async def delete_experiment(
    id: str,  # noqa: A002
    caller: Writer,
    use: Use,
) -> Success[Deleted]:
    """Delete an experiment that does not run."""
    await use.experiments.delete(caller, id)
    return succeed(Deleted(id=id))


@router.post("/{id}/start")
async def start_experiment(
    id: str,  # noqa: A002
    caller: Writer,
    use: Use,
    body: ExperimentStart | None = None,
) -> Success[Experiment]:
    """Start a draft or go on with a paused one; `trafficPercent` may be raised then."""
    traffic_percent = body.traffic_percent if body else None
    return succeed(await use.experiments.start(caller, id, traffic_percent))


@router.post("/{id}/pause")
async def pause_experiment(
    id: str,  # noqa: A002
    caller: Writer,
    use: Use,
) -> Success[Experiment]:
    """Take no new units; those that are in keep their variant."""
    return succeed(await use.experiments.pause(caller, id))


@router.post("/{id}/stop")
async def stop_experiment(
    id: str,  # noqa: A002
    caller: Writer,
    use: Use,
    body: ExperimentStop | None = None,
) -> Success[Experiment]:
    """End an experiment for good; everybody then gets the `winner`, or the control."""
    return succeed(await use.experiments.stop(caller, id, body.winner if body else None))
