"""Exports and imports all telemetry of a workspace as Parquet files.

Data derived from spans (bounds, traces, rollups) is not exported but recomputed on import. Rows
keep their versions, so importing the same file twice changes nothing.
"""

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.write.aggregates import recompute_traces

# Table -> time column.
TABLES = {"spans": "hour", "logs": "time", "signals": "time", "metric_points": "time"}
FILE_ROWS = 50_000


@dataclass(frozen=True)
class TableChunk:
    """The hours of a table in one file, both ends included."""

    table: str
    first_hour: datetime
    last_hour: datetime
    rows: int


def split_tables(client: Client, workspace: str) -> list[TableChunk]:
    """Split a workspace's telemetry into chunks of about `FILE_ROWS`, at least one hour each."""
    chunks: list[TableChunk] = []
    for table, column in TABLES.items():
        hours = query_rows(
            client,
            f"""SELECT toStartOfHour({column}) AS hour, count() AS rows FROM {table} FINAL
            WHERE workspace = {{workspace:String}} GROUP BY hour ORDER BY hour""",
            {"workspace": workspace},
        )
        open_chunk: TableChunk | None = None
        for row in hours:
            hour, rows = row["hour"], row["rows"]
            if open_chunk is not None and open_chunk.rows + rows <= FILE_ROWS:
                open_chunk = TableChunk(table, open_chunk.first_hour, hour, open_chunk.rows + rows)
                chunks[-1] = open_chunk
            else:
                open_chunk = TableChunk(table, hour, hour, rows)
                chunks.append(open_chunk)
    return chunks


def export_chunk(client: Client, workspace: str, chunk: TableChunk) -> bytes:
    """Return a chunk as a Parquet file, without the workspace column."""
    columns = ", ".join(_columns(client, chunk.table))
    data: bytes = client.raw_query(
        f"""SELECT {columns} FROM {chunk.table} FINAL
        WHERE workspace = {{workspace:String}} AND toStartOfHour({TABLES[chunk.table]})
            BETWEEN {{first:DateTime('UTC')}} AND {{last:DateTime('UTC')}}""",
        parameters={
            "workspace": workspace,
            "first": chunk.first_hour,
            "last": chunk.last_hour,
        },
        fmt="Parquet",
    )
    return data


def import_file(client: Client, workspace: str, table: str, data: bytes) -> int:
    """Import all rows of a Parquet file, or none; returns how many."""
    known = _columns(client, table)
    # A staging table first: a broken file changes nothing, and the copy sets the workspace.
    staging = f"import_{table}_{secrets.token_hex(8)}"
    client.command(f"CREATE TABLE {staging} AS {table} ENGINE = MergeTree ORDER BY tuple()")
    try:
        client.raw_insert(
            staging,
            insert_block=data,
            fmt="Parquet",
            # For files of other versions: unknown columns are skipped, missing ones get defaults.
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
            _recompute_imported(client, workspace, staging)
        return int(query_rows(client, f"SELECT count() AS rows FROM {staging}", {})[0]["rows"])
    finally:
        client.command(f"DROP TABLE IF EXISTS {staging} SYNC")


def _recompute_imported(client: Client, workspace: str, staging: str) -> None:
    traces = f"SELECT DISTINCT {{workspace:String}} AS workspace, trace_id FROM {staging}"
    recompute_traces(client, traces, {"workspace": workspace})


def find_agents(client: Client, workspace: str) -> list[dict[str, Any]]:
    """Return the agents in a workspace's traces, with their first and last start."""
    return query_rows(
        client,
        """SELECT agent_name AS name, min(start) AS first, max(start) AS last
        FROM traces FINAL WHERE workspace = {workspace:String} AND agent_name != ''
        GROUP BY agent_name""",
        {"workspace": workspace},
    )


def _columns(client: Client, table: str) -> list[str]:
    """Return the columns that rows are inserted with, without the workspace."""
    rows = query_rows(
        client,
        """SELECT name FROM system.columns
        WHERE database = currentDatabase() AND table = {table:String}
        AND default_kind NOT IN ('MATERIALIZED', 'ALIAS') ORDER BY position""",
        {"table": table},
    )
    return [row["name"] for row in rows if row["name"] != "workspace"]
