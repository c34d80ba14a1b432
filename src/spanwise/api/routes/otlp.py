"""OTLP over HTTP. Plain endpoints, not FastAPI's: this is the hottest path of the service."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from spanwise.api.guard import may_ingest
from spanwise.api.otlp import (
    JSON,
    PATHS,
    PROTOBUF,
    answer_otlp,
    answer_otlp_error,
    media_type_of,
    to_response,
)
from spanwise.api.services import get_services
from spanwise.ingest.compression import read_body
from spanwise.model.errors import Invalid, SpanwiseError


async def export(request: Request) -> Response:
    """Store an export request; the answer comes when it is safe."""
    content_type = request.headers.get("content-type", "")
    media_type = media_type_of(content_type)
    try:
        caller = may_ingest(request)
        if content_type.partition(";")[0].strip().lower() not in {JSON, PROTOBUF}:
            raise Invalid.field("Content-Type", f"must be {PROTOBUF} or {JSON}")
        encoding = request.headers.get("content-encoding", "").strip().lower()
        body = await read_body(request.stream(), encoding)
        kind = PATHS[request.url.path]
        prepared = await get_services(request).receiver.receive_otlp(
            caller.workspace_id, kind, body, is_json=media_type == JSON
        )
        return answer_otlp(to_response(kind, prepared), media_type)
    except SpanwiseError as error:
        return answer_otlp_error(error, media_type)


routes = [Route(path, export, methods=["POST"]) for path in PATHS]
