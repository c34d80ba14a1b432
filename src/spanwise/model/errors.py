"""Domain errors: a machine-readable code and a message. The API maps codes to HTTP statuses."""

from collections.abc import Sequence
from enum import StrEnum

from spanwise.model.api_model import ApiModel


class Code(StrEnum):
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    RATE_LIMITED = "RATE_LIMITED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class FieldProblem(ApiModel):
    """A problem with one field of a request."""

    field: str
    message: str


class SpanwiseError(Exception):
    """An error whose message may be shown to the caller. Any other exception is a bug."""

    code = Code.INTERNAL_ERROR

    def __init__(self, message: str, details: Sequence[FieldProblem] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = tuple(details)


class Unauthorized(SpanwiseError):  # noqa: N818 -- subclasses are named after what happened
    """Authentication is missing or invalid."""

    code = Code.UNAUTHORIZED


class Forbidden(SpanwiseError):  # noqa: N818
    """The caller is authenticated but not allowed to do this."""

    code = Code.FORBIDDEN


class NotFound(SpanwiseError):  # noqa: N818
    """The record does not exist, or belongs to another workspace."""

    code = Code.NOT_FOUND


class Invalid(SpanwiseError):  # noqa: N818
    """The request is not valid; `details` names the fields."""

    code = Code.VALIDATION_ERROR

    @classmethod
    def field(cls, field: str, message: str) -> "Invalid":
        return cls(f"{field}: {message}", [FieldProblem(field=field, message=message)])


class RateLimited(SpanwiseError):  # noqa: N818
    """Too many requests; retry after `retry_after_seconds`."""

    code = Code.RATE_LIMITED

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(SpanwiseError):  # noqa: N818
    """A store or a queue cannot accept the request now; nothing was stored, so retrying is safe."""

    def __init__(self, message: str, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class StartError(SpanwiseError):
    """The service or a command cannot start; the operator sees only the message."""
