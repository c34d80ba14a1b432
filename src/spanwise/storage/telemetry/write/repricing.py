"""Recomputes the cost of stored spans when a price appears or changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.prices import TOOL, PriceKey
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.prices.price_dictionary import (
    cost_with,
    is_priced_with,
    rates_of,
    tool_cost_with,
    unpriced_tokens_with,
)
from spanwise.storage.telemetry.rows.batch_rows import BatchRows
from spanwise.storage.telemetry.write.aggregates import recompute_traces

# Ingest waits while a range is repriced, so a range is about as large as a large ingest batch.
RANGE_SPANS = 50_000

_IS_ERROR = "(status = 'error')"
# Spans that carry a cost keep it, also a cost of 0; a negative one stands for none. Agents that
# repeat the usage of their calls have a cost, too, which no sum contains.
_DEPENDS_ON_PRICE = "given_cost < 0 AND kind != 'tool'"
# A workspace's own price applies to any provider; a list price to one provider's model.
_MATCHES_MODEL = f"""model = {{model:String}}
    AND ({{workspace:String}} = '' OR workspace = {{workspace:String}})
    AND ({{workspace:String}} != '' OR provider = {{provider:String}})
    AND {_DEPENDS_ON_PRICE}"""
_MATCHES_TOOL = "workspace = {workspace:String} AND kind = 'tool' AND tool_name = {model:String}"


def _matches(key: PriceKey) -> str:
    """SQL condition for the spans that a price may apply to."""
    return _MATCHES_TOOL if key.provider == TOOL else _MATCHES_MODEL


@dataclass(frozen=True)
class HourRange:
    """Hours of one month, both ends included."""

    first_hour: datetime
    last_hour: datetime


def reprice_batch(client: Client, keys: Sequence[PriceKey], rows: BatchRows) -> None:
    """Price a batch's spans of models whose prices were just looked up.

    Their traces must be aggregated afterwards.
    """
    where = f"""{rows.condition()}
        AND (toString(provider), toString(model)) IN (
            SELECT arrayJoin(arrayZip({{providers:Array(String)}}, {{models:Array(String)}})))
        AND {_DEPENDS_ON_PRICE}"""
    parameters = {
        "providers": [key.provider for key in keys],
        "models": [key.model for key in keys],
        **rows.parameters,
    }
    _correct_costs(client, "spans", where, parameters)


def find_months_to_reprice(client: Client, key: PriceKey) -> list[int]:
    """Return the months (such as 202611) with spans whose cost depends on this price."""
    sql = f"""SELECT DISTINCT toYYYYMM(hour) AS month FROM spans
        WHERE {_matches(key)} ORDER BY month DESC"""
    return [row["month"] for row in query_rows(client, sql, _bind(key))]


def split_month(client: Client, key: PriceKey, month: int) -> list[HourRange]:
    """Split a month into ranges of hours with about `RANGE_SPANS` spans each."""
    rows = query_rows(
        client,
        f"""SELECT hour, count() AS spans FROM spans
        WHERE toYYYYMM(hour) = {{month:UInt32}} AND {_matches(key)}
        GROUP BY hour ORDER BY hour""",
        {**_bind(key), "month": month},
    )
    ranges: list[HourRange] = []
    size = RANGE_SPANS
    for row in rows:
        if size + row["spans"] > RANGE_SPANS:
            ranges.append(HourRange(row["hour"], row["hour"]))
            size = 0
        ranges[-1] = HourRange(ranges[-1].first_hour, row["hour"])
        size += row["spans"]
    return ranges


def reprice_hours(client: Client, key: PriceKey, hours: HourRange) -> None:
    """Recompute the cost of spans in these hours, and their traces.

    Spans with the right cost stay untouched.
    """
    where = (
        f"hour BETWEEN {{first:DateTime('UTC')}} AND {{last:DateTime('UTC')}} AND {_matches(key)}"
    )
    parameters = {**_bind(key), "first": hours.first_hour, "last": hours.last_hour}
    _correct_costs(client, "spans FINAL", where, parameters)
    traces = f"SELECT DISTINCT workspace, trace_id FROM spans WHERE {where}"
    recompute_traces(client, traces, parameters)


def find_providers(client: Client, key: PriceKey) -> list[str]:
    """Return the providers of spans with this model."""
    sql = f"SELECT DISTINCT provider FROM spans WHERE {_matches(key)}"
    return [row["provider"] for row in query_rows(client, sql, _bind(key))]


def find_unpriced(client: Client, limit: int) -> list[tuple[str, str]]:
    """Return provider and name of models without a price, at most `limit` per workspace."""
    sql = """SELECT DISTINCT provider, model FROM (
            SELECT DISTINCT workspace, provider, model FROM spans
            WHERE NOT is_priced AND model != '' AND kind != 'tool'
            LIMIT {limit:UInt32} BY workspace)"""
    return [(row["provider"], row["model"]) for row in query_rows(client, sql, {"limit": limit})]


def _correct_costs(client: Client, spans: str, where: str, parameters: Mapping[str, Any]) -> None:
    price = rates_of("workspace", "provider", "model", "tool_name", "toDateTime(start)")
    # Version + 1: a correction that still loses against a resent span.
    client.command(
        f"""
        INSERT INTO spans
        SELECT * EXCEPT (is_tool, price, new_cost, new_tokens, new_is_priced, new_tool_cost,
                is_outdated)
            REPLACE (version + 1 AS version, new_cost AS cost, new_tokens AS unpriced_tokens,
                new_is_priced AS is_priced, new_tool_cost AS tool_cost)
        FROM (
            SELECT *, kind = 'tool' AS is_tool, {price} AS price,
                if(given_cost >= 0, given_cost, {cost_with("price", _IS_ERROR)}) AS new_cost,
                {unpriced_tokens_with("price")} AS new_tokens,
                {is_priced_with("price", "new_tokens")} AS new_is_priced,
                {tool_cost_with("price", _IS_ERROR)} AS new_tool_cost,
                (cost, unpriced_tokens, is_priced, tool_cost)
                    != (new_cost, new_tokens, new_is_priced, new_tool_cost) AS is_outdated
            FROM {spans} WHERE {where})
        WHERE is_outdated""",
        parameters=dict(parameters),
    )


def _bind(key: PriceKey) -> dict[str, Any]:
    return {"workspace": key.workspace, "provider": key.provider, "model": key.model}
