"""Types of request fields that more than one route takes."""

from datetime import datetime
from typing import Annotated, Any

from email_validator import EmailNotValidError, validate_email
from pydantic import AfterValidator, BeforeValidator, StringConstraints, WithJsonSchema

from spanwise.model.noun import UtcTime


def _valid_email(value: str) -> str:
    try:
        # Installations behind a firewall have addresses such as me@corp.local.
        return validate_email(
            value, check_deliverability=False, globally_deliverable=False
        ).normalized
    except EmailNotValidError as error:
        raise ValueError(str(error)) from None


def _without_nul(value: str) -> str:
    if "\x00" in value:
        raise ValueError("must not hold a NUL character")
    return value


def _only_text(value: Any) -> Any:  # noqa: ANN401 -- runs before the type is known
    if not isinstance(value, str | datetime):
        raise ValueError("must be an ISO 8601 time such as 2026-01-31T12:00:00Z")
    return value


Email = Annotated[
    str, AfterValidator(_valid_email), WithJsonSchema({"type": "string", "format": "email"})
]
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, strip_whitespace=True),
    AfterValidator(_without_nul),
]
Moment = Annotated[UtcTime, BeforeValidator(_only_text)]
