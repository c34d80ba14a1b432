"""OpenFeature's remote evaluation protocol (OFREP): an experiment's name or id is a flag key.

Responses have the shape that the protocol requires instead of the envelope.
"""

import hashlib
from typing import Any, Literal

import orjson
from fastapi import Request, Response
from pydantic import Field

from spanwise.api.auth import Ingester
from spanwise.api.openapi.document import describe_body
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseExperimentation
from spanwise.model.api_model import ApiModel
from spanwise.model.errors import NotFound
from spanwise.model.experiments.definition import Assignment, Experiment, ExperimentStatus
from spanwise.services.experiments.assignments import MAX_UNIT_ID

router = PrefixRouter("ofrep", "/ofrep/v1/evaluate/flags")

MAX_FLAGS = 100


class EvaluationContext(ApiModel):
    """`targetingKey` is the unit; other properties are ignored."""

    targeting_key: str


class EvaluationRequest(ApiModel):
    context: EvaluationContext


class Evaluation(ApiModel):
    key: str
    reason: Literal["SPLIT", "DEFAULT", "DISABLED"]
    variant: str
    value: Any = Field(
        description="The config's `value`, else the config; without configs, the variant's key."
    )
    metadata: dict[str, Any]


class Evaluations(ApiModel):
    flags: list[Evaluation]


class EvaluationFailure(ApiModel):
    key: str | None
    error_code: str
    error_details: str


class _BadContext(Exception):  # noqa: N818 -- an outcome, not a defect
    def __init__(self, code: str, details: str) -> None:
        super().__init__(details)
        self.code = code
        self.details = details


_FAILURES: dict[int | str, dict[str, Any]] = {
    400: {"model": EvaluationFailure, "description": "The context cannot be used."},
    404: {"model": EvaluationFailure, "description": "There is no such flag, or it is a draft."},
}


@router.post(
    "/{key}",
    response_model=None,
    responses={200: {"model": Evaluation}, **_FAILURES},
    openapi_extra=describe_body(EvaluationRequest),
)
async def evaluate_flag(
    key: str, caller: Ingester, experimentation: UseExperimentation, request: Request
) -> Response:
    """Evaluate one flag: assigns a variant to the targeting key, like `assign`."""
    try:
        experiment = await experimentation.experiments.find_flag(caller.workspace_id, key)
        unit_id = await _read_unit(request)
    except NotFound as error:
        return _fail(404, key, "FLAG_NOT_FOUND", error.message)
    except _BadContext as error:
        return _fail(400, key, error.code, error.details)
    [assignment] = await experimentation.assignments.assign_in(caller.sender, experiment, [unit_id])
    return _respond(_evaluate(key, experiment, assignment))


@router.post(
    "",
    response_model=None,
    responses={
        200: {"model": Evaluations},
        304: {"description": "Nothing changed since the response with this `ETag`."},
        400: _FAILURES[400],
    },
    openapi_extra=describe_body(EvaluationRequest),
)
async def evaluate_flags(
    caller: Ingester, experimentation: UseExperimentation, request: Request
) -> Response:
    """Evaluate every started experiment; each evaluation is an assignment."""
    try:
        unit_id = await _read_unit(request)
    except _BadContext as error:
        return _fail(400, None, error.code, error.details)
    flags = []
    for experiment in await experimentation.experiments.list_flags(caller.workspace_id, MAX_FLAGS):
        [assignment] = await experimentation.assignments.assign_in(
            caller.sender, experiment, [unit_id]
        )
        flags.append(_evaluate(experiment.name, experiment, assignment))
    response = _respond(Evaluations(flags=flags))
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == tag:
        response = Response(status_code=304)
    response.headers["ETag"] = tag
    return response


async def _read_unit(request: Request) -> str:
    try:
        body = orjson.loads(await request.body() or b"{}")
    except orjson.JSONDecodeError as error:
        raise _BadContext("PARSE_ERROR", f"the body is not valid JSON ({error})") from None
    context = body.get("context") if isinstance(body, dict) else None
    if context is not None and not isinstance(context, dict):
        raise _BadContext("INVALID_CONTEXT", "the context must be an object")
    unit_id = (context or {}).get("targetingKey")
    if unit_id is None or unit_id == "":
        raise _BadContext("TARGETING_KEY_MISSING", "the context has no targetingKey")
    if not isinstance(unit_id, str) or len(unit_id) > MAX_UNIT_ID or "\x00" in unit_id:
        details = f"the targetingKey must be a string of at most {MAX_UNIT_ID} characters"
        raise _BadContext("INVALID_CONTEXT", details)
    return unit_id


def _evaluate(key: str, experiment: Experiment, assignment: Assignment) -> Evaluation:
    reason: Literal["SPLIT", "DEFAULT", "DISABLED"] = "DEFAULT"
    if assignment.in_experiment:
        reason = "SPLIT"
    elif experiment.status is ExperimentStatus.STOPPED:
        reason = "DISABLED"
    return Evaluation(
        key=key,
        reason=reason,
        variant=assignment.variant,
        value=experiment.flag_value_of(assignment.variant),
        metadata={"experimentId": experiment.id, "inExperiment": assignment.in_experiment},
    )


def _respond(data: ApiModel, status: int = 200) -> Response:
    return Response(data.model_dump_json(), status, media_type="application/json")


def _fail(status: int, key: str | None, code: str, details: str) -> Response:
    return _respond(EvaluationFailure(key=key, error_code=code, error_details=details), status)
