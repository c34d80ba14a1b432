"""The errors of the domain: a code for machines, a sentence for people, and nothing of HTTP."""

from collections.abc import Sequence
from enum import StrEnum

from spanwise.model.record import Noun


class Code(StrEnum):
    UNAUTHORIZED = "UNAUTHORIZED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    VALIDATION_ERROR = "VALIDATION_ERROR"
    RATE_LIMITED = "RATE_LIMITED"
    INTERNAL_ERROR = "INTERNAL_ERROR"


class FieldProblem(Noun):
    """One thing that is wrong with one field of a request."""

    field: str
    message: str


class SpanwiseError(Exception):
    """An error that a caller may read. Anything else that is raised is a defect of ours."""

    code = Code.INTERNAL_ERROR

    def __init__(self, message: str, details: Sequence[FieldProblem] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.details = tuple(details)


class Unauthorized(SpanwiseError):  # noqa: N818 -- reads as what happened; all end in SpanwiseError
    """Authentication is missing or invalid."""

    code = Code.UNAUTHORIZED


class Forbidden(SpanwiseError):  # noqa: N818
    """The caller is known but may not do this."""

    code = Code.FORBIDDEN


class NotFound(SpanwiseError):  # noqa: N818
    """The record does not exist, or belongs to someone else."""

    code = Code.NOT_FOUND


class Invalid(SpanwiseError):  # noqa: N818
    """The request breaks a rule; `details` names the fields."""

    code = Code.VALIDATION_ERROR

    @classmethod
    def field(cls, field: str, message: str) -> "Invalid":
        return cls(f"{field}: {message}", [FieldProblem(field=field, message=message)])


class RateLimited(SpanwiseError):  # noqa: N818
    """Too many requests; trying again after `retry_after_seconds` will do."""

    code = Code.RATE_LIMITED

    def __init__(self, message: str, retry_after_seconds: int) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(SpanwiseError):  # noqa: N818
    """A store or a queue cannot take the request now; nothing was kept and a retry is safe."""

    def __init__(self, message: str, retry_after_seconds: int = 1) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class StartError(SpanwiseError):
    """The service cannot start; the message is the one sentence its operator sees."""
