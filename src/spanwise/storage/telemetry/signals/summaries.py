"""Aggregates signals per name, with a trend over time."""

import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from spanwise.model.errors import Invalid
from spanwise.model.telemetry.filters import RowFilter
from spanwise.model.telemetry.signals import SignalSummary, SignalTrend
from spanwise.model.times import Granularity, bucket_label, floor_time
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rows.decoding import in_utc
from spanwise.storage.telemetry.signals.signal_queries import signal_source

# Limit of signal names times buckets per response.
MAX_POINTS = 200_000

# Time and arrival packed into one number: comparing tuples takes twenty times as long.
_RECENCY = """bitShiftLeft(toUInt128(toUnixTimestamp64Nano(time)), 64)
    + toUInt128(toUnixTimestamp64Nano(created))"""

_DAY = timedelta(days=1)


async def summarize_signals(
    engine: Engine,
    workspace: str,
    filters: RowFilter,
    granularity: Granularity,
    buckets: Sequence[datetime],
) -> list[SignalSummary]:
    """Return one summary per signal name, sorted by name."""
    source, where = signal_source(workspace, filters)
    # The query groups by the bucket or by day; weeks and months are built from days below.
    step_ns = (granularity.length or _DAY) // timedelta(microseconds=1) * 1000
    rows = await engine.fetch(
        f"""SELECT
            name, sum(step_count) AS count, min(step_min) AS min, max(step_max) AS max,
            sum(step_sum) AS sum,
            stddevPopStableMerge(spread) AS stddev,
            quantilesExactInclusiveMerge(0.5, 0.95)(values) AS percentiles,
            argMax(step_last_value, step_last_key) AS last_value, max(step_last_at) AS last_at,
            groupArray((step, step_count, step_sum)) AS steps
        FROM (
            SELECT
                name, intDiv(toUnixTimestamp64Nano(time), {step_ns}) AS step,
                count() AS step_count, min(value) AS step_min, max(value) AS step_max,
                sum(value) AS step_sum,
                stddevPopStableState(value) AS spread,
                quantilesExactInclusiveState(0.5, 0.95)(value) AS values,
                max({_RECENCY}) AS step_last_key, argMax(value, {_RECENCY}) AS step_last_value,
                max(time) AS step_last_at
            FROM {source} GROUP BY name, step)
        GROUP BY name ORDER BY name""",
        where.parameters,
        tag="summarize_signals",
    )
    if len(rows) * len(buckets) > MAX_POINTS:
        raise Invalid.field(
            "granularity",
            f"{len(rows):,} signal names over {len(buckets):,} buckets are too many for one "
            "summary; choose one signal, a shorter range or a coarser granularity",
        )
    return [_to_summary(row, granularity, buckets, step_ns) for row in rows]


def _to_summary(
    row: Mapping[str, Any], granularity: Granularity, buckets: Sequence[datetime], step_ns: int
) -> SignalSummary:
    return SignalSummary(
        signal_name=row["name"],
        count=row["count"],
        avg=_finite(row["sum"] / row["count"]),
        min=row["min"],
        max=row["max"],
        sum=_finite(row["sum"]),
        stddev=_finite(row["stddev"]),
        p50=_finite(row["percentiles"][0]),
        p95=_finite(row["percentiles"][1]),
        last_value=row["last_value"],
        last_at=in_utc(row["last_at"]),
        trend=_to_trend(row["steps"], granularity, buckets, step_ns),
    )


def _to_trend(
    steps: Sequence[tuple[int, int, float]],
    granularity: Granularity,
    buckets: Sequence[datetime],
    step_ns: int,
) -> list[SignalTrend]:
    counts: dict[datetime, int] = defaultdict(int)
    sums: dict[datetime, float] = defaultdict(float)
    for step, count, total in steps:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=step * (step_ns // 10**9))
        bucket = floor_time(moment, granularity)
        counts[bucket] += count
        sums[bucket] += total
    return [
        SignalTrend(
            date=bucket_label(bucket, granularity),
            count=counts[bucket],
            avg=_finite(sums[bucket] / counts[bucket]) if counts[bucket] else None,
        )
        for bucket in buckets
    ]


def _finite(number: float) -> float:
    """Clamp a number to what JSON can represent."""
    if number != number:  # noqa: PLR0124 -- NaN, when infinities cancel out
        return 0.0
    return min(max(number, -sys.float_info.max), sys.float_info.max)
