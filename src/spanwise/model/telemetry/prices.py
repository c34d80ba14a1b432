"""Model prices in US dollars per million tokens, and the repricing of stored spans."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from spanwise.model.api_model import ApiModel, UtcTime

Dollars = Annotated[float, Field(ge=0, le=1_000_000, strict=True)]


# Provider of the price of a tool.
TOOL = "tool"
# A rate that a price does not have: usage of this kind has no price.
NO_RATE = -1.0


@dataclass(frozen=True)
class Rates:
    """US dollars: per million tokens by token type, per call, and per image."""

    input: float
    cached_input: float
    cache_write: float
    output: float
    reasoning: float
    audio_input: float = NO_RATE
    audio_output: float = NO_RATE
    per_call: float = 0.0
    per_image: float = NO_RATE


@dataclass(frozen=True)
class PriceKey:
    """Workspace prices have an empty provider, or `TOOL` for the price of a tool's calls.

    List prices have an empty workspace.
    """

    workspace: str
    provider: str
    model: str


@dataclass(frozen=True)
class PricePeriod:
    """Rates from a moment on; `above` applies to calls with more than `above_tokens` input."""

    valid_from: datetime
    rates: Rates
    above_tokens: int = 0
    above: Rates | None = None


class ModelPrice(ApiModel):
    """A price set by a workspace. Missing rates default to the input or output rate."""

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
    """Repricing of stored spans, month by month; `months_left` is None until months are listed."""

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


class Repricing(ApiModel):
    """Progress of repricing stored spans."""

    model: str
    state: RepricingState
    months_done: int
    months_total: int
    updated_at: UtcTime


class OwnPrice(ModelPrice):
    """A price set by the workspace, with the progress of repricing stored spans."""

    repricing: Repricing | None = None


class PriceSource(StrEnum):
    OWN = "own"
    LIST = "list"
    NONE = "none"


class SeenModel(ApiModel):
    """A model found in the workspace's spans, with its current price in US dollars.

    A null rate for audio or images means that such usage has no price.
    """

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
    audio_input_per_million: float | None = None
    audio_output_per_million: float | None = None
    per_call: float | None = None
    per_image: float | None = None
    above_tokens: int | None = None
