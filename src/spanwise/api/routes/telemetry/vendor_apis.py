"""Endpoints of other products' APIs, so that their SDKs work after changing host and key.

Scores become signals. Responses have the form that the SDK expects, not the envelope, and the paths
are not in the OpenAPI document.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from spanwise import __version__
from spanwise.api.auth import may_ingest
from spanwise.api.requests.raw_bodies import json_body
from spanwise.api.services import get_services
from spanwise.ingest.rest_bodies import MAX_SIGNALS, NewSignal, parse_signal
from spanwise.model.errors import Invalid

Handler = Callable[[Request], Awaitable[Response]]
_BATCH_STATUS = 207


async def get_info(_: Request) -> Response:
    """LangSmith's client asks what the server supports."""
    return JSONResponse({"version": __version__, "instance_flags": {}})


async def list_projects(request: Request) -> Response:
    """Langfuse's `auth_check` reads the project of the key."""
    caller = await may_ingest(request)
    owner = {"id": caller.workspace_id, "name": "Spanwise"}
    return JSONResponse({"data": [{**owner, "metadata": {}, "organization": owner}]})


async def record_langfuse_score(request: Request) -> Response:
    return await _record(request, _from_langfuse)


async def record_langsmith_feedback(request: Request) -> Response:
    return await _record(request, _from_langsmith)


async def _record(request: Request, convert: Callable[[Any], NewSignal]) -> Response:
    caller = await may_ingest(request)
    services = get_services(request)
    async with json_body(request) as body:
        signal = await services.ingest.receiver.read_json(caller.sender, body, convert)
    [recorded] = await services.telemetry.signals.record_all(caller.sender, [signal])
    return JSONResponse({"id": recorded.id})


async def record_langfuse_batch(request: Request) -> Response:
    """Record the scores of a batch, which Langfuse's SDKs send in the background."""
    caller = await may_ingest(request)
    services = get_services(request)
    async with json_body(request) as body:
        signals, successes, errors = await services.ingest.receiver.read_json(
            caller.sender, body, _from_batch
        )
    if signals:
        await services.telemetry.signals.record_all(caller.sender, signals)
    return JSONResponse({"successes": successes, "errors": errors}, _BATCH_STATUS)


def _from_batch(body: Any) -> tuple[list[NewSignal], list[Any], list[Any]]:  # noqa: ANN401
    """Return the scores of a batch, and what the SDK is told of those that count and do not."""
    batch = _object(body).get("batch")
    if not isinstance(batch, list) or len(batch) > MAX_SIGNALS:
        raise Invalid.field("batch", f"must be a list of at most {MAX_SIGNALS:,} events")
    signals: list[NewSignal] = []
    successes: list[Any] = []
    errors: list[Any] = []
    for event in batch:
        event_id = str(_object(event).get("id", ""))
        try:
            signals.append(_from_event(_object(event)))
        except Invalid as error:
            errors.append({"id": event_id, "status": 400, "message": error.message})
        else:
            successes.append({"id": event_id, "status": 201})
    return signals, successes, errors


async def create_image(request: Request) -> Response:
    """Traceloop's SDK asks where to upload an image before it exports the span."""
    caller = await may_ingest(request)
    services = get_services(request)
    async with json_body(request) as body:
        values = await services.ingest.receiver.read_json(caller.sender, body, _object)
    name = str(values.get("image_name", "image"))
    plain = re.sub(r"[^\w.-]", "_", name)
    # Without the setting, the address that the SDK called: the default names this machine only.
    base = get_services(request).settings.public_url or request.base_url
    path = request.url.path.rstrip("/")
    return JSONResponse({"url": f"{str(base).rstrip('/')}{path}/{plain}"}, 201)


async def upload_image(request: Request) -> Response:
    """Accept an image and drop it: Spanwise stores no media."""
    await may_ingest(request)
    async with json_body(request):
        return Response(status_code=204)


def _from_event(event: Mapping[str, Any]) -> NewSignal:
    if event.get("type") != "score-create":
        raise Invalid("only scores are accepted here; traces are sent over OTLP")
    given = {"timestamp": event.get("timestamp"), **_object(event.get("body"))}
    return _from_langfuse(given)


def _from_langfuse(score: Any) -> NewSignal:  # noqa: ANN401 -- any JSON value
    values = _object(score)
    return _to_signal(
        id=values.get("id"),
        signalName=values.get("name"),
        value=_number(values.get("value")),
        traceId=values.get("traceId"),
        spanId=values.get("observationId"),
        sessionId=values.get("sessionId"),
        comment=values.get("comment"),
        metadata=values.get("metadata") or {},
        timestamp=values.get("timestamp"),
    )


def _from_langsmith(feedback: Any) -> NewSignal:  # noqa: ANN401 -- any JSON value
    values = _object(feedback)
    return _to_signal(
        id=values.get("id"),
        signalName=values.get("key"),
        value=_number(values.get("score")),
        # Of a UUID, the exporter takes all digits as trace id and the first half as span id.
        traceId=_hex(values.get("trace_id")),
        spanId=_hex(values.get("run_id"))[:16] or None,
        comment=values.get("comment"),
        metadata={"value": values["value"]} if values.get("value") is not None else {},
    )


def _to_signal(**values: Any) -> NewSignal:  # noqa: ANN401 -- any JSON value
    return parse_signal({name: value for name, value in values.items() if value is not None})


def _number(value: Any) -> Any:  # noqa: ANN401 -- any JSON value
    if isinstance(value, str):
        raise Invalid.field("value", "must be a number; categories are not supported")
    return int(value) if isinstance(value, bool) else value


def _hex(uuid: Any) -> str:  # noqa: ANN401 -- any JSON value
    return str(uuid or "").replace("-", "")


def _object(value: Any) -> Mapping[str, Any]:  # noqa: ANN401 -- any JSON value
    if not isinstance(value, dict):
        raise Invalid("the body must be a JSON object")
    return value


_IMAGES = "/v2/traces/{trace_id}/spans/{span_id}/images"
# Product, method, path, handler.
ENDPOINTS: tuple[tuple[str, str, str, Handler], ...] = (
    ("Langfuse", "GET", "/api/public/projects", list_projects),
    ("Langfuse", "POST", "/api/public/scores", record_langfuse_score),
    ("Langfuse", "POST", "/api/public/ingestion", record_langfuse_batch),
    ("LangSmith", "GET", "/info", get_info),
    ("LangSmith", "POST", "/feedback", record_langsmith_feedback),
    ("Traceloop", "POST", _IMAGES, create_image),
    ("Traceloop", "POST", f"{_IMAGES}/{{name}}", upload_image),
)
routes = [Route(path, handler, methods=[method]) for _, method, path, handler in ENDPOINTS]
