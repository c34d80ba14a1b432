"""What every record has in common: it is frozen, and its names are camelCase on the wire only."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel
from ulid import ULID


class Noun(BaseModel):
    """A frozen record; here alone its names become camelCase for the wire."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
    )


def _in_utc(value: datetime) -> datetime:
    """Read a time without a zone as UTC, as every time of this service is."""
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies outside of the years 1 to 9999 in UTC") from None


UtcTime = Annotated[datetime, AfterValidator(_in_utc)]


def without_nul(value: str) -> str:
    """Refuse what PostgreSQL cannot store."""
    if "\x00" in value:
        raise ValueError("must not hold a NUL character")
    return value


def new_id(prefix: str) -> str:
    """Make an id with a readable prefix that sorts by creation time, such as `key_01j9…`."""
    return f"{prefix}_{str(ULID()).lower()}"


def utc_now() -> datetime:
    return datetime.now(UTC)
