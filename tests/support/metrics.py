"""Metrics for tests: OTLP requests, and the same aggregations in plain Python."""

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AggregationTemporality

from support.otlp import SECOND, pairs

DELTA = AggregationTemporality.AGGREGATION_TEMPORALITY_DELTA
CUMULATIVE = AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE


@dataclass(frozen=True)
class Point:
    """A data point of a number or, with `counts`, of a histogram."""

    time: int
    value: float = 0.0
    start: int = 0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    counts: tuple[int, ...] = ()
    bounds: tuple[float, ...] = ()
    sum: float = 0.0

    @property
    def stream(self) -> tuple[Any, ...]:
        return (*sorted(self.attributes.items()), self.start)


def make_request(
    name: str,
    points: Iterable[Point],
    kind: str = "sum",
    temporality: int = DELTA,
    *,
    is_monotonic: bool = True,
    unit: str = "",
    resource: Mapping[str, Any] | None = None,
) -> ExportMetricsServiceRequest:
    """Return an export of one metric of the type sum, gauge or histogram."""
    request = ExportMetricsServiceRequest()
    sent = request.resource_metrics.add()
    sent.resource.attributes.extend(pairs(resource or {"service.name": "shop"}))
    metric = sent.scope_metrics.add().metrics.add(name=name, unit=unit)
    data = getattr(metric, kind)
    data.SetInParent()
    if kind != "gauge":
        data.aggregation_temporality = temporality
    if kind == "sum":
        data.is_monotonic = is_monotonic
    for point in points:
        fields: dict[str, Any] = {
            "time_unix_nano": point.time,
            "start_time_unix_nano": point.start,
            "attributes": pairs(point.attributes),
        }
        if kind == "histogram":
            fields |= {
                "count": sum(point.counts),
                "sum": point.sum,
                "bucket_counts": point.counts,
                "explicit_bounds": point.bounds,
            }
        elif float(point.value).is_integer():
            fields["as_int"] = int(point.value)
        else:
            fields["as_double"] = point.value
        data.data_points.add(**fields)
    return request


def deduplicate(points: Sequence[Point]) -> list[Point]:
    """Keep the last of the points with the same series and times, in the order of time."""
    kept = {(point.stream, point.time): point for point in points}
    return sorted(kept.values(), key=lambda point: point.time)


def with_increases(
    points: Sequence[Point], temporality: int, *, is_monotonic: bool = True
) -> list[Point]:
    """Replace values by increases, point by point."""
    found = []
    previous: dict[tuple[Any, ...], Point] = {}
    for point in deduplicate(points):
        before = previous.get(point.stream)
        previous[point.stream] = point
        if temporality == DELTA:
            found.append(point)
        elif before is None:
            is_known = point.start and point.start < point.time
            zero = replace(point, value=0.0, sum=0.0, counts=tuple(0 for _ in point.counts))
            found.append(point if is_known else zero)
        elif is_monotonic and (
            point.value < before.value or sum(point.counts) < sum(before.counts)
        ):
            found.append(point)
        else:
            counts = tuple(a - b for a, b in zip(point.counts, before.counts, strict=True))
            value, total = point.value - before.value, point.sum - before.sum
            found.append(replace(point, value=value, counts=counts, sum=total))
    return found


def random_points(
    chance: random.Random, first: int, *, kind: str, temporality: int, is_monotonic: bool
) -> list[Point]:
    """Return the points of some processes, with restarts, resets, repeats and other orders."""
    points: list[Point] = []
    bounds = (1.0, 5.0, 10.0)
    for number in range(4):
        attributes = {"host": f"h{number % 3}", "try": number, "ok": number % 2 == 0}
        time, start = first + chance.randrange(20 * SECOND), first
        if chance.random() < 0.3:
            start = 0
        value, total, counts = 0.0, 0.0, [0, 0, 0, 0]
        for _ in range(chance.randrange(5, 40)):
            time += chance.randrange(1, 4 * 3600) * SECOND
            if chance.random() < 0.1 or temporality == DELTA:
                value, total, counts = 0.0, 0.0, [0, 0, 0, 0]
                if start and chance.random() < 0.8:
                    start = time - chance.randrange(2) * SECOND
            value += chance.randrange(0 if is_monotonic else -50, 100)
            value += chance.choice([0.0, 0.25])
            if kind == "histogram":
                for _ in range(chance.randrange(6)):
                    seen = chance.uniform(0, 15)
                    total += seen
                    counts[sum(seen > bound for bound in bounds)] += 1
            point = Point(time, value, start, attributes)
            if kind == "histogram":
                point = replace(point, value=0.0, counts=tuple(counts), bounds=bounds, sum=total)
            points += [point] * (2 if chance.random() < 0.2 else 1)
    chance.shuffle(points)
    return points


def group_points(
    points: Iterable[Point], keys: Sequence[str], first: int, last: int
) -> dict[tuple[str, ...], list[Point]]:
    """Return the points of a period by the text of some attributes."""
    groups: dict[tuple[str, ...], list[Point]] = defaultdict(list)
    for point in points:
        if first <= point.time < last:
            groups[tuple(_text(point.attributes.get(key, "")) for key in keys)].append(point)
    return groups


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def aggregate_numbers(points: Sequence[Point], aggregation: str) -> float:
    """Aggregate the values of points; `last` adds up the latest of each series."""
    values = [point.value for point in points]
    match aggregation:
        case "sum":
            return sum(values)
        case "avg":
            return sum(values) / len(values)
        case "count":
            return len(values)
        case "min" | "max":
            return min(values) if aggregation == "min" else max(values)
        case "last":
            latest: dict[tuple[Any, ...], Point] = {}
            for point in sorted(points, key=lambda point: (point.time, point.start)):
                latest[point.stream[:-1]] = point
            return sum(point.value for point in latest.values())
    return _quantile(values, int(aggregation[1:]) / 100)


def _quantile(values: Sequence[float], quantile: float) -> float:
    """Interpolate between the two nearest values."""
    ordered = sorted(values)
    position = quantile * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def interpolate(bounds: Sequence[float], counts: Sequence[int], quantile: float) -> float | None:
    """Interpolate a quantile within its bucket, as Prometheus does."""
    rank, seen = quantile * sum(counts), 0.0
    if not sum(counts):
        return None
    for index, count in enumerate(counts):
        if count and seen + count >= rank:
            if index == len(bounds):
                return bounds[-1]
            lower = bounds[index - 1] if index else 0.0
            return lower + (bounds[index] - lower) * (rank - seen) / count
        seen += count
    return bounds[-1]
