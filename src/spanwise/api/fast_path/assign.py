"""The fast path for assignments (`GET /api/experiments/{id}/assign`) to a cached experiment."""

import re
from functools import partial
from urllib.parse import parse_qsl

from starlette.types import Scope

from spanwise.api.auth import may_assign
from spanwise.api.fast_path.fast_path import (
    FastPath,
    FastPathRequest,
    FastPathResponse,
    OnCommitted,
)
from spanwise.api.http.envelope import success_bytes
from spanwise.api.http.rate_limits import Tier
from spanwise.api.http.request_log import ASSIGN_ROUTE, RequestLog
from spanwise.api.services import Services
from spanwise.model.experiments.definition import Assignment
from spanwise.services.experiments.assignments import MAX_UNIT_ID

_PATH = re.compile(r"/api/experiments/([^/]+)/assign")
_PLAIN_UNIT = re.compile(rb"unitId=([\w.~-]+)")


class AssignFastPath(FastPath):
    def __init__(self, services: Services, request_log: RequestLog) -> None:
        super().__init__(services, request_log, Tier.STANDARD, may_assign)
        self._assignments = services.assignments

    def is_candidate(self, scope: Scope) -> bool:
        return scope["method"] == "GET" and _PATH.fullmatch(scope["path"]) is not None

    def respond(
        self, request: FastPathRequest, _body: bytes, on_committed: OnCommitted
    ) -> FastPathResponse | None:
        scope, workspace = request.scope, request.caller.workspace_id
        unit_id = _parse_unit_id(scope["query_string"])
        if not 0 < len(unit_id) <= MAX_UNIT_ID or b"%00" in scope["query_string"]:
            return None
        key = scope["path"].split("/")[3]
        experiment = self._assignments.find_cached_running(workspace, key)
        if experiment is None:
            return None
        [assignment], exposure = self._assignments.choose(workspace, experiment, [unit_id])
        body = _encode_assignment(assignment)
        response = self.build_response(request, ASSIGN_ROUTE, b"application/json", body)
        if exposure is not None:
            response.awaits_commit = True
            self._assignments.store(
                request.caller.sender, exposure, partial(on_committed, response)
            )
        return response


def _parse_unit_id(query: bytes) -> str:
    # Most ids need no URL decoding, which takes five times as long.
    if (plain := _PLAIN_UNIT.fullmatch(query)) is not None:
        return plain[1].decode()
    return dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)).get("unitId", "")


def _encode_assignment(assignment: Assignment) -> bytes:
    # Built by hand, because pydantic takes several times as long.
    return success_bytes(
        {
            "experimentId": assignment.experiment_id,
            "unitId": assignment.unit_id,
            "variant": assignment.variant,
            "config": assignment.config,
            "inExperiment": assignment.in_experiment,
            "assignedAt": assignment.assigned_at,
        }
    )
