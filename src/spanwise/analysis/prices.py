"""Looks up list prices of models in a `genai-prices` data set, the installed one by default."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, time
from decimal import Decimal

from genai_prices.data_snapshot import DataSnapshot, get_snapshot
from genai_prices.types import ConditionalPrice, StartDateConstraint, TieredPrices
from genai_prices.types import ModelPrice as ListPrice

from spanwise.model.telemetry.prices import NO_RATE, PricePeriod, Rates

_Price = Decimal | TieredPrices | None
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# OpenTelemetry's provider names -> the data set's, where they differ.
_PROVIDERS = {
    "aws.bedrock": "aws",
    "azure.ai.openai": "azure",
    "azure.ai.inference": "azure",
    "gcp.gemini": "google",
    "gcp.gen_ai": "google",
    "gcp.vertex_ai": "google",
    "mistral_ai": "mistral",
    "moonshot_ai": "moonshotai",
    "x_ai": "x-ai",
}


def find_list_prices(
    provider: str, model: str, snapshot: DataSnapshot | None = None
) -> list[PricePeriod]:
    """Return the price periods of a model, oldest first; empty when it is unknown."""
    wanted = _PROVIDERS.get(provider, provider) or None
    snapshot = snapshot or get_snapshot()
    # An unknown provider or a gateway may serve a known model.
    for provider_id in dict.fromkeys((wanted, None)):
        try:
            _, found = snapshot.find_provider_model(model, None, provider_id, None)
        except LookupError:
            continue
        return [period for period in map(_to_period, _dated(found.prices)) if period is not None]
    return []


def _dated(
    prices: ListPrice | Sequence[ConditionalPrice],
) -> list[tuple[datetime, ListPrice]]:
    if isinstance(prices, ListPrice):
        return [(_EPOCH, prices)]
    dated = []
    for conditional in prices:
        constraint = conditional.constraint
        if constraint is None:
            dated.append((_EPOCH, conditional.prices))
        elif isinstance(constraint, StartDateConstraint):
            moment = datetime.combine(constraint.start_date, time(), UTC)
            dated.append((moment, conditional.prices))
        # Prices by time of day are ignored; the unconditional price applies.
    return sorted(dated, key=lambda item: item[0])


def _to_period(dated: tuple[datetime, ListPrice]) -> PricePeriod | None:
    valid_from, price = dated
    if price.input_mtok is None and price.output_mtok is None:
        return None
    tiers = [
        tier.start
        for value in vars(price).values()
        if isinstance(value, TieredPrices)
        for tier in value.tiers
    ]
    if not tiers:
        return PricePeriod(valid_from, _rates(price, _base))
    above = min(tiers)
    return PricePeriod(
        valid_from, _rates(price, _base), above, _rates(price, lambda p: _beyond(p, above))
    )


def _rates(price: ListPrice, rate: Callable[[_Price], float | None]) -> Rates:
    def first(*names: str, default: float = 0.0) -> float:
        values = (rate(getattr(price, name)) for name in names)
        return next((value for value in values if value is not None), default)

    return Rates(
        input=first("input_mtok"),
        cached_input=first("cache_read_mtok", "input_mtok"),
        cache_write=first("cache_write_mtok", "input_mtok"),
        output=first("output_mtok"),
        reasoning=first("output_reasoning_mtok", "output_mtok"),
        audio_input=first("input_audio_mtok", default=NO_RATE),
        audio_output=first("output_audio_mtok", default=NO_RATE),
        per_call=first("requests_kcount") / 1000,
    )


def _base(price: _Price) -> float | None:
    if price is None:
        return None
    return float(price.base if isinstance(price, TieredPrices) else price)


def _beyond(price: _Price, above: int) -> float | None:
    if isinstance(price, TieredPrices):
        for tier in price.tiers:
            if tier.start >= above:
                return float(tier.price)
    return _base(price)


def count_models(snapshot: DataSnapshot) -> int:
    """Return how many models of a list have a price."""
    return sum(
        any(_to_period(dated) for dated in _dated(model.prices))
        for provider in snapshot.providers
        for model in provider.models
    )
