"""The interface of a fast path, and the checks and response headers that all of them share.

A request takes the normal path instead when its key is not cached or used from a new address, it
carries a user's token, it comes from a web page (`Origin`), its input is invalid, the journal
rejects it, or its rate limit is exceeded or counted in Redis.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog
from starlette.datastructures import Headers
from starlette.types import Scope

from spanwise.api.auth import Requires, find_key
from spanwise.api.http.client_address import TrustedProxies
from spanwise.api.http.rate_limits import RateLimits, Tier
from spanwise.api.http.request_log import RequestLog
from spanwise.api.http.response_headers import (
    RawHeader,
    encode_headers,
    encoded_security_headers,
    find_request_id,
)
from spanwise.api.services import Services
from spanwise.model.accounts import Principal
from spanwise.model.errors import SpanwiseError, Unavailable

log = structlog.get_logger()

_OK = 200


@dataclass(slots=True)
class FastPathResponse:
    """A response without its status line, to be sent once the journal has the request."""

    headers_and_body: bytes
    record_sent: Callable[[], None]


# Called when the journal has stored what the response acknowledges, or with the reason it has not.
OnCommitted = Callable[[FastPathResponse, Unavailable | None], None]


@dataclass(slots=True)
class FastPathRequest:
    scope: Scope
    caller: Principal
    started: float
    limit_headers: Sequence[RawHeader] = ()


class FastPath(ABC):
    def __init__(
        self, services: Services, request_log: RequestLog, tier: Tier, requirement: Requires
    ) -> None:
        self._access = services.access
        self._rate_limits = RateLimits(services.settings, services.counters)
        self._proxies = TrustedProxies(services.settings.trusted_proxies)
        self._request_log = request_log
        self._tier = tier
        self._requirement = requirement

    @abstractmethod
    def is_candidate(self, scope: Scope) -> bool:
        """Return whether method, path and headers are those of this fast path."""

    @abstractmethod
    def respond(
        self, request: FastPathRequest, body: bytes, on_committed: OnCommitted
    ) -> FastPathResponse | None:
        """Handle the whole request, or return None without any effect."""

    def match(self, scope: Scope) -> FastPathRequest | None:
        """Check method, path and headers; None leaves the request to the normal path."""
        if not self.is_candidate(scope):
            return None
        started = time.perf_counter()
        try:
            caller = self._find_cached_caller(scope)
        except SpanwiseError:
            return None
        return None if caller is None else FastPathRequest(scope, caller, started)

    def handle(
        self, request: FastPathRequest, body: bytes, on_committed: OnCommitted
    ) -> FastPathResponse | None:
        """Count and handle a request; None leaves it to the normal path.

        The response may be sent once `on_committed` is called without a failure.
        """
        try:
            if not self._count(request):
                return None
            return self.respond(request, body, on_committed)
        except SpanwiseError:
            return None
        except Exception:
            # The parser would report an exception as invalid HTTP.
            log.exception("fast_path_crashed", path=request.scope["path"])
            return None

    def _find_cached_caller(self, scope: Scope) -> Principal | None:
        headers = Headers(scope=scope)
        # Responses to web pages need the CORS middleware.
        if "origin" in headers or (key := find_key(headers)) is None:
            return None
        peer: str = scope["client"][0] if scope.get("client") else ""
        forwarded_for = headers.getlist("x-forwarded-for")
        address = self._proxies.find_client(peer, forwarded_for) if forwarded_for else peer
        caller = self._access.find_cached_key(key, address)
        return self._requirement.check(caller) if caller is not None else None

    def _count(self, request: FastPathRequest) -> bool:
        """Count the request against its limit; False when it is exceeded or needs Redis."""
        if not self._rate_limits.has_limit(self._tier):
            return True
        counted = self._rate_limits.count_in_memory(self._tier, request.caller.caller_id)
        # Keeps the normal path from counting it again.
        request.scope["state"]["counted"] = counted
        if counted is None or counted.is_exceeded:
            return False
        request.limit_headers = counted.headers
        return True

    def build_response(
        self, request: FastPathRequest, route: str, content_type: bytes, body: bytes
    ) -> FastPathResponse:
        request_id = find_request_id(request.scope)
        headers_and_body = (
            b"content-type: %b\r\n%bx-request-id: %b\r\n%bcontent-length: %d\r\n\r\n%b"
            % (
                content_type,
                encoded_security_headers(request.scope["path"]),
                request_id.encode(),
                encode_headers(request.limit_headers),
                len(body),
                body,
            )
        )
        record_sent = partial(
            self._request_log.record,
            request.scope,
            route,
            _OK,
            request.started,
            request_id=request_id,
        )
        return FastPathResponse(headers_and_body, record_sent)
