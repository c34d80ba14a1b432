"""A lane for plain requests for a variant, past the layers that all others go through.

They come thousands of times a second, and the layers take three times as long as the answer. Every
other request goes the ordinary way, which says what is wrong if something is: a key or an
experiment that was not seen in the last seconds, an experiment that does not run, a person's token,
a page of another origin, bad input, a journal that takes nothing, a limit that is reached or that
Redis counts.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from urllib.parse import parse_qsl

import structlog
from starlette.datastructures import Headers
from starlette.types import Scope

from spanwise.actions.assignments import MAX_UNIT_ID
from spanwise.api.envelope import success_bytes
from spanwise.api.guard import find_key, may_assign
from spanwise.api.middleware import API_HEADERS, ASSIGN_ROUTE, RequestMeter, request_id_of
from spanwise.api.rate_limits import Tier, headers_of, limits_from
from spanwise.api.services import Services
from spanwise.model.accounts import Principal
from spanwise.model.errors import SpanwiseError, Unavailable
from spanwise.model.experiments import Assignment

log = structlog.get_logger()

_OK = 200
_PATH = re.compile(r"/api/experiments/([^/]+)/assign")
_PLAIN_UNIT = re.compile(rb"unitId=([\w.~-]+)")
_HEAD = b"content-type: application/json\r\n" + b"".join(
    name + b": " + value + b"\r\n" for name, value in API_HEADERS
)


@dataclass(slots=True)
class Begun:
    """An answer, which may be sent when the exposure is stored, if there is one to store."""

    answer: bytes
    is_waiting: bool
    note_sent: Callable[[], None]


TellBegun = Callable[[Begun, Unavailable | None], None]


class AssignLane:
    def __init__(self, services: Services, meter: RequestMeter) -> None:
        self._access = services.access
        self._assignments = services.assignments
        self._counters = services.counters
        self._limit = limits_from(services.settings).get(Tier.STANDARD)
        self._meter = meter
        # Bound once: a logger that is not looks its configuration up for every line.
        self._log = log.bind()

    def begin(self, scope: Scope, tell: TellBegun) -> Begun | None:
        """Begin to answer a request; None leaves it to the ordinary way.

        An answer that has to wait is given to `tell`, with the reason if it may not be sent.
        """
        started = time.perf_counter()
        found = _PATH.fullmatch(scope["path"])
        if found is None or scope["method"] != "GET":
            return None
        try:
            return self._assign(scope, found[1], started, tell)
        except SpanwiseError:
            return None
        except Exception:
            # The server would take it for a request that is no HTTP.
            log.exception("assign_lane_crashed")
            return None

    def _assign(self, scope: Scope, key: str, started: float, tell: TellBegun) -> Begun | None:
        caller = self._recall_caller(Headers(scope=scope))
        unit_id = _unit_id(scope["query_string"])
        if caller is None or not 0 < len(unit_id) <= MAX_UNIT_ID or b"%00" in scope["query_string"]:
            return None
        experiment = self._assignments.recall_running(caller.workspace_id, key)
        if experiment is None or (limit_head := self._count(scope, caller)) is None:
            return None
        [assignment], new = self._assignments.choose(caller.workspace_id, experiment, [unit_id])
        request_id = request_id_of(scope)
        head = b"x-request-id: " + request_id.encode() + b"\r\n" + limit_head
        note_sent = partial(self._note_sent, scope["path"], request_id, started)
        begun = Begun(_write(head, assignment), new is not None, note_sent)
        if new is not None:
            self._assignments.store(new, partial(tell, begun))
        return begun

    def _recall_caller(self, headers: Headers) -> Principal | None:
        # Pages of other origins are told more, or nothing.
        if "origin" in headers or (key := find_key(headers)) is None:
            return None
        caller = self._access.recall_key(key)
        return may_assign.admit(caller) if caller is not None else None

    def _count(self, scope: Scope, caller: Principal) -> bytes | None:
        """Count the request and say so in headers; None when it is one too many or cannot be."""
        if self._limit is None:
            return b""
        count = self._counters.hit_at_once(self._limit, caller.caller_id)
        # The ordinary way does not count it again.
        scope["state"]["count"] = count
        if count is None or count.exceeded:
            return None
        lines = headers_of(self._limit, count).items()
        return "".join(f"{name.lower()}: {value}\r\n" for name, value in lines).encode()

    def _note_sent(self, path: str, request_id: str, started: float) -> None:
        seconds = time.perf_counter() - started
        self._meter.observe("GET", ASSIGN_ROUTE, _OK, seconds)
        ms = round(seconds * 1000, 2)
        self._log.debug(
            "request", method="GET", path=path, status=_OK, ms=ms, request_id=request_id
        )


def _unit_id(query: bytes) -> str:
    # Most ids need no decoding, which takes five times as long.
    if (plain := _PLAIN_UNIT.fullmatch(query)) is not None:
        return plain[1].decode()
    return dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True)).get("unitId", "")


def _write(head: bytes, assignment: Assignment) -> bytes:
    body = success_bytes(
        {
            "experimentId": assignment.experiment_id,
            "unitId": assignment.unit_id,
            "variant": assignment.variant,
            "config": assignment.config,
            "inExperiment": assignment.in_experiment,
            "assignedAt": assignment.assigned_at,
        }
    )
    return b"%b%bcontent-length: %d\r\n\r\n%b" % (_HEAD, head, len(body), body)
