"""SQL for the data points of one metric, with the increase since the point before.

A delta point is its own increase. That of a cumulative point is the difference to the previous one
of its stream, by time. A stream is a series with one start time: a process that restarts begins a
new one, and two processes with the same attributes do not disturb each other. A monotonic value
that falls has been reset and counts in full.

The first point of a stream counts in full, because the stream began at zero. If the start is
unknown or is the point's own time, the value before it is unknown, and it counts as zero.
"""

from collections.abc import Sequence

from spanwise.storage.telemetry.engine.conditions import Conditions

_STREAM = "PARTITION BY series, start ORDER BY time ROWS BETWEEN 1 PRECEDING AND 1 PRECEDING"
_IS_CUMULATIVE = "temporality = 'cumulative'"
_IN_PERIOD = "time >= {after:DateTime64(9, 'UTC')} AND time < {before:DateTime64(9, 'UTC')}"
# What increases are computed from.
_VALUES = ("value", "count", "sum", "bounds", "counts")
_COLUMNS = f"series, start, time, temporality, is_monotonic, min, max, {', '.join(_VALUES)}"


def points_with_increases(where: Conditions, groups: Sequence[str], *, is_cumulative: bool) -> str:
    """SQL for all points of a period, with `increase`, `new_count`, `new_sum` and `new_counts`.

    `where` selects the metric and binds the period as `after` and `before`. The expressions
    `groups` become the columns g0, g1, ...; `is_cumulative` says that some points may be so.
    """
    named = "".join(f", {expression} AS g{index}" for index, expression in enumerate(groups))
    points = f"SELECT {_COLUMNS}{named} FROM metric_points FINAL WHERE {where.sql} AND {_IN_PERIOD}"
    if not is_cumulative:
        return f"""SELECT *, value AS increase, count AS new_count, sum AS new_sum,
            arrayMap(c -> toInt64(c), counts) AS new_counts FROM ({points})"""
    previous = ", ".join(f"any({name}) OVER ({_STREAM}) AS previous_{name}" for name in _VALUES)
    return f"""
        SELECT *,
            multiIf(is_whole, value, is_unknown, 0, value - previous_value) AS increase,
            multiIf(is_whole, toInt64(count), is_unknown, 0,
                toInt64(count) - toInt64(previous_count)) AS new_count,
            multiIf(is_whole, sum, is_unknown, 0, sum - previous_sum) AS new_sum,
            multiIf(is_whole, arrayMap(c -> toInt64(c), counts),
                is_unknown, CAST([], 'Array(Int64)'),
                bounds = previous_bounds, {_SUBTRACTED},
                {_REBUCKETED}) AS new_counts
        FROM (
            SELECT *,
                NOT ({_IS_CUMULATIVE})
                    OR (is_first AND toUnixTimestamp64Nano(start) != 0 AND start < time)
                    OR (NOT is_first AND is_monotonic
                        AND (value < previous_value OR count < previous_count)) AS is_whole,
                is_first AND NOT is_whole AS is_unknown
            FROM (
                SELECT *, {previous}, count() OVER ({_STREAM}) = 0 AS is_first
                FROM ({points} UNION ALL {_last_points_before(where, len(groups))}))
            WHERE time >= {{after:DateTime64(9, 'UTC')}})"""


def _last_points_before(where: Conditions, groups: int) -> str:
    """SQL for the last point before the period of each stream that may continue in it."""
    first_start = f"""SELECT minOrNull(start) FROM metric_points
        WHERE {where.sql} AND {_IN_PERIOD} AND {_IS_CUMULATIVE}"""
    latest = ", ".join(f"argMax({name}, (time, version)) AS last_{name}" for name in _VALUES)
    named = "".join(f", '' AS g{index}" for index in range(groups))
    return f"""
        SELECT series, start, last_time, 'cumulative', is_monotonic,
            CAST(NULL, 'Nullable(Float64)'), CAST(NULL, 'Nullable(Float64)'),
            {", ".join(f"last_{name}" for name in _VALUES)}{named}
        FROM (
            SELECT series, start, max(time) AS last_time, any(is_monotonic) AS is_monotonic,
                {latest}
            FROM metric_points
            WHERE {where.sql} AND {_IS_CUMULATIVE} AND start < {{after:DateTime64(9, 'UTC')}}
                AND time < {{after:DateTime64(9, 'UTC')}} AND time >= ({first_start})
            GROUP BY series, start)"""


_SUBTRACTED = (
    "arrayMap((c, p) -> greatest(toInt64(c) - toInt64(p), 0), counts, "
    "arrayResize(previous_counts, length(counts)))"
)
# Bounds change when an exponential histogram halves its resolution: subtract the number of earlier
# values up to each of the new bounds.
_BELOW = (
    "arrayPushBack(arrayMap((c, b) -> toInt64(c) - toInt64(arraySum(arrayMap((p, q) -> "
    "if(q <= b, p, 0), arrayResize(previous_counts, length(previous_bounds)), previous_bounds))), "
    "arrayResize(arrayCumSum(counts), length(bounds)), bounds), "
    "toInt64(count) - toInt64(previous_count))"
)
_REBUCKETED = (
    "if(empty(counts), CAST([], 'Array(Int64)'), arrayMap(d -> greatest(d, 0), "
    f"arrayPopFront(arrayDifference(arrayPushFront({_BELOW}, toInt64(0))))))"
)
