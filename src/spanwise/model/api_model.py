"""Base class of API models, UTC times and ids."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from ulid import ULID

# Returns the current time; tests and the demo replace it.
Clock = Callable[[], datetime]


class ApiModel(BaseModel):
    """A frozen model with snake_case fields that are camelCase in JSON."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
    )


def _in_utc(value: datetime) -> datetime:
    """Convert to UTC; a time without a zone is treated as UTC."""
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("must lie between the years 1 and 9999 in UTC") from None


UtcTime = Annotated[datetime, AfterValidator(_in_utc)]


def without_nul(value: str) -> str:
    """Reject NUL characters, which PostgreSQL cannot store."""
    if "\x00" in value:
        raise ValueError("must not contain a NUL character")
    return value


def new_id(prefix: str) -> str:
    """Return a prefixed id that sorts by creation time, such as `key_01j9…`."""
    return f"{prefix}_{str(ULID()).lower()}"


def utc_now() -> datetime:
    return datetime.now(UTC)
