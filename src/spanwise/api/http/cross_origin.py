"""CORS: only origins named in the settings may call the API from a web page."""

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response
from starlette.types import ASGIApp

from spanwise.api.http.errors import error_response
from spanwise.model.errors import Invalid

_READABLE = [
    "X-Request-Id",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "Retry-After",
    "X-Data-As-Of",
]


class CrossOrigin(CORSMiddleware):
    """Handles CORS and preflight requests; a rejected preflight gets an error in the envelope."""

    def __init__(self, app: ASGIApp, allow_origins: Sequence[str]) -> None:
        super().__init__(
            app,
            allow_origins=allow_origins,
            allow_methods=["GET", "POST", "PUT", "DELETE"],
            allow_headers=["*"],
            expose_headers=_READABLE,
        )

    def preflight_response(self, request_headers: Headers) -> Response:
        response = super().preflight_response(request_headers)
        if response.status_code == 200:  # noqa: PLR2004
            return response
        return error_response(Invalid("this origin, method or header is not allowed"))
