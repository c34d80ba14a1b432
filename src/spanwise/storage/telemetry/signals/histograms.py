"""Counts the values of a signal in bins."""

from spanwise.model.telemetry.filters import RowFilter
from spanwise.model.telemetry.signals import SignalBin, SignalHistogram
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.signals.signal_queries import signal_source

# Up to this many distinct values have a bin each, or up to the number of bins if that is less.
_FEW_VALUES = 8


async def count_values(
    engine: Engine, workspace: str, signal_name: str, filters: RowFilter, bins: int
) -> SignalHistogram:
    """Return a bin per value if there are few different ones, else bins of equal width."""
    source, where = signal_source(workspace, filters)
    few = min(bins, _FEW_VALUES)
    [found] = await engine.fetch(
        f"""SELECT count() AS count, min(value) AS low, max(value) AS high,
            length(groupUniqArray({few + 1})(value)) > {few} AS is_many FROM {source}""",
        where.parameters,
        tag="signal_bounds",
    )
    low, high = (found["low"], found["high"]) if found["count"] else (0.0, 0.0)
    if found["is_many"]:
        # Uses the returned edges, so that counts match the labels.
        bin_sql = f"""toFloat64(arrayCount(
            n -> {{low:Float64}} + ({{high:Float64}} - {{low:Float64}}) * n / {bins} <= value,
            range(1, {bins})))"""
    else:
        bin_sql = "value"
    rows = await engine.fetch(
        f"""SELECT {bin_sql} AS bin, count() AS count FROM {source}
        GROUP BY bin ORDER BY bin LIMIT {bins}""",
        {**where.parameters, "low": low, "high": high},
        tag="signal_histogram",
    )
    counts = {row["bin"]: row["count"] for row in rows}
    if not found["is_many"]:
        shown = [SignalBin(start=value, end=value, count=n) for value, n in counts.items()]
    else:
        edges = [low + (high - low) * number / bins for number in range(bins + 1)]
        shown = [
            SignalBin(start=edges[n], end=edges[n + 1], count=counts.get(n, 0)) for n in range(bins)
        ]
    return SignalHistogram(signal_name=signal_name, count=found["count"], bins=shown)
