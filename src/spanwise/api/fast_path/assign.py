"""The lane for plain requests for a variant of an experiment that was seen in the last seconds."""

import re
from functools import partial
from urllib.parse import parse_qsl

from starlette.types import Scope

from spanwise.api.auth import may_assign
from spanwise.api.fast_path.dispatch import Asked, Begun, Lane, TellBegun
from spanwise.api.http.envelope import success_bytes
from spanwise.api.http.middleware import ASSIGN_ROUTE, RequestMeter
from spanwise.api.http.rate_limits import Tier
from spanwise.api.services import Services
from spanwise.model.experiments.definition import Assignment
from spanwise.services.experiments.assignments import MAX_UNIT_ID

_PATH = re.compile(r"/api/experiments/([^/]+)/assign")
_PLAIN_UNIT = re.compile(rb"unitId=([\w.~-]+)")


class AssignLane(Lane):
    def __init__(self, services: Services, meter: RequestMeter) -> None:
        super().__init__(services, meter, Tier.STANDARD, may_assign)
        self._assignments = services.assignments

    def takes(self, scope: Scope) -> bool:
        return scope["method"] == "GET" and _PATH.fullmatch(scope["path"]) is not None

    def answer(self, asked: Asked, _body: bytes, tell: TellBegun) -> Begun | None:
        scope, workspace = asked.scope, asked.caller.workspace_id
        unit_id = _unit_id(scope["query_string"])
        if not 0 < len(unit_id) <= MAX_UNIT_ID or b"%00" in scope["query_string"]:
            return None
        key = scope["path"].split("/")[3]
        experiment = self._assignments.recall_running(workspace, key)
        if experiment is None:
            return None
        [assignment], new = self._assignments.choose(workspace, experiment, [unit_id])
        begun = self.write(asked, ASSIGN_ROUTE, b"application/json", _write(assignment))
        if new is not None:
            begun.is_waiting = True
            self._assignments.store(new, partial(tell, begun))
        return begun


def _unit_id(query: bytes) -> str:
    # Most ids need no decoding, which takes five times as long.
    if (plain := _PLAIN_UNIT.fullmatch(query)) is not None:
        return plain[1].decode()
    return dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)).get("unitId", "")


def _write(assignment: Assignment) -> bytes:
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
