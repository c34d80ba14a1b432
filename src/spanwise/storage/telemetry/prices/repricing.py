"""Gives earlier spans their cost when a price appears or changes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.model.telemetry.conventions import USAGE_KINDS
from spanwise.model.telemetry.prices import PriceKey
from spanwise.storage.telemetry.engine.engine import query_rows
from spanwise.storage.telemetry.prices.prices import cost_with, rates_of
from spanwise.storage.telemetry.traces.aggregates import summarize_traces

# Ingest waits while a piece is re-priced, so a piece is about as much as a large batch of it.
PIECE_SPANS = 50_000

# What has a cost of its own keeps it; a negative one is none.
_DEPENDS = f"given_cost <= 0 AND kind IN {USAGE_KINDS}"
# A workspace's own price covers its spans of that model; everyone's covers one provider's.
_MATCHES = f"""model = {{model:String}}
    AND ({{workspace:String}} = '' OR workspace = {{workspace:String}})
    AND ({{workspace:String}} != '' OR provider = {{provider:String}})
    AND {_DEPENDS}"""


@dataclass(frozen=True)
class Piece:
    """Some hours of a month, both ends included."""

    first_hour: datetime
    last_hour: datetime


def reprice_batch(
    client: Client, keys: Sequence[PriceKey], first_version: int, last_version: int
) -> None:
    """Price the spans of one batch of models whose prices were only just looked up."""
    where = f"""version BETWEEN {{first:UInt64}} AND {{last:UInt64}}
        AND (toString(provider), toString(model)) IN (
            SELECT arrayJoin(arrayZip({{providers:Array(String)}}, {{models:Array(String)}})))
        AND {_DEPENDS}"""
    parameters = {
        "providers": [key.provider for key in keys],
        "models": [key.model for key in keys],
        "first": first_version,
        "last": last_version,
    }
    _reprice(client, "spans", where, parameters)


def months_to_reprice(client: Client, key: PriceKey) -> list[int]:
    """Return the months, such as 202611, that hold spans whose cost depends on this price."""
    sql = f"SELECT DISTINCT toYYYYMM(hour) AS month FROM spans WHERE {_MATCHES} ORDER BY month DESC"
    return [row["month"] for row in query_rows(client, sql, _of(key))]


def pieces_of_month(client: Client, key: PriceKey, month: int) -> list[Piece]:
    """Cut a month into pieces of hours, none with many more spans than `PIECE_SPANS`."""
    rows = query_rows(
        client,
        f"""SELECT hour, count() AS spans FROM spans
        WHERE toYYYYMM(hour) = {{month:UInt32}} AND {_MATCHES}
        GROUP BY hour ORDER BY hour""",
        {**_of(key), "month": month},
    )
    pieces: list[Piece] = []
    size = PIECE_SPANS
    for row in rows:
        if size + row["spans"] > PIECE_SPANS:
            pieces.append(Piece(row["hour"], row["hour"]))
            size = 0
        pieces[-1] = Piece(pieces[-1].first_hour, row["hour"])
        size += row["spans"]
    return pieces


def reprice_piece(client: Client, key: PriceKey, piece: Piece) -> None:
    """Price the spans of some hours anew. What has its right cost already stays as it is."""
    where = f"hour BETWEEN {{first:DateTime('UTC')}} AND {{last:DateTime('UTC')}} AND {_MATCHES}"
    hours = {"first": piece.first_hour, "last": piece.last_hour}
    _reprice(client, "spans FINAL", where, {**_of(key), **hours})


def find_providers(client: Client, key: PriceKey) -> list[str]:
    """Return whose models of this name the spans are of."""
    sql = f"SELECT DISTINCT provider FROM spans WHERE {_MATCHES}"
    return [row["provider"] for row in query_rows(client, sql, _of(key))]


def find_unpriced(client: Client, limit: int) -> list[tuple[str, str]]:
    """Return provider and name of the models without a price, so many per workspace."""
    sql = f"""SELECT DISTINCT provider, model FROM (
            SELECT DISTINCT workspace, provider, model FROM spans
            WHERE NOT is_priced AND model != '' AND kind IN {USAGE_KINDS}
            LIMIT {{limit:UInt32}} BY workspace)"""
    return [(row["provider"], row["model"]) for row in query_rows(client, sql, {"limit": limit})]


def _reprice(client: Client, spans: str, where: str, parameters: Mapping[str, Any]) -> None:
    price = rates_of("workspace", "provider", "model", "toDateTime(start)")
    # One more than the version it corrects: a span that is sent again later still wins.
    client.command(
        f"""
        INSERT INTO spans
        SELECT * EXCEPT (price, right_cost, has_price, is_wrong) REPLACE (
            version + 1 AS version, right_cost AS cost, has_price AS is_priced)
        FROM (
            SELECT *, {price} AS price, {cost_with("price")} AS right_cost,
                price.1 = 1 OR input_tokens + output_tokens = 0 AS has_price,
                cost != right_cost OR is_priced != has_price AS is_wrong
            FROM {spans} WHERE {where})
        WHERE is_wrong""",
        parameters=dict(parameters),
    )
    traces = f"SELECT DISTINCT workspace, trace_id FROM spans WHERE {where}"
    summarize_traces(client, traces, parameters)


def _of(key: PriceKey) -> dict[str, Any]:
    return {"workspace": key.workspace, "provider": key.provider, "model": key.model}
