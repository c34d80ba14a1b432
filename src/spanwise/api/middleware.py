"""The middleware around every route: request id and log line, caller and rate limit.

From the outside in: `RequestContext`, `CallerLimits`, then FastAPI.
"""

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import structlog
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spanwise.api.auth import authenticate
from spanwise.api.http.errors import crash_response, error_response
from spanwise.api.http.headers import RawHeader, complete_headers, find_request_id
from spanwise.api.http.paths import EXPORT_PATHS, is_api_path
from spanwise.api.http.rate_limits import CountedRequest, RateLimits, tier_of
from spanwise.api.http.request_log import RequestLog
from spanwise.api.otlp.responses import otlp_error_response
from spanwise.api.services import Services
from spanwise.model.errors import SpanwiseError

log = structlog.get_logger()


class RequestContext:
    """Gives every response a request id, a log line and security headers, even after a crash."""

    def __init__(self, app: ASGIApp, request_log: RequestLog) -> None:
        self._app = app
        self._request_log = request_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        request_id = find_request_id(scope)
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id)
        started = time.perf_counter()
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = complete_headers(
                    message.get("headers", ()),
                    scope["path"],
                    request_id,
                    [*state.get("limit_headers", ()), *_freshness_headers(state)],
                )
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception:
            log.exception("request_crashed", method=scope["method"], path=scope["path"])
            if status:
                raise
            await crash_response()(scope, receive, send_with_headers)
        finally:
            route = _route_template(scope)
            client = _client_of(scope)
            self._request_log.record(scope, route, status, started, client=client)


def _route_template(scope: Scope) -> str:
    """Return the path with placeholders; with ids, each id would add a metric series."""
    template: str | None = getattr(scope.get("route"), "path", None)
    if template is None:
        return "unmatched"
    # The path of an included route lacks the prefix under which its router was included.
    is_complete = is_api_path(template) or not is_api_path(scope["path"])
    return template if is_complete else "/api/" + template.removeprefix("/")


def _freshness_headers(state: Mapping[str, Any]) -> list[RawHeader]:
    as_of: datetime | None = state.get("data_as_of")
    if as_of is None:
        return []
    text = as_of.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return [(b"x-data-as-of", text.encode())]


def _client_of(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "unknown"


class CallerLimits:
    """Authenticates the caller and counts the request against the rate limit.

    A failed authentication is stored in the scope and not raised: some routes need no caller.
    """

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self._app = app
        self._access = services.identity.access
        self._cookie = services.identity.session_cookie
        self._rate_limits = RateLimits(services.settings, services.counters)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if "principal" in scope["state"]:
            # Part of a batch, whose caller is known and which was counted as a whole.
            await self._app(scope, receive, send)
            return
        principal = await self._identify(scope)
        scope["state"]["principal"] = principal
        counted = await self._count(scope, principal)
        if counted is not None:
            # RequestContext adds them, so that the response to a crash has them too.
            scope["state"]["limit_headers"] = counted.headers
            if counted.is_exceeded:
                await _rejection(counted.to_error(), scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _identify(self, scope: Scope) -> object:
        try:
            headers = Headers(scope=scope)
            token = self._cookie.find_token(headers)
            return await authenticate(self._access, headers, _client_of(scope), token)
        except SpanwiseError as error:
            return error

    async def _count(self, scope: Scope, principal: object) -> CountedRequest | None:
        # A fast path may have counted the request before passing it on.
        counted: CountedRequest | None = scope["state"].get("counted")
        if counted is not None:
            return counted
        caller = getattr(principal, "caller_id", None) or _client_of(scope)
        return await self._rate_limits.count(tier_of(scope["path"]), caller)


def _rejection(error: SpanwiseError, scope: Scope) -> Response:
    if scope["path"] in EXPORT_PATHS and scope["method"] == "POST":
        return otlp_error_response(error, Headers(scope=scope).get("content-type", ""))
    return error_response(error)
