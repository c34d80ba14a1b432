"""Runs a query on a client: returns rows or columns, translates errors, logs slow queries."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import structlog
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from spanwise.model.errors import Unavailable
from spanwise.storage.disk import is_disk_fault

log = structlog.get_logger()

Rows = list[dict[str, Any]]
Columns = Mapping[str, Sequence[Any]]

SLOW_QUERY_SECONDS = 1.0
_RAW_FORMATS = {"String": "bytes"}
# Time limit, memory limit, too many parts, too many simultaneous queries.
OVERLOAD_CODES = frozenset({159, 241, 252, 202})
# No space left, or a file that cannot be written, synced or created.
_DISK_CODES = frozenset({75, 76, 243, 387})


def query_rows(
    client: Client, sql: str, parameters: Mapping[str, Any], tag: str = "", *, raw: bool = False
) -> Rows:
    """Run a query and return dicts; `raw` keeps strings as bytes, which may not be UTF-8."""
    with _watch_query(tag):
        result = client.query(
            sql, parameters=dict(parameters), query_formats=_RAW_FORMATS if raw else None
        )
    names: Sequence[str] = result.column_names
    return [dict(zip(names, row, strict=True)) for row in result.result_rows]


def query_columns(client: Client, sql: str, parameters: Mapping[str, Any], tag: str) -> Columns:
    """Run a query and return its columns by name; strings are bytes, no rows give no columns."""
    with _watch_query(tag):
        result = client.query(sql, parameters=dict(parameters), query_formats=_RAW_FORMATS)
    return dict(zip(result.column_names, result.result_columns, strict=True))


def count_by_partition(
    client: Client, table: str, condition: str, parameters: Mapping[str, Any]
) -> dict[str, int]:
    """Count the rows that match, by the id of their partition.

    Sizes of columns are not read instead of the columns: an update changes them only when parts are
    rewritten.
    """
    rows = query_rows(
        client,
        f"""SELECT _partition_id AS partition, count() AS rows FROM {table}
        WHERE {condition} GROUP BY partition
        SETTINGS optimize_functions_to_subcolumns = 0""",
        parameters,
    )
    return {row["partition"]: int(row["rows"]) for row in rows}


def delete_where(client: Client, table: str, condition: str, parameters: Mapping[str, Any]) -> int:
    """Delete rows and return their number.

    A deletion without partitions would make the engine visit every part.
    """
    counts = count_by_partition(client, table, condition, parameters)
    for partition in counts:
        sql = f"DELETE FROM {table} IN PARTITION ID '{partition}' WHERE {condition}"
        client.command(sql, parameters=dict(parameters))
    return sum(counts.values())


@contextmanager
def _watch_query(tag: str) -> Iterator[None]:
    """Translate engine errors and log slow queries."""
    started = time.perf_counter()
    try:
        yield
    except ClickHouseError as error:
        if getattr(error, "code", None) in OVERLOAD_CODES:
            raise Unavailable("the store is too busy for this query; narrow the range") from error
        if is_disk_error(error):
            raise Unavailable("the telemetry store cannot write to its disk", 5) from error
        raise
    seconds = time.perf_counter() - started
    if seconds > SLOW_QUERY_SECONDS:
        log.warning("slow_query", tag=tag, seconds=round(seconds, 3))


def is_disk_error(error: Exception) -> bool:
    """Return whether the engine failed because its disk is full, read-only or broken."""
    if isinstance(error, OSError):
        return is_disk_fault(error)
    return getattr(error, "code", None) in _DISK_CODES or "No space left" in str(error)
