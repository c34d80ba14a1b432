"""Types of request fields that several routes share."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema

from spanwise.model.api_model import without_nul
from spanwise.model.errors import Invalid
from spanwise.model.times import parse_time
from spanwise.services.accounts.emails import parse_email
from spanwise.services.accounts.passwords import MAX_CHARACTERS, MIN_CHARACTERS


def _parse_time(value: Any) -> datetime:  # noqa: ANN401 -- runs before the type is known
    # pydantic alone would also accept numbers and numeric text as Unix times.
    if not isinstance(value, str):
        raise ValueError("must be an ISO 8601 time such as 2026-01-31T12:00:00Z")
    try:
        return parse_time("time", value)
    except Invalid as error:
        raise ValueError(error.details[0].message) from None


Email = Annotated[
    str, AfterValidator(parse_email), WithJsonSchema({"type": "string", "format": "email"})
]
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, strip_whitespace=True),
    AfterValidator(without_nul),
]
# Enforced by check_password; here only documented in the OpenAPI schema.
NewPassword = Annotated[
    str,
    Field(
        json_schema_extra={
            "minLength": MIN_CHARACTERS,
            "maxLength": MAX_CHARACTERS,
            "format": "password",
        }
    ),
]
Time = Annotated[datetime, BeforeValidator(_parse_time)]
LongText = Annotated[str, StringConstraints(max_length=10_000), AfterValidator(without_nul)]
