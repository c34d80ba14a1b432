"""Gives earlier spans their cost when a price appears or changes."""

from collections.abc import Mapping
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.model.conventions import USAGE_KINDS
from spanwise.storage.telemetry.engine import query_rows
from spanwise.storage.telemetry.prices import PriceKey, cost_at, price_of
from spanwise.storage.telemetry.summaries import summarize_traces

# A workspace's own price covers its spans of that model; everyone's covers one provider's.
_MATCHES = f"""model = {{model:String}}
    AND ({{workspace:String}} = '' OR workspace = {{workspace:String}})
    AND ({{workspace:String}} != '' OR provider = {{provider:String}})
    AND given_cost = 0 AND kind IN {USAGE_KINDS}"""


def reprice_batch(client: Client, key: PriceKey, first_version: int, last_version: int) -> None:
    """Price the spans of one batch whose model's price was only just looked up."""
    where = f"version BETWEEN {{first:UInt64}} AND {{last:UInt64}} AND {_MATCHES}"
    _reprice(client, "spans", where, {**_of(key), "first": first_version, "last": last_version})


def months_to_reprice(client: Client, key: PriceKey) -> list[int]:
    """Return the months, such as 202611, that hold spans whose cost depends on this price."""
    sql = f"SELECT DISTINCT toYYYYMM(hour) AS month FROM spans WHERE {_MATCHES} ORDER BY month DESC"
    return [row["month"] for row in query_rows(client, sql, _of(key))]


def reprice_month(client: Client, key: PriceKey, month: int) -> None:
    """Price the spans of one month anew."""
    where = f"toYYYYMM(hour) = {{month:UInt32}} AND {_MATCHES}"
    _reprice(client, "spans FINAL", where, {**_of(key), "month": month})


def _reprice(client: Client, spans: str, where: str, parameters: Mapping[str, Any]) -> None:
    price = price_of("workspace", "provider", "model", "toDateTime(start)")
    # One more than the version it corrects: a span that is sent again later still wins.
    client.command(
        f"""
        INSERT INTO spans
        SELECT * EXCEPT price REPLACE (
            version + 1 AS version,
            {cost_at("price")} AS cost,
            price.1 = 1 OR input_tokens + output_tokens = 0 AS is_priced)
        FROM (SELECT *, {price} AS price FROM {spans} WHERE {where})""",
        parameters=dict(parameters),
    )
    traces = f"SELECT DISTINCT workspace, trace_id FROM spans WHERE {where}"
    summarize_traces(client, traces, parameters)


def _of(key: PriceKey) -> dict[str, Any]:
    return {"workspace": key.workspace, "provider": key.provider, "model": key.model}
