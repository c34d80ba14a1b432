"""Prices of models, in US dollars for a million tokens."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from spanwise.model.record import Noun, UtcTime

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
class PriceKey:
    """A workspace's own price has no provider; everyone's has no workspace."""

    workspace: str
    provider: str
    model: str


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


class RepricingState(StrEnum):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"


@dataclass(frozen=True)
class RepricingTask:
    """Earlier spans that get a price anew, month by month; None = not looked up yet."""

    key: PriceKey
    generation: int
    state: RepricingState
    months_left: tuple[int, ...] | None
    months_total: int
    updated_at: datetime

    def describe(self) -> "Repricing":
        left = 0 if self.months_left is None else len(self.months_left)
        return Repricing(
            model=self.key.model,
            state=self.state,
            months_done=self.months_total - left,
            months_total=self.months_total,
            updated_at=self.updated_at,
        )


class Repricing(Noun):
    """How far earlier spans have got their new cost."""

    model: str
    state: RepricingState
    months_done: int
    months_total: int
    updated_at: UtcTime


class OwnPrice(ModelPrice):
    """A workspace's own price, with how far earlier spans have it."""

    repricing: Repricing | None = None


class PriceSource(StrEnum):
    OWN = "own"
    LIST = "list"
    NONE = "none"


class SeenModel(Noun):
    """A model that a workspace's spans name, and what a million of its tokens cost today."""

    model: str
    provider: str | None
    calls: int
    last_seen_at: UtcTime
    price_source: PriceSource
    input_per_million: float | None = None
    output_per_million: float | None = None
    cached_input_per_million: float | None = None
    cache_write_per_million: float | None = None
    reasoning_per_million: float | None = None
    above_tokens: int | None = None
