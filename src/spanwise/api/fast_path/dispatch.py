"""Lanes past the layers, for requests that come a thousand times a second.

The layers take three times as long as a variant's answer, and make a small export half as long
again. A lane looks nothing up and refuses nothing. Every other request goes the ordinary way, which
says what is wrong if something is: a key that was not seen in the last seconds, a person's token, a
page of another origin, bad input, a journal that takes nothing, a limit that is reached or that
Redis counts.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import structlog
from starlette.datastructures import Headers
from starlette.types import Scope

from spanwise.api.auth import Requires, find_key
from spanwise.api.http.middleware import (
    API_HEADERS,
    API_PREFIX,
    SAFE_HEADERS,
    RawHeader,
    RequestMeter,
    request_id_of,
)
from spanwise.api.http.rate_limits import Tier, headers_of, limits_from
from spanwise.api.services import Services
from spanwise.model.accounts import Principal
from spanwise.model.errors import SpanwiseError, Unavailable

log = structlog.get_logger()

_OK = 200


def _written(headers: Iterable[RawHeader]) -> bytes:
    return b"".join(b"%b: %b\r\n" % header for header in headers)


_API_HEAD, _SAFE_HEAD = _written(API_HEADERS), _written(SAFE_HEADERS)


@dataclass(slots=True)
class Begun:
    """An answer, which may be sent when what it tells of is stored, if that has to be."""

    answer: bytes
    is_waiting: bool
    note_sent: Callable[[], None]


TellBegun = Callable[[Begun, Unavailable | None], None]


@dataclass(slots=True)
class Asked:
    """A request for a lane. What its limit leaves is in `limit_head`, once it is counted."""

    scope: Scope
    caller: Principal
    started: float
    limit_head: bytes = b""


class Lane(ABC):
    awaits_body = False

    def __init__(
        self, services: Services, meter: RequestMeter, tier: Tier, demand: Requires
    ) -> None:
        self._access = services.access
        self._counters = services.counters
        self._limit = limits_from(services.settings).get(tier)
        self._meter = meter
        self._demand = demand
        # Bound once: a logger that is not looks its configuration up for every line.
        self._log = log.bind()

    @abstractmethod
    def takes(self, scope: Scope) -> bool:
        """Say whether this looks like a request for the lane."""

    @abstractmethod
    def answer(self, asked: Asked, body: bytes, tell: TellBegun) -> Begun | None:
        """Do what was asked, or nothing at all."""

    def ask(self, scope: Scope) -> Asked | None:
        """Say who asks, before the body is there; None leaves it to the ordinary way."""
        if not self.takes(scope):
            return None
        started = time.perf_counter()
        try:
            caller = self._recall_caller(Headers(scope=scope))
        except SpanwiseError:
            return None
        return None if caller is None else Asked(scope, caller, started)

    def begin(self, asked: Asked, body: bytes, tell: TellBegun) -> Begun | None:
        """Begin to answer a request; None leaves it to the ordinary way.

        An answer that has to wait is given to `tell`, with the reason if it may not be sent.
        """
        try:
            limit_head = self._count(asked.scope, asked.caller)
            if limit_head is None:
                return None
            asked.limit_head = limit_head
            return self.answer(asked, body, tell)
        except SpanwiseError:
            return None
        except Exception:
            # The server would take it for a request that is no HTTP.
            log.exception("lane_crashed", path=asked.scope["path"])
            return None

    def _recall_caller(self, headers: Headers) -> Principal | None:
        # Pages of other origins are told more, or nothing.
        if "origin" in headers or (key := find_key(headers)) is None:
            return None
        caller = self._access.recall_key(key)
        return self._demand.admit(caller) if caller is not None else None

    def _count(self, scope: Scope, caller: Principal) -> bytes | None:
        """Count the request and say so in headers; None when it is one too many or cannot be."""
        if self._limit is None:
            return b""
        count = self._counters.hit_nowait(self._limit, caller.caller_id)
        # The ordinary way does not count it again.
        scope["state"]["count"] = count
        if count is None or count.exceeded:
            return None
        lines = headers_of(self._limit, count).items()
        return "".join(f"{name.lower()}: {value}\r\n" for name, value in lines).encode()

    def write(self, asked: Asked, route: str, content_type: bytes, body: bytes) -> Begun:
        """Write the answer to be sent at once."""
        request_id = request_id_of(asked.scope)
        answer = b"content-type: %b\r\n%bx-request-id: %b\r\n%bcontent-length: %d\r\n\r\n%b" % (
            content_type,
            _API_HEAD if asked.scope["path"].startswith(API_PREFIX) else _SAFE_HEAD,
            request_id.encode(),
            asked.limit_head,
            len(body),
            body,
        )
        return Begun(answer, False, partial(self._note_sent, asked, route, request_id))

    def _note_sent(self, asked: Asked, route: str, request_id: str) -> None:
        seconds = time.perf_counter() - asked.started
        method, path = asked.scope["method"], asked.scope["path"]
        self._meter.observe(method, route, _OK, seconds)
        ms = round(seconds * 1000, 2)
        self._log.debug(
            "request", method=method, path=path, status=_OK, ms=ms, request_id=request_id
        )
