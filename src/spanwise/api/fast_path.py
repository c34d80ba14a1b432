"""The fast path: answers small protobuf exports inside the HTTP protocol, without middleware.

Only what is in memory is used: the cached key and the rate limit; only the journal is waited for.
The response is always 200, with the same headers and body as on the normal path. The fast path
never rejects: an export takes the normal path, and is counted once, when its key is not cached or
used from a new address, it carries a user's token, it comes from a web page (`Origin`), its input
is invalid, the journal rejects it, or its rate limit is exceeded or counted in Redis.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import structlog
from starlette.datastructures import Headers
from starlette.types import Scope

from spanwise.api.auth import find_key, may_ingest
from spanwise.api.http.client_address import TrustedProxies
from spanwise.api.http.headers import (
    RawHeader,
    encode_headers,
    encoded_security_headers,
    find_request_id,
)
from spanwise.api.http.paths import EXPORT_PATHS
from spanwise.api.http.rate_limits import RateLimits, Tier
from spanwise.api.http.request_log import RequestLog
from spanwise.api.otlp.responses import ACCEPTED_PROTOBUF, PROTOBUF
from spanwise.api.services import Services
from spanwise.ingest.compression import unpack_small
from spanwise.model.accounts import Principal
from spanwise.model.errors import SpanwiseError, Unavailable

log = structlog.get_logger()

# uvicorn buffers this much per connection anyway, so ingest need not account for the memory.
MAX_BODY_BYTES = 65_536
_MAX_DIGITS = len(str(MAX_BODY_BYTES))
_MEDIA_TYPE = PROTOBUF.encode()
_GZIP = b"gzip"
_ENCODINGS = {b"", _GZIP}
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


class ExportFastPath:
    def __init__(self, services: Services, request_log: RequestLog) -> None:
        self._receiver = services.ingest.receiver
        self._access = services.identity.access
        self._rate_limits = RateLimits(services.settings, services.counters)
        self._proxies = TrustedProxies(services.settings.trusted_proxies)
        self._request_log = request_log

    def match(self, scope: Scope) -> FastPathRequest | None:
        """Check method, path and headers; None leaves the request to the normal path."""
        if not _is_candidate(scope):
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
            return self._enqueue(request, body, on_committed)
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
        return may_ingest.check(caller) if caller is not None else None

    def _count(self, request: FastPathRequest) -> bool:
        """Count the request against its limit; False when it is exceeded or needs Redis."""
        if not self._rate_limits.has_limit(Tier.INGESTION):
            return True
        counted = self._rate_limits.count_in_memory(Tier.INGESTION, request.caller.caller_id)
        # Keeps the normal path from counting it again.
        request.scope["state"]["counted"] = counted
        if counted is None or counted.is_exceeded:
            return False
        request.limit_headers = counted.headers
        return True

    def _enqueue(
        self, request: FastPathRequest, body: bytes, on_committed: OnCommitted
    ) -> FastPathResponse | None:
        """Enqueue the whole export, or return None without any effect."""
        path = request.scope["path"]
        is_gzip = _first_headers(request.scope).get(b"content-encoding") == _GZIP
        message = unpack_small(body, MAX_BODY_BYTES) if is_gzip else body
        if message is None:
            return None
        response = self._build_response(request)
        is_accepted = self._receiver.enqueue_otlp(
            request.caller.sender, EXPORT_PATHS[path], message, partial(on_committed, response)
        )
        return response if is_accepted else None

    def _build_response(self, request: FastPathRequest) -> FastPathResponse:
        path = request.scope["path"]
        request_id = find_request_id(request.scope)
        headers_and_body = (
            b"content-type: %b\r\n%bx-request-id: %b\r\n%bcontent-length: %d\r\n\r\n%b"
            % (
                _MEDIA_TYPE,
                encoded_security_headers(path),
                request_id.encode(),
                encode_headers(request.limit_headers),
                len(ACCEPTED_PROTOBUF),
                ACCEPTED_PROTOBUF,
            )
        )
        record_sent = partial(
            self._request_log.record,
            request.scope,
            path,
            _OK,
            request.started,
            request_id=request_id,
        )
        return FastPathResponse(headers_and_body, record_sent)


def _is_candidate(scope: Scope) -> bool:
    """Return whether method, path and headers are those of a small protobuf export."""
    if scope["method"] != "POST" or scope["path"] not in EXPORT_PATHS:
        return False
    headers = _first_headers(scope)
    size = headers.get(b"content-length", b"")
    return (
        headers.get(b"content-type") == _MEDIA_TYPE
        and headers.get(b"content-encoding", b"") in _ENCODINGS
        and size.isdigit()
        and len(size) <= _MAX_DIGITS
        and int(size) <= MAX_BODY_BYTES
    )


def _first_headers(scope: Scope) -> dict[bytes, bytes]:
    """Return headers by name; the first of a repeated header wins, as on the normal path."""
    return dict(scope["headers"][::-1])
