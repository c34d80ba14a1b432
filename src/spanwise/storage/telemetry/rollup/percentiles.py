"""Latency percentiles: exact from raw traces, within 0.5 % from the rollup's histograms."""

from collections.abc import Callable, Sequence

import numpy as np

from spanwise.model.analytics import Question
from spanwise.storage.telemetry.rollup.aggregation import Aggregates, Aggregation
from spanwise.storage.telemetry.rollup.measures import LATENCY_GROWTH
from spanwise.storage.telemetry.rollup.source import Source
from spanwise.storage.telemetry.rollup.time_ranges import to_seconds

# In milliseconds.
Percentiles = tuple[float, float, float]
LEVELS = (0.5, 0.95, 0.99)


def percentile_aggregation(bucket_of: Callable[[Question], str]) -> Aggregation:
    """The percentiles of every bucket that has traces."""

    def histogram_sql(rows: Source, question: Question) -> str:
        # Not sumMap, which is far slower over a year of histograms.
        return f"""SELECT bucket, groupArray(key) AS latency_keys, groupArray(amount) AS amounts
    FROM (
        SELECT {bucket_of(question)} AS bucket, key, sum(latency_count) AS amount
        FROM ({rows.select(("latency_keys", "latency_counts"))})
        ARRAY JOIN latency_keys AS key, latency_counts AS latency_count
        GROUP BY bucket, key HAVING amount > 0)
    GROUP BY bucket"""

    def exact_sql(rows: Source, question: Question) -> str:
        levels = ", ".join(map(str, LEVELS))
        return f"""SELECT {bucket_of(question)} AS bucket,
        quantilesExactInclusive({levels})(duration_ms) AS percentiles
    FROM ({rows.select(("duration_ms",))}) GROUP BY bucket"""

    return Aggregation("analytics_percentiles", 1, histogram_sql, exact_sql)


def to_percentiles(found: Aggregates) -> dict[int, Percentiles]:
    """Return the percentiles of each bucket by the bucket's start in seconds."""
    by_bucket: dict[int, Percentiles] = {}
    for (bucket,), values in found.items():
        # The exact query has one column, the histogram two.
        is_exact = len(values) == 1
        by_bucket[to_seconds(bucket)] = tuple(values[0]) if is_exact else interpolate(*values)
    return by_bucket


def interpolate(keys: Sequence[int], counts: Sequence[int]) -> Percentiles:
    """Return the value at rank q * (n - 1), between its two neighbors, for each level."""
    order = np.argsort(keys)
    totals = np.cumsum(np.array(counts)[order])
    # The middle of a histogram bucket, in milliseconds.
    middles = LATENCY_GROWTH ** np.array(keys, float)[order] * 2 / (1 + LATENCY_GROWTH) / 1000
    ranks = np.array(LEVELS) * (totals[-1] - 1)
    below = middles[np.searchsorted(totals, np.floor(ranks), side="right")]
    above = middles[np.searchsorted(totals, np.ceil(ranks), side="right")]
    p50, p95, p99 = (below + (above - below) * (ranks - np.floor(ranks))).tolist()
    return p50, p95, p99
