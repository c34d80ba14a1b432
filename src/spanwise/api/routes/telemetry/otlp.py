"""OTLP over HTTP. Plain endpoints, not FastAPI's: this is the hottest path of the service."""

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from spanwise.api.auth import may_ingest
from spanwise.api.otlp.responses import (
    JSON,
    PATHS,
    PROTOBUF,
    answer_otlp,
    answer_otlp_error,
    media_type_of,
    to_response,
)
from spanwise.api.services import get_services
from spanwise.model.errors import Invalid, SpanwiseError

log = structlog.get_logger()


async def export(request: Request) -> Response:
    """Store an export request; the answer comes when it is safe."""
    try:
        return await _export(request)
    except SpanwiseError as error:
        refusal = error
    except ClientDisconnect:
        refusal = Invalid("the connection ended before the body did")
    except Exception:
        log.exception("export_crashed", path=request.scope["path"])
        refusal = SpanwiseError("something went wrong on our side; the log has it")
    return answer_otlp_error(refusal, request.headers.get("content-type", ""))


async def _export(request: Request) -> Response:
    caller = await may_ingest(request)
    media_type = media_type_of(request.headers.get("content-type", ""))
    if media_type is None:
        raise Invalid.field("Content-Type", f"must be {PROTOBUF} or {JSON}")
    encoding = request.headers.get("content-encoding", "").strip().lower()
    services = get_services(request)
    kind = PATHS[request.scope["path"]]
    async with services.body_memory.read(request.stream(), encoding) as body:
        prepared = await services.receiver.receive_otlp(
            caller.workspace_id, kind, body, is_json=media_type == JSON
        )
    return answer_otlp(to_response(kind, prepared), media_type)


routes = [Route(path, export, methods=["POST"]) for path in PATHS]
