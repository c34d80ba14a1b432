"""Writes prices to the engine's dictionary, from which extraction computes costs."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.prices import TOOL, PriceKey, PricePeriod, Rates
from spanwise.storage.telemetry.engine.conditions import quoted
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.rows.decoding import in_utc

_FOREVER = datetime(2106, 1, 1, tzinfo=UTC)
# Threshold of input tokens that no call exceeds.
NO_THRESHOLD = 2**32 - 1
RATE_NAMES = tuple(rate.name for rate in fields(Rates))
# In dollars; the others are per million.
PER_UNIT_RATES = {"per_call", "per_image"}
# Rates without a fallback.
OPTIONAL_RATES = ("audio_input", "audio_output", "per_image")
_COLUMNS = (
    *("workspace", "provider", "model", "valid_from", "valid_until", "is_known", "above_tokens"),
    *RATE_NAMES,
    *(f"above_{rate}" for rate in RATE_NAMES),
    "version",
)


def dictionary_ddl(user: str = "", password: str = "", database: str = "") -> str:
    """SQL that creates the dictionary; a server reads its source with these credentials."""
    credentials = {"USER": user, "PASSWORD": password, "DB": database}
    given = "".join(f"{name} {quoted(value)} " for name, value in credentials.items() if value)
    table = f"`{database.replace('`', '')}`.prices" if database else "prices"
    missing = ", ".join(f"{rate} < 0" for rate in OPTIONAL_RATES)
    rows = f"""SELECT workspace, provider, model, valid_from, valid_until, is_known,
 if(above_tokens = 0, {NO_THRESHOLD}, above_tokens), {_rates_sql("")}, {_rates_sql("above_")},
 [{missing}] FROM {table} FINAL WHERE is_known"""
    return f"{_DICTIONARY_HEAD}\nSOURCE(CLICKHOUSE({given}QUERY {quoted(rows)})){_DICTIONARY_TAIL}"


def _rates_sql(prefix: str) -> str:
    """SQL for the rates per million units; a missing one is 0."""
    rates = (
        f"greatest({prefix}{rate}, 0){' * 1e6' if rate in PER_UNIT_RATES else ''}"
        for rate in RATE_NAMES
    )
    return f"[{', '.join(rates)}]"


_DICTIONARY_HEAD = """CREATE DICTIONARY IF NOT EXISTS price_list
(
    workspace String, provider String, model String,
    valid_from DateTime('UTC'), valid_until DateTime('UTC'), is_known UInt8,
    beyond UInt32, rates Array(Float64), above_rates Array(Float64), missing Array(UInt8)
)
PRIMARY KEY workspace, provider, model"""
_DICTIONARY_TAIL = """
LAYOUT(COMPLEX_KEY_RANGE_HASHED())
RANGE(MIN valid_from MAX valid_until)
LIFETIME(0)"""


def rates_of(workspace: str, provider: str, model: str, tool: str, moment: str) -> str:
    """SQL for the price of a model, or of a tool if `is_tool`: the workspace's own, else a model's
    list price.

    A tuple of: whether it is known, the input tokens above which the second rates apply, the rates,
    the second rates, and which rates for audio input, audio output and images are missing.
    """
    names = "('is_known', 'beyond', 'rates', 'above_rates', 'missing')"
    own, listed = f"({workspace}, '', {model})", f"('', {provider}, {model})"
    if tool:
        own = f"({workspace}, if(is_tool, '{TOOL}', ''), if(is_tool, {tool}, {model}))"
        listed = f"('', if(is_tool, '{TOOL}', {provider}), {model})"
    list_price = f"dictGet('price_list', {names}, {listed}, {moment})"
    return f"dictGetOrDefault('price_list', {names}, {own}, {moment}, {list_price})"


def cost_with(rates: str, is_error: str) -> str:
    """SQL for the cost of a call from its usage columns and rates; a failed call has no fee."""
    return f"""arrayDotProduct(
   [input_tokens - least(input_tokens, cached_tokens + cache_write_tokens + audio_input_tokens),
    cached_tokens, cache_write_tokens,
    output_tokens - least(output_tokens, reasoning_tokens + audio_output_tokens),
    least(output_tokens, reasoning_tokens), audio_input_tokens, audio_output_tokens,
    NOT {is_error}, images],
   arrayResize(if(input_tokens > {rates}.2, {rates}.4, {rates}.3), {len(RATE_NAMES)})) / 1000000"""


def unpriced_tokens_with(rates: str) -> str:
    """SQL for the tokens without a price in a call that reports no cost."""
    return f"""if({rates}.1 = 1, arrayDotProduct([audio_input_tokens, audio_output_tokens],
    arrayResize({rates}.5, 2)), toUInt64(input_tokens) + output_tokens)"""


def is_priced_with(rates: str, unpriced_tokens: str) -> str:
    """SQL for whether all usage of a call has a price."""
    return f"{unpriced_tokens} = 0 AND (images = 0 OR {rates}.1 = 1 AND NOT {rates}.5[3])"


def tool_cost_with(rates: str, is_error: str) -> str:
    """SQL for the cost of a tool's call."""
    position = RATE_NAMES.index("per_call") + 1
    return f"if(is_tool AND NOT {is_error}, {rates}.3[{position}] / 1000000, 0)"


def put_prices(
    client: Client,
    prices: Mapping[PriceKey, Sequence[PricePeriod]],
    version: int,
    cluster: str | None = None,
) -> None:
    """Write the prices of models; an empty list of periods removes the price."""
    if not prices:
        return
    known = _find_periods(client, list(prices))
    rows = [
        row
        for key, periods in prices.items()
        for row in _rows(key, periods, known.get(key, []), version)
    ]
    if rows:
        client.insert("prices", rows, column_names=_COLUMNS)
        everywhere = "" if cluster is None else f" ON CLUSTER '{cluster}'"
        client.command(f"SYSTEM RELOAD DICTIONARY{everywhere} price_list")


def _find_periods(client: Client, keys: Sequence[PriceKey]) -> dict[PriceKey, list[datetime]]:
    """Return the start of each stored price period of these models."""
    rows = query_rows(
        client,
        """SELECT workspace, provider, model, groupArray(valid_from) AS starts FROM prices FINAL
        WHERE (workspace, provider, model)
            IN (SELECT arrayJoin(arrayZip({workspaces:Array(String)}, {providers:Array(String)},
                {models:Array(String)})))
        AND is_known GROUP BY workspace, provider, model""",
        {
            "workspaces": [key.workspace for key in keys],
            "providers": [key.provider for key in keys],
            "models": [key.model for key in keys],
        },
    )
    return {
        PriceKey(row["workspace"], row["provider"], row["model"]): list(map(in_utc, row["starts"]))
        for row in rows
    }


def _rows(
    key: PriceKey, periods: Sequence[PricePeriod], known: Sequence[datetime], version: int
) -> list[list[Any]]:
    kept = {period.valid_from for period in periods}
    rows = [_row(key, moment, _FOREVER, None, version) for moment in known if moment not in kept]
    # The dictionary's ranges include both ends.
    ends = [*(period.valid_from - timedelta(seconds=1) for period in periods[1:]), _FOREVER]
    return rows + [
        _row(key, period.valid_from, end, period, version)
        for period, end in zip(periods, ends, strict=False)
    ]


def find_known_prices(client: Client) -> dict[PriceKey, list[PricePeriod]]:
    """Return all stored prices by model, oldest period first."""
    rows = query_rows(
        client,
        f"SELECT {', '.join(_COLUMNS)} FROM prices FINAL WHERE is_known ORDER BY valid_from",
        {},
    )
    known: dict[PriceKey, list[PricePeriod]] = {}
    for row in rows:
        key = PriceKey(row["workspace"], row["provider"], row["model"])
        known.setdefault(key, []).append(_to_period(row))
    return known


def _to_period(row: Mapping[str, Any]) -> PricePeriod:
    def rates(prefix: str) -> Rates:
        return Rates(**{name: row[prefix + name] for name in RATE_NAMES})

    above = row["above_tokens"]
    return PricePeriod(
        in_utc(row["valid_from"]), rates(""), above, rates("above_") if above else None
    )


def _row(
    key: PriceKey, start: datetime, end: datetime, period: PricePeriod | None, version: int
) -> list[Any]:
    rates = (0.0,) * len(RATE_NAMES) if period is None else astuple(period.rates)
    above = rates if period is None or period.above is None else astuple(period.above)
    return [
        *(key.workspace, key.provider, key.model, start, end),
        int(period is not None),
        0 if period is None else period.above_tokens,
        *rates,
        *above,
        version,
    ]
