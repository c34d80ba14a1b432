"""Masking rules of a workspace: what is replaced or removed before telemetry is stored."""

from enum import StrEnum
from functools import cache
from typing import Annotated, Any

import re2
from pydantic import AfterValidator, Field, StringConstraints, field_validator

from spanwise.model.api_model import ApiModel, without_nul

MAX_PATTERNS = 20
MAX_REGEX_CHARACTERS = 500
MAX_DROPPED = 50
MAX_GLOB_CHARACTERS = 200
# RE2 is linear in the text, but a text may take as many steps per byte as the program is long.
MAX_PROGRAM_SIZE = 1500


class MaskingMode(StrEnum):
    OFF = "off"
    MASK = "mask"
    METADATA_ONLY = "metadataOnly"


class Detector(StrEnum):
    """A kind of value that is found without a pattern; masked values read `[email]`."""

    EMAIL = "email"
    PHONE = "phone"
    CREDIT_CARD = "creditCard"
    IBAN = "iban"
    IP_ADDRESS = "ipAddress"
    SECRET = "secret"


@cache
def re2_options() -> Any:  # noqa: ANN401 -- re2 has no types
    options = re2.Options()
    # It would write invalid patterns to stderr.
    options.log_errors = False
    options.never_capture = True
    return options


def _linear(regex: str) -> str:
    """Reject patterns that RE2 refuses, among them all that could take exponential time."""
    try:
        compiled = re2.compile(regex, re2_options())
    except re2.error as error:
        reason = error.args[0]
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise ValueError(
            f"is not a valid RE2 pattern ({reason}); look-around and back-references are not "
            "supported"
        ) from None
    if max(compiled.programsize, compiled.reverseprogramsize) > MAX_PROGRAM_SIZE:
        raise ValueError("is too large when compiled; use smaller repetition counts")
    if compiled.search("") is not None:
        raise ValueError("must not match an empty text")
    return regex


PatternName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,40}$")]
Regex = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_REGEX_CHARACTERS),
    AfterValidator(without_nul),
    AfterValidator(_linear),
]
Glob = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_GLOB_CHARACTERS),
    AfterValidator(without_nul),
]


class MaskingPattern(ApiModel):
    """A pattern of the workspace; what it matches reads `[name]`."""

    name: PatternName
    regex: Regex


class MaskingRules(ApiModel):
    mode: MaskingMode = MaskingMode.OFF
    detectors: Annotated[list[Detector], Field(max_length=len(Detector))] = Field(
        default_factory=list
    )
    patterns: Annotated[list[MaskingPattern], Field(max_length=MAX_PATTERNS)] = Field(
        default_factory=list
    )
    drop_attributes: Annotated[list[Glob], Field(max_length=MAX_DROPPED)] = Field(
        default_factory=list
    )

    @field_validator("detectors")
    @classmethod
    def _are_distinct(cls, value: list[Detector]) -> list[Detector]:
        return list(dict.fromkeys(value))

    @field_validator("patterns")
    @classmethod
    def _have_own_names(cls, value: list[MaskingPattern]) -> list[MaskingPattern]:
        if len({pattern.name for pattern in value}) < len(value):
            raise ValueError("must have different names")
        return value
