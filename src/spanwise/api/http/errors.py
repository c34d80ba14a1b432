"""Turns errors into responses, with one table from error codes to HTTP statuses."""

from collections.abc import Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from spanwise.api.http.envelope import Failure, Problem
from spanwise.model.errors import (
    Code,
    FieldProblem,
    Invalid,
    NotFound,
    RateLimited,
    SpanwiseError,
    Unavailable,
)
from spanwise.storage.disk import is_disk_fault

log = structlog.get_logger()

STATUS = {
    Code.VALIDATION_ERROR: 400,
    Code.UNAUTHORIZED: 401,
    Code.FORBIDDEN: 403,
    Code.NOT_FOUND: 404,
    Code.RATE_LIMITED: 429,
    Code.INTERNAL_ERROR: 500,
}
SERVICE_UNAVAILABLE = 503


def error_response(error: SpanwiseError) -> Response:
    """Put an error into the envelope; a temporary failure is always 503."""
    status = SERVICE_UNAVAILABLE if isinstance(error, Unavailable) else STATUS[error.code]
    problem = Problem(message=error.message, code=error.code, details=list(error.details) or None)
    headers = {}
    if isinstance(error, RateLimited | Unavailable):
        headers["Retry-After"] = str(error.retry_after_seconds)
    return Response(
        Failure(error=problem).model_dump_json(exclude_none=True),
        status_code=status,
        headers=headers,
        media_type="application/json",
    )


def crash_response() -> Response:
    """Return the response to an unexpected exception, which must not reveal its text."""
    return error_response(
        SpanwiseError("internal error; the server log has the details under the request id")
    )


def install_error_handlers(app: FastAPI) -> None:
    @app.exception_handler(SpanwiseError)
    async def _domain(_request: Request, error: SpanwiseError) -> Response:
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def _validation(_request: Request, error: RequestValidationError) -> Response:
        return error_response(describe_validation(error.errors()))

    @app.exception_handler(OSError)
    async def _disk(_request: Request, error: OSError) -> Response:
        if not is_disk_fault(error):
            raise error
        log.warning("disk_fault", error=str(error))
        return error_response(Unavailable(f"the disk cannot be written: {error.strerror}", 5))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        return error_response(_from_http(request, error))


def describe_validation(problems: Sequence[Any]) -> Invalid:
    """Turn pydantic's errors into one message per field, named as in the request."""
    details = [FieldProblem(field=_field_of(p), message=_message_of(p)) for p in problems]
    first = details[0]
    return Invalid(f"{first.field}: {first.message}", details)


def _field_of(problem: Any) -> str:  # noqa: ANN401 -- pydantic's error dictionary
    location, *path = problem["loc"]
    if problem["type"] == "json_invalid" or not path:
        return str(location)
    return ".".join(str(part) for part in path)


def _message_of(problem: Any) -> str:  # noqa: ANN401
    if problem["type"] == "json_invalid":
        return f"is not valid JSON ({problem['ctx']['error']})"
    if problem["type"] == "missing":
        return "is required"
    message: str = problem["msg"]
    return message.removeprefix("Value error, ")


def _from_http(request: Request, error: HTTPException) -> SpanwiseError:
    if error.status_code in {404, 405}:
        return NotFound(f"there is no {request.method} {request.url.path}")
    return Invalid(str(error.detail))
