"""What surrounds every request: its id, its log line, its caller, its limits, safe headers."""

import random
import re
import time
from collections.abc import Iterable, Mapping, Sequence

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spanwise.api.auth import authenticate
from spanwise.api.http.errors import answer_crash, answer_error
from spanwise.api.http.rate_limits import headers_of, limits_from, refuse, tier_of
from spanwise.api.otlp.responses import PATHS, answer_otlp_error
from spanwise.api.services import Services
from spanwise.model.errors import SpanwiseError

log = structlog.get_logger()

_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
API_PREFIX = "/api/"
_REQUEST_ID = re.compile(rb"[A-Za-z0-9_-]{8,64}")
# No secrets, so they need not come from the system: a call to it lets other threads go first.
_ids = random.Random()  # noqa: S311

_FAILED = 400
ASSIGN_ROUTE = "/api/experiments/{id}/assign"
# They come thousands of times a second: those that went well are counted, not told.
_UNTOLD = {*PATHS, ASSIGN_ROUTE}

RawHeader = tuple[bytes, bytes]

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
}


SAFE_HEADERS: list[RawHeader] = [
    (name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()
]
API_HEADERS: list[RawHeader] = [*SAFE_HEADERS, (b"cache-control", b"no-store")]


class RequestMeter:
    """Counts and times requests for `/metrics`."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "spanwise_http_requests",
            "HTTP requests answered.",
            ["method", "route", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "spanwise_http_request_seconds",
            "Time from request to the end of the answer.",
            ["method", "route"],
            registry=registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )

        # Finding a series by its labels takes longer than counting in it.
        self._series: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def observe(self, method: str, route: str, status: int, seconds: float) -> None:
        series = (method if method in _METHODS else "other", route, status)
        if series not in self._series:
            self._series[series] = (
                self._requests.labels(*series),
                self._seconds.labels(*series[:2]),
            )
        requests, times = self._series[series]
        requests.inc()
        times.observe(seconds)


def _template(scope: Scope) -> str:
    """The path as its route names it: with ids in it, it would make endless series."""
    template: str | None = getattr(scope.get("route"), "path", None)
    if template is None:
        return "unmatched"
    # A route of a router does not know the prefix that the router was included under.
    is_whole = template.startswith(API_PREFIX) or not scope["path"].startswith(API_PREFIX)
    return template if is_whole else API_PREFIX + template.removeprefix("/")


class RequestContext:
    """The outermost layer of ours: no answer without id, log line and envelope."""

    def __init__(self, app: ASGIApp, meter: RequestMeter) -> None:
        self._app = app
        self._meter = meter
        # Bound once: a logger that is not looks its configuration up for every line.
        self._log = log.bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        request_id = request_id_of(scope)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _complete(message.get("headers", ()), scope, request_id)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception:
            log.exception("request_crashed", method=scope["method"], path=scope["path"])
            if status:
                raise
            await answer_crash()(scope, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - started
            route = _template(scope)
            self._meter.observe(scope["method"], route, status, seconds)
            is_told = status >= _FAILED or route not in _UNTOLD
            (self._log.info if is_told else self._log.debug)(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                ms=round(seconds * 1000, 2),
                client=_client_of(scope),
            )


def _client_of(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "unknown"


def _complete(given: Iterable[RawHeader], scope: Scope, request_id: str) -> list[RawHeader]:
    """Add what every answer carries; a route may have chosen its own safe headers."""
    headers = [*given, (b"x-request-id", request_id.encode())]
    for name, value in scope["state"].get("limit_headers", {}).items():
        headers.append((name.lower().encode(), value.encode()))
    names = {name for name, _ in headers}
    safe = API_HEADERS if scope["path"].startswith(API_PREFIX) else SAFE_HEADERS
    headers += [header for header in safe if header[0] not in names]
    return headers


class CallerLimits:
    """Finds out who is calling and whether they have called too often, before any route runs."""

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._access = services.access
        self._counters = services.counters
        self._limits = limits_from(services.settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        principal = await self._identify(Headers(scope=scope))
        scope["state"]["principal"] = principal
        headers, refusal = await self._count(scope, principal)
        # RequestContext sends them, so that the answer to a crash has them too.
        scope["state"]["limit_headers"] = headers
        if refusal is not None:
            await _answer_refusal(refusal, scope)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _identify(self, headers: Headers) -> object:
        try:
            return await authenticate(self._access, headers)
        except SpanwiseError as error:
            return error

    async def _count(
        self, scope: Scope, principal: object
    ) -> tuple[Mapping[str, str], SpanwiseError | None]:
        tier = tier_of(scope["path"])
        limit = None if tier is None else self._limits.get(tier)
        if limit is None:
            return {}, None
        caller = getattr(principal, "caller_id", None) or _client_of(scope)
        count = scope["state"].get("count") or await self._counters.hit(limit, caller)
        return headers_of(limit, count), refuse(limit, count) if count.exceeded else None


class ShortWay:
    """Answers the hottest routes itself: the framework's layers would take longer than they do."""

    def __init__(self, app: ASGIApp, routes: Sequence[Route]) -> None:
        self._app = app
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._find(scope) if scope["type"] == "http" else None
        if route is None:
            await self._app(scope, receive, send)
            return
        try:
            answer = await route.endpoint(Request(scope, receive, send))
        except SpanwiseError as error:
            answer = answer_error(error)
        await answer(scope, receive, send)

    def _find(self, scope: Scope) -> Route | None:
        for route in self._routes:
            found = route.path_regex.match(scope["path"])
            if found and scope["method"] in (route.methods or ()):
                scope["route"], scope["path_params"] = route, found.groupdict()
                return route
        return None


def _answer_refusal(refusal: SpanwiseError, scope: Scope) -> Response:
    if scope["path"] in PATHS and scope["method"] == "POST":
        return answer_otlp_error(refusal, Headers(scope=scope).get("content-type", ""))
    return answer_error(refusal)


def request_id_of(scope: Scope) -> str:
    """Return the id that the request brought, or a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            given: str = value.decode()
            return given
    return f"req_{_ids.getrandbits(96):024x}"
