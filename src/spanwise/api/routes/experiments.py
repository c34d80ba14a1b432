"""Routes for experiments: life cycle, assignments and results."""

from typing import Annotated

from fastapi import Query

from spanwise.api.auth import Assigner, ClientAddress, Ingester, Reader, Writer
from spanwise.api.freshness import Fresh
from spanwise.api.http.envelope import Deleted, Success, SuccessPage, succeed, succeed_page
from spanwise.api.requests.experiments import (
    MAX_VARIANTS,
    MIN_VARIANTS,
    ExperimentChange,
    ExperimentStart,
    ExperimentStop,
    NewExperiment,
    UnitBatch,
)
from spanwise.api.requests.parameters import AgentId, Paged, Period, Text
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseExperimentation
from spanwise.model.experiments.definition import (
    Assignment,
    Experiment,
    ExperimentStatus,
    TraceMetric,
)
from spanwise.model.experiments.plan import ExperimentPlan, PlanRequest
from spanwise.model.experiments.results import ExperimentResults
from spanwise.services.experiments.assignments import MAX_UNIT_ID

router = PrefixRouter("experiments", "/experiments")


@router.get("")
async def list_experiments(
    caller: Reader,
    experimentation: UseExperimentation,
    page: Paged,
    period: Period,
    status: Annotated[ExperimentStatus | None, Query()] = None,
) -> SuccessPage[Experiment]:
    """List the experiments created in the period, newest first."""
    listing = await experimentation.experiments.list(caller.workspace_id, page, period, status)
    return succeed_page(page, listing)


@router.post("", status_code=201)
async def create_experiment(
    body: NewExperiment, caller: Writer, experimentation: UseExperimentation
) -> Success[Experiment]:
    """Create a draft. The first variant is the control."""
    return succeed(await experimentation.experiments.create(caller, body.to_fields()))


@router.get("/plan")
async def plan_experiment(
    caller: Reader,
    experimentation: UseExperimentation,
    _fresh: Fresh,
    lift: Annotated[
        float, Query(gt=0, le=10, description="The smallest lift to find: 0.05 is 5 %.")
    ],
    metric: TraceMetric = TraceMetric.SUCCESS_RATE,
    signal_name: Annotated[
        Text, Query(alias="signalName", description="A signal instead of a trace metric.")
    ] = None,
    agent_id: AgentId = None,
    variants: Annotated[int, Query(ge=MIN_VARIANTS, le=MAX_VARIANTS)] = MIN_VARIANTS,
) -> Success[ExperimentPlan]:
    """Plan an experiment: how many units and days a lift needs, judged by the last 28 days."""
    request = PlanRequest(metric, signal_name, agent_id, lift, variants)
    return succeed(await experimentation.results.plan(caller.workspace_id, request))


@router.get("/{id}")
async def get_experiment(
    id: str,  # noqa: A002 -- the name in the path
    caller: Reader,
    experimentation: UseExperimentation,
) -> Success[Experiment]:
    return succeed(await experimentation.experiments.get(caller.workspace_id, id))


@router.put("/{id}")
async def change_experiment(
    id: str,  # noqa: A002
    body: ExperimentChange,
    caller: Writer,
    experimentation: UseExperimentation,
) -> Success[Experiment]:
    """Change a draft; a started experiment cannot be changed."""
    return succeed(await experimentation.experiments.change(caller, id, body.to_fields()))


@router.delete("/{id}")
async def delete_experiment(
    id: str,  # noqa: A002
    caller: Writer,
    experimentation: UseExperimentation,
    address: ClientAddress,
) -> Success[Deleted]:
    """Delete an experiment that is not running."""
    await experimentation.experiments.delete(caller, id, address)
    return succeed(Deleted(id=id))


@router.post("/{id}/start")
async def start_experiment(
    id: str,  # noqa: A002
    caller: Writer,
    experimentation: UseExperimentation,
    body: ExperimentStart | None = None,
) -> Success[Experiment]:
    """Start a draft or resume a paused experiment, optionally with a higher `trafficPercent`."""
    traffic_percent = body.traffic_percent if body else None
    return succeed(await experimentation.experiments.start(caller, id, traffic_percent))


@router.post("/{id}/pause")
async def pause_experiment(
    id: str,  # noqa: A002
    caller: Writer,
    experimentation: UseExperimentation,
) -> Success[Experiment]:
    """Stop assigning new units; assigned ones keep their variant."""
    return succeed(await experimentation.experiments.pause(caller, id))


@router.post("/{id}/stop")
async def stop_experiment(
    id: str,  # noqa: A002
    caller: Writer,
    experimentation: UseExperimentation,
    body: ExperimentStop | None = None,
) -> Success[Experiment]:
    """Stop an experiment permanently; all units then get the `winner`, or the control."""
    return succeed(
        await experimentation.experiments.stop(caller, id, body.winner if body else None)
    )


@router.get("/{id}/assign")
async def get_assignment(
    id: str,  # noqa: A002
    unit_id: Annotated[
        str,
        Query(
            alias="unitId",
            min_length=1,
            max_length=MAX_UNIT_ID,
            description="The id of a user, a session or another unit of assignment.",
        ),
    ],
    caller: Assigner,
    experimentation: UseExperimentation,
) -> Success[Assignment]:
    """Assign a variant to a unit, always the same one; the first call records an exposure."""
    assignment = await experimentation.assignments.assign(caller.sender, id, unit_id)
    return succeed(assignment)


@router.post("/{id}/assign/batch")
async def assign_batch(
    id: str,  # noqa: A002
    body: UnitBatch,
    caller: Ingester,
    experimentation: UseExperimentation,
) -> Success[list[Assignment]]:
    """Assign variants to up to 1000 units; returns them in the order of `unitIds`."""
    return succeed(await experimentation.assignments.assign_many(caller.sender, id, body.unit_ids))


@router.get("/{id}/results")
async def get_results(
    id: str,  # noqa: A002
    caller: Reader,
    experimentation: UseExperimentation,
    _fresh: Fresh,
) -> Success[ExperimentResults]:
    """Get the results so far. The intervals are valid at any time, however often you look."""
    experiment = await experimentation.experiments.get(caller.workspace_id, id)
    return succeed(await experimentation.results.get(caller.workspace_id, experiment))
