"""Reads which models a workspace's spans use, and their current prices."""

from collections.abc import Mapping
from typing import Any

from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.conventions import USAGE_KINDS
from spanwise.model.telemetry.prices import PriceSource, SeenModel
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.prices.price_dictionary import (
    NO_THRESHOLD,
    OPTIONAL_RATES,
    PER_UNIT_RATES,
    RATE_NAMES,
    rates_of,
)
from spanwise.storage.telemetry.rows.decoding import in_utc, or_none
from spanwise.storage.telemetry.rows.shown_spans import shown_spans


async def find_seen_models(
    engine: Engine, workspace: str, period: TimeRange, page: PageRequest
) -> Listing[SeenModel]:
    """Return the models in a workspace's spans, most used first, with their current price."""
    where = Conditions(workspace)
    where.within("start", period)
    where.within_hours("hour", period)
    where.add(f"model != '' AND kind IN {USAGE_KINDS}")
    columns = "provider, model, count() AS calls, max(start) AS last_seen"
    seen = f"{shown_spans(columns, where.sql)} GROUP BY provider, model"
    total = await engine.fetch(
        f"SELECT count() AS total FROM ({seen})", where.parameters, tag="count_models"
    )
    price = rates_of("{workspace:String}", "provider", "model", "", "now('UTC')")
    own = "dictHas('price_list', ({workspace:String}, '', model), now('UTC'))"
    rows = await engine.fetch(
        f"""SELECT *, {price} AS price, {own} AS is_own FROM ({seen})
        ORDER BY calls DESC, provider, model LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="find_models",
    )
    return Listing([_to_seen(row) for row in rows], total[0]["total"])


def _to_seen(row: Mapping[str, Any]) -> SeenModel:
    price = row["price"]
    if isinstance(price, Mapping):
        price = tuple(price.values())
    is_known, above_tokens, rates, _, missing = price
    source = PriceSource.OWN if row["is_own"] else PriceSource.LIST
    lacking = {name for name, lacks in zip(OPTIONAL_RATES, missing, strict=False) if lacks}
    shown = {
        name if name in PER_UNIT_RATES else f"{name}_per_million": _to_rate(name, rate)
        for name, rate in zip(RATE_NAMES, rates, strict=False)
        if name not in lacking
    }
    return SeenModel(
        model=row["model"],
        provider=or_none(row["provider"]),
        calls=row["calls"],
        last_seen_at=in_utc(row["last_seen"]),
        price_source=source if is_known else PriceSource.NONE,
        **(shown if is_known else {}),
        above_tokens=above_tokens if is_known and above_tokens != NO_THRESHOLD else None,
    )


def _to_rate(name: str, per_million: float) -> float:
    return per_million / 1e6 if name in PER_UNIT_RATES else per_million
