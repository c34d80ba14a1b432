"""OTLP over HTTP: one Starlette endpoint for all kinds and paths."""

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from spanwise.api.auth import may_ingest
from spanwise.api.http.headers import parse_encoding
from spanwise.api.http.paths import EXPORT_PATHS
from spanwise.api.otlp.responses import (
    JSON,
    PROTOBUF,
    crash_error,
    export_message,
    otlp_error_response,
    otlp_response,
    parse_otlp_media_type,
)
from spanwise.api.services import get_services
from spanwise.model.errors import Invalid, SpanwiseError

log = structlog.get_logger()


async def export(request: Request) -> Response:
    """Store an export request and respond once it is in the journal."""
    try:
        return await _export(request)
    except SpanwiseError as error:
        failure = error
    except ClientDisconnect:
        failure = Invalid("the connection was closed before the whole body arrived")
    except Exception:
        log.exception("export_crashed", path=request.scope["path"])
        failure = crash_error()
    return otlp_error_response(failure, request.headers.get("content-type", ""))


async def _export(request: Request) -> Response:
    caller = await may_ingest(request)
    media_type = parse_otlp_media_type(request.headers.get("content-type", ""))
    if media_type is None:
        raise Invalid.field("Content-Type", f"must be {PROTOBUF} or {JSON}")
    encoding = parse_encoding(request.headers)
    services = get_services(request)
    kind = EXPORT_PATHS[request.scope["path"]]
    async with services.ingest.body_memory.read(request.stream(), encoding) as body:
        prepared = await services.ingest.receiver.receive_otlp(
            caller.sender, kind, body, is_json=media_type == JSON
        )
    return otlp_response(export_message(kind, prepared), media_type)


class ExportRoute(Route):
    """Matches only POST, so that other methods reach the routes after it, as any unknown path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child_scope = super().matches(scope)
        if match is not Match.FULL:
            return Match.NONE, {}
        return match, {**child_scope, "route": self}


routes = [ExportRoute(path, export, methods=["POST"]) for path in EXPORT_PATHS]
