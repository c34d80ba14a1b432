"""Reads one page of a list without deduplicating all its rows.

Tables hold outdated rows until they are merged. So the first stored rows that match, outdated ones
too, are found in few columns; then the current rows at their keys are read. A few more rows than
needed are found, because some may be outdated or deleted. If too many are, all are deduplicated.
"""

import asyncio
import struct
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from spanwise.model.page import PageRequest
from spanwise.model.telemetry.filters import Order
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Rows

# Extra rows per page: some may be deleted or outdated.
SPARE_ROWS = 10
# Pages up to this row are found by rank.
MAX_RANKED = 1000
# The same for pages by time, whose keys are not returned.
MAX_IN_TABLE_ORDER = 100_000


@dataclass(frozen=True)
class ListedRows(ABC):
    """The rows that match a filter, which is compiled once, and their order.

    Rows are sorted by the columns `order`, of which `ranked` come first and are cheap to read. The
    columns `key` tell rows apart. All SQL ends with a condition, to which more can be added.
    """

    where: Conditions
    # SQL for the column `rank`; empty if rows are sorted by their start.
    rank: str
    direction: Order

    ties: ClassVar[Sequence[str]]
    cheap_ties: ClassVar[Sequence[str]]
    key: ClassVar[Sequence[str]]

    @property
    def order(self) -> Sequence[str]:
        return (*(["rank"] if self.rank else []), *self.ties)

    @property
    def ranked(self) -> Sequence[str]:
        return (*(["rank"] if self.rank else []), *self.cheap_ties)

    @property
    def ranks(self) -> str:
        """SQL for the rank, and for the start as precisely as it is stored."""
        nano = "toUnixTimestamp64Nano(start) AS nano"
        return f"{self.rank} AS rank, {nano}" if self.rank else nano

    @abstractmethod
    def stored(self) -> str:
        """SQL for `ranks` and what `locate` needs, of all rows that match, outdated ones too."""

    @abstractmethod
    def current(self, at: str = "", *, is_full: bool = False, is_filtered: bool = True) -> str:
        """SQL for current rows at some keys: with `is_full` all columns, else `ranks` and `key`."""

    @abstractmethod
    def locate(self, keys: Rows) -> tuple[str, dict[str, object]]:
        """SQL for a condition `at` that finds at least the rows with these keys, and its values."""

    def sort(self, columns: Sequence[str]) -> str:
        return ", ".join(f"{column} {self.direction}" for column in columns)


class RowsInTableOrder(ListedRows):
    """Rows that are stored in the order of the list; all versions of a row have the same start."""

    @abstractmethod
    def first(self, count: int) -> str:
        """SQL for a condition `at` that finds the rows with the first start times."""

    @abstractmethod
    def every(self, count: int) -> str:
        """SQL for the `nano` and `id` of every so many stored rows, in the order of the list."""


async def read_by_time(engine: Engine, rows: RowsInTableOrder, page: PageRequest) -> Rows:
    """Return a page of rows in the order of their table; fewer if too many are outdated.

    The engine stops reading after the first rows, rounded up to a block of each part. The start of
    a row never changes, so every row that is read is in its place.
    """
    last = page.skip + page.limit
    if last > MAX_IN_TABLE_ORDER:
        return []
    return await engine.fetch(
        f"""{_page_sql(rows, rows.first(last + SPARE_ROWS), page)}
        SETTINGS max_block_size = 1024, max_threads = 1""",
        rows.where.parameters,
        tag="read_by_time",
    )


async def read_by_rank(engine: Engine, rows: ListedRows, page: PageRequest) -> Rows:
    """Return a page of rows in any order; fewer if too many are outdated.

    Rows up to the last ranked one are in their place, also if they were written in between; the
    others may follow rows that were not ranked.
    """
    last = page.skip + page.limit
    if last > MAX_RANKED:
        return []
    ranked = await engine.fetch(
        f"""{rows.stored()} ORDER BY {rows.sort(rows.ranked)} LIMIT {last + SPARE_ROWS}
        SETTINGS max_memory_usage = {engine.max_query_bytes}""",
        rows.where.parameters,
        tag="find_ranked_keys",
        raw=True,
    )
    if not ranked:
        return []
    at, values = rows.locate(ranked)
    is_all = len(ranked) < last + SPARE_ROWS
    placed = "1" if is_all else _is_placed(rows, ranked[-1])
    return await engine.fetch(
        f"{_page_sql(rows, at, page, placed)} SETTINGS max_threads = 1",
        {**rows.where.parameters, **values},
        tag="read_by_rank",
    )


async def read_all(engine: Engine, rows: ListedRows, page: PageRequest) -> Rows:
    """Return a page after all rows were deduplicated."""
    return await _read_found(engine, rows, await _find_keys(engine, rows, page))


async def count_and_read_all(
    engine: Engine, rows: ListedRows, page: PageRequest
) -> tuple[int, Rows]:
    """Return the total and a page; a filter that takes long is evaluated only once for both."""
    keys = await _find_keys(engine, rows, page, "*, count() OVER () AS total")
    if not keys and page.skip:
        return await count_rows(engine, rows), []
    return (int(keys[0]["total"]) if keys else 0), await _read_found(engine, rows, keys)


async def _find_keys(
    engine: Engine, rows: ListedRows, page: PageRequest, columns: str = "*"
) -> Rows:
    return await engine.fetch(
        f"""SELECT {columns} FROM ({rows.current()}) ORDER BY {rows.sort(rows.order)}
        LIMIT {page.limit} OFFSET {page.skip}
        SETTINGS max_memory_usage = {engine.max_query_bytes}""",
        rows.where.parameters,
        tag="find_keys",
        raw=True,
    )


async def _read_found(engine: Engine, rows: ListedRows, keys: Rows) -> Rows:
    """Read the full rows of keys, in their order; which rows match is not decided again."""
    if not keys:
        return []
    at, values = rows.locate(keys)
    found = await engine.fetch(
        f"{rows.current(at, is_full=True, is_filtered=False)} SETTINGS max_threads = 1",
        {**rows.where.parameters, **values},
        tag="read_rows",
    )
    by_key = {tuple(row[column] for column in rows.key): row for row in found}
    ordered = (tuple(row[column] for column in rows.key) for row in keys)
    return [by_key[key] for key in ordered if key in by_key]


async def read_page(
    engine: Engine,
    rows: ListedRows,
    page: PageRequest,
    reading: Awaitable[Rows],
    counting: Awaitable[int],
) -> tuple[int, Rows]:
    """Return the total and a page, from all rows if reading the first ones was not enough."""
    total, found = await asyncio.gather(counting, reading)
    if len(found) < min(page.limit, total - page.skip):
        found = await read_all(engine, rows, page)
    return total, found


async def count_rows(engine: Engine, rows: ListedRows) -> int:
    counted = await engine.fetch(
        f"SELECT count() AS total FROM ({rows.current()})", rows.where.parameters, tag="count_rows"
    )
    return int(counted[0]["total"])


def _page_sql(rows: ListedRows, at: str, page: PageRequest, placed: str = "1") -> str:
    """SQL for a page of the current rows at some keys; later pages find their own keys first."""
    by = rows.sort(rows.order)
    if page.skip:
        key = ", ".join(rows.key)
        at = f"""({key}) IN (SELECT {key} FROM ({rows.current(at)} AND {placed}
            ORDER BY {by} LIMIT {page.limit} OFFSET {page.skip}))"""
        placed = "1"
    return f"{rows.current(at, is_full=True)} AND {placed} ORDER BY {by} LIMIT {page.limit}"


def _is_placed(rows: ListedRows, last: Mapping[str, Any]) -> str:
    """SQL for whether a row does not follow the last ranked one."""
    is_before = ">=" if rows.direction is Order.DESC else "<="
    position = ", ".join(
        exact_start(last["nano"]) if column == "start" else exact_sql(last[column])
        for column in rows.ranked
    )
    return f"({', '.join(rows.ranked)}) {is_before} ({position})"


def exact_start(nano: int) -> str:
    """SQL for a start, from its nanoseconds since 1970."""
    return f"fromUnixTimestamp64Nano(toInt64({nano}), 'UTC')"


def exact_sql(value: object) -> str:
    """SQL for a value that the engine returned; as text a float may differ in its last digit."""
    if isinstance(value, bytes):
        return f"unhex('{value.hex()}')"
    if isinstance(value, float):
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        return f"reinterpretAsFloat64(toUInt64({bits}))"
    return str(value)
