"""Reads groups of failures, new and regressed ones first."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from spanwise.model.page import Listing
from spanwise.model.telemetry.failures import (
    FailureExample,
    FailureGroup,
    FailureMark,
    FailurePoint,
    FailureQuery,
    FailureStatus,
    failure_id,
    parse_failure_id,
)
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.failures.conditions import add_conditions
from spanwise.storage.telemetry.failures.examples import (
    SELECT_LATEST,
    choose_examples,
    read_examples,
)
from spanwise.storage.telemetry.rows.decoding import in_utc

NEW_FOR = timedelta(days=1)
SILENT_DAYS = 7
TREND_POINTS = 24
MAX_USERS = 10

_GROUP = f"""
group_id, any(agent_name) AS agent_name, any(operation) AS operation, any(kind) AS kind,
    any(error_type) AS error_type, max(message) AS message, count() AS count,
    uniqExact(trace_id) AS traces, uniqExactIf(user_id, user_id != '') AS users,
    topKIf({MAX_USERS})(user_id, user_id != '') AS user_ids,
    max(start) AS last_seen,
    sumMap([toUInt32(intDiv(toUnixTimestamp(start) - {{from:UInt32}}, {{width:UInt32}}))],
        [toUInt64(1)]) AS trend,
    {SELECT_LATEST} AS latest"""
# The days on which each group of the period failed, at any time.
_SELECT_DAYS = """
SELECT group_id, min(began) AS first_seen,
    arraySort(groupArray((toUInt32(toDate(day)), began))) AS days,
    arrayLastIndex(gap -> gap > {silent:UInt32}, arrayDifference(days.1)) AS position,
    if(position > 0, days[position].2, toDateTime64(0, 9, 'UTC')) AS returned
FROM (
    SELECT group_id, day, min(first) AS began FROM failure_days
    WHERE workspace = {workspace:String} AND group_id IN (SELECT group_id FROM groups)
    GROUP BY group_id, day)
GROUP BY group_id"""
_TITLE = "concat(operation, ': ', if(message = '', error_type, message))"
_MARKED = """toDateTime64(if(has({marked:Array(UInt64)}, group_id),
    {marked_at:Array(UInt32)}[indexOf({marked:Array(UInt64)}, group_id)], 0), 9, 'UTC')"""
_NEW_SINCE = "toDateTime64({new_since:UInt32}, 9, 'UTC')"
_STATUS = f"""multiIf(
    has({{muted:Array(UInt64)}}, group_id), 'muted',
    returned > greatest({_MARKED}, {_NEW_SINCE}), 'regressed',
    first_seen > greatest({_MARKED}, {_NEW_SINCE}), 'new',
    'known')"""
_RANKS = "indexOf(['new', 'regressed', 'known', 'muted'], status)"


async def list_failures(
    engine: Engine, workspace: str, query: FailureQuery, marks: Sequence[FailureMark]
) -> Listing[FailureGroup]:
    """Return one page of the groups that failed in the period."""
    where = Conditions(workspace)
    period = TimeRange(query.period.start, query.period.end)
    where.within("start", period)
    where.within_hours("hour", period)
    where.equals("agent_name", query.agent_name)
    where.equals("environment", query.environment)
    add_conditions(where, period, query.conditions)
    if query.group is not None:
        where.add("group_id = {group:UInt64}", group=query.group)
    start, end = int(query.period.start.timestamp()), math.ceil(query.period.end.timestamp())
    width = max(1, -(-(end - start) // TREND_POINTS))
    only = "status = {status:String}" if query.status else "1"
    if query.search:
        only += f" AND positionCaseInsensitiveUTF8({_TITLE}, {{search:String}}) > 0"
    sql = f"""
    WITH groups AS (
        SELECT {_GROUP} FROM (SELECT * FROM failures FINAL WHERE {where.sql}) GROUP BY group_id)
    SELECT *, {_TITLE} AS title, {_STATUS} AS status, count() OVER () AS total
    FROM groups INNER JOIN ({_SELECT_DAYS}) AS days USING (group_id)
    WHERE {only}
    ORDER BY {_RANKS}, count DESC, group_id
    LIMIT {{limit:UInt32}} OFFSET {{skip:UInt32}}"""
    parameters = {
        **where.parameters,
        **bind_marks(marks),
        "status": query.status or "",
        "search": query.search or "",
        "from": start,
        "width": width,
        "silent": SILENT_DAYS,
        "new_since": int(((query.now or datetime.now(UTC)) - NEW_FOR).timestamp()),
        "limit": query.page.limit,
        "skip": query.page.skip,
    }
    rows = await engine.fetch(sql, parameters, tag="list_failures")
    times = [datetime.fromtimestamp(at, UTC) for at in range(start, end, width)]
    chosen = [choose_examples(row["latest"]) for row in rows]
    examples = await read_examples(engine, workspace, [key for keys in chosen for key in keys])
    groups = [
        _to_failure(row, times, [examples[key] for key in keys])
        for row, keys in zip(rows, chosen, strict=True)
    ]
    return Listing(groups, rows[0]["total"] if rows else 0)


async def has_failure(engine: Engine, workspace: str, group: int) -> bool:
    rows = await engine.fetch(
        """SELECT 1 FROM failure_days
        WHERE workspace = {workspace:String} AND group_id = {group:UInt64} LIMIT 1""",
        {"workspace": workspace, "group": group},
        tag="has_failure",
    )
    return bool(rows)


def bind_marks(marks: Sequence[FailureMark]) -> dict[str, Any]:
    parsed = [(parse_failure_id(mark.id), mark) for mark in marks]
    groups = [(group, mark) for group, mark in parsed if group is not None]
    return {
        "marked": [group for group, _ in groups],
        "marked_at": [int(mark.marked_at.timestamp()) for _, mark in groups],
        "muted": [group for group, mark in groups if mark.status is FailureStatus.MUTED],
    }


def _to_failure(
    row: dict[str, Any], times: Sequence[datetime], examples: list[FailureExample]
) -> FailureGroup:
    counts = dict(zip(*row["trend"], strict=True))
    return FailureGroup(
        id=failure_id(row["group_id"]),
        title=row["title"],
        agent_name=row["agent_name"],
        operation=row["operation"],
        kind=row["kind"],
        error_type=row["error_type"],
        message=row["message"],
        count=row["count"],
        traces=row["traces"],
        users=row["users"],
        first_seen_at=in_utc(row["first_seen"]),
        last_seen_at=in_utc(row["last_seen"]),
        trend=[FailurePoint(time=at, count=counts.get(n, 0)) for n, at in enumerate(times)],
        status=FailureStatus(row["status"]),
        user_ids=row["user_ids"],
        example_trace_ids=[one.trace_id for one in examples],
        examples=examples,
    )
