"""Prices in the engine: a dictionary that the extraction looks costs up in."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.model.prices import PricePeriod
from spanwise.storage.telemetry.engine import query_rows

_FOREVER = datetime(2106, 1, 1, tzinfo=UTC)
_RATES = ("input", "cached_input", "cache_write", "output", "reasoning")
_COLUMNS = (
    *("workspace", "provider", "model", "valid_from", "valid_until", "is_known", "above_tokens"),
    *_RATES,
    *(f"above_{rate}" for rate in _RATES),
    "version",
)
_ATTRIBUTES = ("is_known", "above_tokens", *_RATES, *(f"above_{rate}" for rate in _RATES))

DICTIONARY = f"""CREATE DICTIONARY IF NOT EXISTS price_list
(
    workspace String, provider String, model String,
    valid_from DateTime('UTC'), valid_until DateTime('UTC'),
    is_known UInt8, above_tokens UInt32, {", ".join(f"{name} Float64" for name in _ATTRIBUTES[2:])}
)
PRIMARY KEY workspace, provider, model
SOURCE(CLICKHOUSE(QUERY 'SELECT * EXCEPT version FROM prices FINAL WHERE is_known'))
LAYOUT(COMPLEX_KEY_RANGE_HASHED())
RANGE(MIN valid_from MAX valid_until)
LIFETIME(0)"""


@dataclass(frozen=True)
class PriceKey:
    """A workspace's own price has no provider; everyone's has no workspace."""

    workspace: str
    provider: str
    model: str


def price_of(workspace: str, provider: str, model: str, moment: str) -> str:
    """SQL for the price of a model: the workspace's own, else everyone's."""
    names = "(" + ", ".join(f"'{name}'" for name in _ATTRIBUTES) + ")"
    own = f"dictGet('price_list', {names}, ({workspace}, '', {model}), {moment})"
    everyones = f"dictGet('price_list', {names}, ('', {provider}, {model}), {moment})"
    return f"if(dictHas('price_list', ({workspace}, '', {model}), {moment}), {own}, {everyones})"


def cost_at(price: str) -> str:
    """SQL for the cost of a call, from its token columns and its price."""
    first, beyond = 3, 3 + len(_RATES)
    counts = (
        "if(input_tokens > cached_tokens + cache_write_tokens, "
        "input_tokens - cached_tokens - cache_write_tokens, 0)",
        "cached_tokens",
        "cache_write_tokens",
        "if(output_tokens > reasoning_tokens, output_tokens - reasoning_tokens, 0)",
        "least(reasoning_tokens, output_tokens)",
    )

    def total(start: int) -> str:
        return " + ".join(f"{count} * {price}.{start + i}" for i, count in enumerate(counts))

    is_beyond = f"{price}.2 > 0 AND input_tokens > {price}.2"
    return f"if({is_beyond}, {total(beyond)}, {total(first)}) / 1000000"


def put_prices(client: Client, key: PriceKey, periods: Sequence[PricePeriod], version: int) -> None:
    """Write the price of a model; no periods means that it has none (any more)."""
    known = query_rows(
        client,
        "SELECT valid_from FROM prices FINAL WHERE workspace = {workspace:String} "
        "AND provider = {provider:String} AND model = {model:String} AND is_known",
        {"workspace": key.workspace, "provider": key.provider, "model": key.model},
    )
    kept = {period.valid_from for period in periods}
    gone = [row["valid_from"].replace(tzinfo=UTC) for row in known]
    rows = [_row(key, moment, _FOREVER, None, version) for moment in gone if moment not in kept]
    # Both ends of the dictionary's range belong to it.
    ends = [*(period.valid_from - timedelta(seconds=1) for period in periods[1:]), _FOREVER]
    rows += [
        _row(key, period.valid_from, end, period, version)
        for period, end in zip(periods, ends, strict=True)
    ]
    if rows:
        client.insert("prices", rows, column_names=_COLUMNS)
        client.command("SYSTEM RELOAD DICTIONARY price_list")


def _row(
    key: PriceKey, start: datetime, end: datetime, period: PricePeriod | None, version: int
) -> list[Any]:
    rates = (0.0,) * len(_RATES) if period is None else astuple(period.rates)
    above = rates if period is None or period.above is None else astuple(period.above)
    return [
        *(key.workspace, key.provider, key.model, start, end),
        int(period is not None),
        0 if period is None else period.above_tokens,
        *rates,
        *above,
        version,
    ]
