"""One workspace's telemetry as Parquet, out and in again.

What follows from spans (bounds, traces, rollups) is not part of it: it is computed anew on the way
in. Rows keep their versions, so that taking the same file in twice changes nothing.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.engine import query_rows
from spanwise.storage.telemetry.traces.aggregates import summarize_traces

# Each table with the column of its time.
TABLES = {"spans": "hour", "logs": "time", "signals": "time", "metrics": "time"}
FILE_ROWS = 50_000


@dataclass(frozen=True)
class Piece:
    """Some hours of a table, both ends included: what one file holds."""

    table: str
    first_hour: datetime
    last_hour: datetime
    rows: int


def find_pieces(client: Client, workspace: str) -> list[Piece]:
    """Cut a workspace's telemetry into files of about `FILE_ROWS`, an hour being the least."""
    pieces: list[Piece] = []
    for table, column in TABLES.items():
        hours = query_rows(
            client,
            f"""SELECT toStartOfHour({column}) AS hour, count() AS rows FROM {table} FINAL
            WHERE workspace = {{workspace:String}} GROUP BY hour ORDER BY hour""",
            {"workspace": workspace},
        )
        open_piece: Piece | None = None
        for row in hours:
            hour, rows = row["hour"], row["rows"]
            if open_piece is not None and open_piece.rows + rows <= FILE_ROWS:
                open_piece = Piece(table, open_piece.first_hour, hour, open_piece.rows + rows)
                pieces[-1] = open_piece
            else:
                open_piece = Piece(table, hour, hour, rows)
                pieces.append(open_piece)
    return pieces


def export_piece(client: Client, workspace: str, piece: Piece) -> bytes:
    """Return a piece as a Parquet file, without the workspace."""
    columns = ", ".join(_columns(client, piece.table))
    data: bytes = client.raw_query(
        f"""SELECT {columns} FROM {piece.table} FINAL
        WHERE workspace = {{workspace:String}} AND toStartOfHour({TABLES[piece.table]})
            BETWEEN {{first:DateTime('UTC')}} AND {{last:DateTime('UTC')}}""",
        parameters={
            "workspace": workspace,
            "first": piece.first_hour,
            "last": piece.last_hour,
        },
        fmt="Parquet",
    )
    return data


def import_file(client: Client, workspace: str, table: str, data: bytes) -> int:
    """Take a Parquet file into a workspace; returns its rows. All of them, or none."""
    known = _columns(client, table)
    # A table of its own first: there the workspace is set, and a broken file harms nothing.
    staging = f"import_{table}_{secrets.token_hex(8)}"
    client.command(f"CREATE TABLE {staging} AS {table} ENGINE = MergeTree ORDER BY tuple()")
    try:
        client.raw_insert(
            staging,
            insert_block=data,
            fmt="Parquet",
            # Columns that another version had are left out, those it lacked get their defaults.
            settings={
                "input_format_skip_unknown_fields": 1,
                "input_format_parquet_allow_missing_columns": 1,
                "max_partitions_per_insert_block": 0,
            },
        )
        columns = ", ".join(known)
        client.command(
            f"""INSERT INTO {table} (workspace, {columns})
            SELECT {{workspace:String}}, {columns} FROM {staging}
            SETTINGS max_partitions_per_insert_block = 0""",
            parameters={"workspace": workspace},
        )
        if table == "spans":
            _summarize(client, workspace, staging)
        return int(query_rows(client, f"SELECT count() AS rows FROM {staging}", {})[0]["rows"])
    finally:
        client.command(f"DROP TABLE IF EXISTS {staging} SYNC")


def _summarize(client: Client, workspace: str, staging: str) -> None:
    traces = f"SELECT DISTINCT {{workspace:String}} AS workspace, trace_id FROM {staging}"
    summarize_traces(client, traces, {"workspace": workspace})


def find_agents(client: Client, workspace: str) -> list[dict[str, Any]]:
    """Return which agents a workspace's traces name, with the first and last of each."""
    return query_rows(
        client,
        """SELECT agent_name AS name, min(start) AS first, max(start) AS last
        FROM traces FINAL WHERE workspace = {workspace:String} AND agent_name != ''
        GROUP BY agent_name""",
        {"workspace": workspace},
    )


def _columns(client: Client, table: str) -> list[str]:
    """The columns that rows are written with; the workspace is set on the way in."""
    rows = query_rows(
        client,
        """SELECT name FROM system.columns
        WHERE database = currentDatabase() AND table = {table:String}
        AND default_kind NOT IN ('MATERIALIZED', 'ALIAS') ORDER BY position""",
        {"table": table},
    )
    return [row["name"] for row in rows if row["name"] != "workspace"]
