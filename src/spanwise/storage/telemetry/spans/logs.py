"""Reads pages of log records by filter."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from spanwise.model.agents import AgentIds
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import Order, RowFilter
from spanwise.model.telemetry.logs import NUMBERS_PER_LEVEL, Log, LogLevel
from spanwise.storage.telemetry.engine.attribute_text import own_attribute
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import SEARCH_WORDS, Conditions, split_words
from spanwise.storage.telemetry.filters.fields import LOG_COLUMNS
from spanwise.storage.telemetry.filters.operators import add_conditions
from spanwise.storage.telemetry.rows.decoding import (
    TextCache,
    in_utc,
    or_none,
    read_attribute,
    read_attributes,
)

_LEVELS = list(LogLevel)

# The time first, so that ids sort like the records; then part of the hash, for equal times.
_ID = """concat('log_', leftPad(lower(hex(toUnixTimestamp64Nano(time))), 16, '0'),
    leftPad(lower(hex(toUInt64(bitShiftRight(id, 64)))), 16, '0'))"""
_COLUMNS = f"""{_ID} AS log_id, id, time, severity, message, event_name, trace_id, span_id,
    agent_name, attributes"""


def _conditions(workspace: str, filters: RowFilter) -> Conditions:
    where = Conditions(workspace)
    where.within("time", filters.period)
    add_conditions(where, filters.conditions, LOG_COLUMNS, own_attribute)
    if filters.search is not None:
        words = split_words(filters.search)
        where.add(
            f"hasAllTokens(lowerUTF8(message), {{{SEARCH_WORDS}:Array(String)}})" if words else "0",
            **{SEARCH_WORDS: words},
        )
    return where


async def find_logs(
    engine: Engine,
    workspace: str,
    filters: RowFilter,
    page: PageRequest,
    agent_ids: AgentIds,
    order: Order = Order.DESC,
) -> Listing[Log]:
    """Return one page of logs and the total."""
    where = _conditions(workspace, filters)
    counted = await engine.fetch(
        f"SELECT count() AS total FROM logs FINAL WHERE {where.sql}",
        where.parameters,
        tag="count_logs",
    )
    total = int(counted[0]["total"])
    if total <= page.skip:
        return Listing([], total)
    direction = "DESC" if order is Order.DESC else "ASC"
    # Two steps: the keys of the page from narrow columns, then all columns of those rows.
    keys = await engine.fetch(
        f"""SELECT toUnixTimestamp64Nano(time) AS nano, id FROM logs FINAL WHERE {where.sql}
        ORDER BY time {direction}, id {direction}
        LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}""",
        {**where.parameters, "limit": page.limit, "skip": page.skip},
        tag="find_logs",
    )
    rows = await _read_rows(engine, workspace, [(key["nano"], key["id"]) for key in keys])
    texts = TextCache()
    return Listing([_to_log(row, agent_ids, texts) for row in rows], total)


async def _read_rows(
    engine: Engine, workspace: str, keys: Sequence[tuple[int, int]]
) -> list[dict[str, Any]]:
    """Read full rows in the order of their keys; a record may be stored twice."""
    where = Conditions(workspace)
    nanos = [nano for nano, _ in keys]
    where.add(
        """time BETWEEN fromUnixTimestamp64Nano({first:Int64}, 'UTC')
        AND fromUnixTimestamp64Nano({last:Int64}, 'UTC')
        AND toStartOfHour(time) BETWEEN
            toStartOfHour(fromUnixTimestamp64Nano({first:Int64}, 'UTC'))
        AND toStartOfHour(fromUnixTimestamp64Nano({last:Int64}, 'UTC'))
        AND id IN {ids:Array(UInt128)}""",
        first=min(nanos),
        last=max(nanos),
        ids=[log_id for _, log_id in keys],
    )
    rows = await engine.fetch(
        f"SELECT {_COLUMNS} FROM logs WHERE {where.sql} LIMIT 1 BY id",
        where.parameters,
        tag="read_logs",
        raw=True,
    )
    positions = {log_id: position for position, (_, log_id) in enumerate(keys)}
    return sorted(rows, key=lambda row: positions[row["id"]])


def _to_log(row: Mapping[str, Any], agent_ids: AgentIds, texts: TextCache) -> Log:
    agent_name = row["agent_name"].decode("utf-8", "replace")
    event_name = row["event_name"].decode("utf-8", "replace")
    attributes = read_attributes(row["attributes"], texts)
    if event_name:
        attributes.setdefault("event.name", event_name)
    return Log(
        id=row["log_id"].decode(),
        timestamp=in_utc(row["time"]),
        level=_LEVELS[(row["severity"] - 1) // NUMBERS_PER_LEVEL],
        message=_read_message(row["message"]) or event_name,
        trace_id=or_none(row["trace_id"].decode()),
        span_id=or_none(row["span_id"].decode()),
        agent_id=agent_ids.get(agent_name),
        agent_name=or_none(agent_name),
        attributes=attributes,
    )


def _read_message(stored: bytes) -> str:
    """Return the text of a record; a map or list is shown as JSON."""
    value = read_attribute(stored)
    if not value and value != 0:
        return ""
    return value if isinstance(value, str) else orjson.dumps(value).decode()
