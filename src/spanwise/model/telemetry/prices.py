"""Prices of models and tools in US dollars, and the repricing of stored spans."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from spanwise.model.api_model import ApiModel, UtcTime

Dollars = Annotated[float, Field(ge=0, le=1_000_000, strict=True)]

_FIRST_YEAR, _LAST_YEAR = 2000, 2099


def _to_whole_second(moment: datetime) -> datetime:
    """Round down: the engine compares whole seconds, and stores none beyond this range."""
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise ValueError(f"must lie between the years {_FIRST_YEAR} and {_LAST_YEAR}")
    return moment.replace(microsecond=0)


EffectiveFrom = Annotated[UtcTime, AfterValidator(_to_whole_second)]


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


class PriceKind(StrEnum):
    MODEL = "model"
    TOOL = "tool"


class ModelPrice(ApiModel):
    """A price set by a workspace, in US dollars, for a model's usage or a tool's calls.

    Missing rates for tokens default to the input or output rate. Audio and images without a rate
    have no price. Without `effectiveFrom` it applies from the beginning.
    """

    kind: PriceKind = PriceKind.MODEL
    model: str
    effective_from: EffectiveFrom | None = None
    input_per_million: Dollars
    output_per_million: Dollars
    cached_input_per_million: Dollars | None = None
    cache_write_per_million: Dollars | None = None
    reasoning_per_million: Dollars | None = None
    audio_input_per_million: Dollars | None = None
    audio_output_per_million: Dollars | None = None
    per_call: Dollars | None = None
    per_image: Dollars | None = None
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
            audio_input=default(self.audio_input_per_million, NO_RATE),
            audio_output=default(self.audio_output_per_million, NO_RATE),
            per_call=default(self.per_call, 0.0),
            per_image=default(self.per_image, NO_RATE),
        )


def own_key(workspace: str, kind: PriceKind, name: str) -> PriceKey:
    """Return the key of a price that a workspace has set."""
    return PriceKey(workspace, TOOL if kind is PriceKind.TOOL else "", name)


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
            kind=PriceKind.TOOL if self.key.provider == TOOL else PriceKind.MODEL,
            state=self.state,
            months_done=self.months_total - left,
            months_total=self.months_total,
            updated_at=self.updated_at,
        )


class Repricing(ApiModel):
    """Progress of repricing stored spans."""

    model: str
    kind: PriceKind = PriceKind.MODEL
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


class PriceListSource(StrEnum):
    BUILT_IN = "built-in"
    FILE = "file"


class PriceListInfo(ApiModel):
    """The public price list in use. `error` says why the latest file was refused."""

    source: PriceListSource
    date: date
    models: int
    error: str | None = None
