"""Prices of models, in US dollars for a million tokens."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field

from spanwise.model.noun import Noun, UtcTime

Dollars = Annotated[float, Field(ge=0, le=1_000_000, strict=True)]


@dataclass(frozen=True)
class Rates:
    """What a million tokens of each sort cost."""

    input: float
    cached_input: float
    cache_write: float
    output: float
    reasoning: float


@dataclass(frozen=True)
class PricePeriod:
    """The rates from one moment on; `above` holds for calls with more input than `above_tokens`."""

    valid_from: datetime
    rates: Rates
    above_tokens: int = 0
    above: Rates | None = None


class ModelPrice(Noun):
    """A price that a workspace has set itself. A rate that is not given follows from the others."""

    model: str
    input_per_million: Dollars
    output_per_million: Dollars
    cached_input_per_million: Dollars | None = None
    cache_write_per_million: Dollars | None = None
    reasoning_per_million: Dollars | None = None
    updated_at: UtcTime

    def to_rates(self) -> Rates:
        def default(value: float | None, fallback: float) -> float:
            return fallback if value is None else value

        return Rates(
            input=self.input_per_million,
            cached_input=default(self.cached_input_per_million, self.input_per_million),
            cache_write=default(self.cache_write_per_million, self.input_per_million),
            output=self.output_per_million,
            reasoning=default(self.reasoning_per_million, self.output_per_million),
        )
