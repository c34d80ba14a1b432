"""Builds the OpenAPI document, and adds what FastAPI leaves out: security schemes and errors."""

import asyncio
from typing import Any

import orjson
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from starlette.responses import Response

from spanwise import __version__
from spanwise.api.http.envelope import Failure
from spanwise.api.http.rate_limits import tier_of
from spanwise.api.openapi.otlp import OTLP_PATHS

_DESCRIPTIONS = {
    400: "The request is invalid; `details` names the fields.",
    401: "Authentication is missing or invalid.",
    403: "The caller may not do this.",
    404: "The caller's workspace has no such record.",
    429: "Too many requests.",
    500: "An internal error.",
    503: "A store or queue is unavailable; retry.",
}
_METHODS = {"get", "put", "post", "delete", "patch"}


def install_openapi(app: FastAPI) -> None:
    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = build_document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]

    # Rendered once: unauthenticated clients would otherwise hold 400 KB per unread response. In a
    # thread, because it takes a second, and only when somebody asks, because most never do.
    is_rendering = asyncio.Lock()
    rendered: list[bytes] = []

    @app.get("/api/openapi.json", include_in_schema=False)
    async def document() -> Response:
        async with is_rendering:
            if not rendered:
                rendered.append(await asyncio.to_thread(lambda: orjson.dumps(app.openapi())))
        return Response(rendered[0], media_type="application/json")


def describe_body(kind: Any) -> dict[str, Any]:  # noqa: ANN401 -- any type that pydantic knows
    """Return the `openapi_extra` of a route that reads its body itself."""
    schema = TypeAdapter(kind).json_schema(ref_template="#/components/schemas/{model}")
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def build_document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title="Spanwise",
        version=__version__,
        description="Observability and analytics for AI applications.",
        routes=app.routes,
        servers=[{"url": "/"}],
    )
    schemas = document["components"]["schemas"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            if method in _METHODS:
                _add_error_responses(operation, path, method)
                schemas.update(_take_definitions(operation))
    document["paths"].update(OTLP_PATHS)
    for generated in ("HTTPValidationError", "ValidationError"):
        schemas.pop(generated, None)
    failure = Failure.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(failure.pop("$defs"))
    schemas["Failure"] = failure
    document["components"]["securitySchemes"] = {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "JWT",
            "description": "The token of `POST /api/auth/login`. The dashboard keeps its own in a "
            "cookie, which counts only together with a header that other sites cannot send.",
        },
        "apiKey": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    }
    return document


def _add_error_responses(operation: dict[str, Any], path: str, method: str) -> None:
    responses = operation["responses"]
    responses.pop("422", None)
    statuses = {400, 500, 503}
    if "security" in operation:
        # 404 also stands for a workspace of which the caller is not a member.
        statuses |= {401, 403, 404}
    if "{" in path or method == "delete":
        statuses.add(404)
    if path.endswith(("/register", "/login", "/session", "-password")):
        statuses |= {401, 403}
    if tier_of(path) is not None:
        statuses.add(429)
    # Routes without the envelope declare their own errors.
    for status in sorted(statuses - {int(known) for known in responses}):
        responses[str(status)] = {
            "description": _DESCRIPTIONS[status],
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
        }


def _take_definitions(operation: dict[str, Any]) -> dict[str, Any]:
    """Remove the `$defs` that `describe_body` added, which belong to the shared components."""
    definitions: dict[str, Any] = {}
    for content in operation.get("requestBody", {}).get("content", {}).values():
        # Copied, because the route reuses its schema for the next document.
        content["schema"] = dict(content["schema"])
        definitions.update(content["schema"].pop("$defs", {}))
    return definitions
