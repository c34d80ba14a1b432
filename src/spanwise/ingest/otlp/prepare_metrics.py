"""Validates the data points of metrics and frames them as a record for the journal."""

import math
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import DataPointFlags, Metric

from spanwise.ingest.otlp.limits import EARLIEST_NANO, MAX_AHEAD_NANO, refuse_many_months
from spanwise.ingest.otlp.prepare import (
    Prepared,
    Rejection,
    describe_rejections,
    raw_scopes,
    to_prepared,
)
from spanwise.ingest.otlp.truncation import MAX_VALUE_BYTES, truncate_metric
from spanwise.ingest.records.frames import Part, frame, make_head
from spanwise.ingest.records.record import Kind, Record
from spanwise.model.errors import Invalid
from spanwise.model.telemetry.metrics import MAX_METRIC_NAME

_NO_VALUE = DataPointFlags.DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK
# Coarser scales have one bucket for all numbers, and no SDK has finer ones.
_SCALES = range(-10, 21)
_MAX_BUCKETS = 10_000
_HISTOGRAMS = {"histogram", "exponential_histogram"}


def prepare_metrics(
    request: ExportMetricsServiceRequest,
    workspace: str,
    body: bytes | None = None,
    *,
    largest_item: int = sys.maxsize,
) -> Prepared:
    """Prepare data points; `body` is the encoded request, if there is one."""
    scopes = [scope for resource in request.resource_metrics for scope in resource.scope_metrics]
    metrics = [metric for scope in scopes for metric in scope.metrics]
    total = sum(len(points_of(metric)) for metric in metrics)
    refuse_many_months([point.time_unix_nano for m in metrics for point in points_of(m)])
    latest = time.time_ns() + MAX_AHEAD_NANO
    raw = iter(raw_scopes(scopes, body))
    frames: list[Part] = []
    rejections: list[Rejection] = []
    seen = 0
    for resource in request.resource_metrics:
        head = None
        for scope in resource.scope_metrics:
            data = next(raw)
            if not scope.metrics:
                continue
            head = head or make_head(workspace, resource.resource)
            may_be_long = min(data.size, largest_item) > MAX_VALUE_BYTES
            changes: dict[int, bytes | None] = {}
            for index, metric in enumerate(scope.metrics):
                size = len(points_of(metric))
                problems = [*_remove_invalid(metric, latest)]
                rejections += [(seen + at, problem) for at, problem in problems if problem]
                seen += size
                if (may_be_long and truncate_metric(metric)) or problems:
                    changes[index] = metric.SerializeToString()
            frames += frame(data.parts(changes), head)
    if total and len(rejections) == total:
        raise Invalid(f"no data point is valid. {describe_rejections(rejections, 'data points')}")
    record = Record(Kind.METRICS, bytearray().join(frames))
    return to_prepared(record, total, rejections, "data points")


def points_of(metric: Metric) -> Any:  # noqa: ANN401 -- a repeated field of some point type
    """Return the data points of a metric of any type."""
    kind = metric.WhichOneof("data")
    return () if kind is None else getattr(metric, kind).data_points


def _remove_invalid(metric: Metric, latest: int) -> Iterator[Rejection]:
    """Remove points that cannot be stored, and yield their indexes and problems.

    A point that says that there is no value is removed without a problem.
    """
    kind = metric.WhichOneof("data") or ""
    problem_of_metric = (
        "" if 0 < len(metric.name) <= MAX_METRIC_NAME else "the metric needs a name of at most 255"
    )
    points = points_of(metric)
    removed = []
    for index, point in enumerate(points):
        if point.flags & _NO_VALUE:
            removed.append((index, ""))
        elif problem := problem_of_metric or _find_problem(kind, point, latest):
            removed.append((index, problem))
    for index, _ in reversed(removed):
        del points[index]
    yield from removed


def _find_problem(kind: str, point: Any, latest: int) -> str:  # noqa: ANN401 -- any point type
    """Return why a point is invalid, or an empty string."""
    if not EARLIEST_NANO <= point.time_unix_nano <= latest:
        return "the time must lie after 1999 and at most two days ahead"
    if kind in _HISTOGRAMS:
        return _find_histogram_problem(kind, point)
    value = point.sum if kind == "summary" else point.as_double
    return "" if math.isfinite(value) else "the value must be a finite number"


def _find_histogram_problem(kind: str, point: Any) -> str:  # noqa: ANN401 -- a histogram's point
    if not all(map(math.isfinite, (point.sum, point.min, point.max))):
        return "sum, min and max must be finite numbers"
    if kind == "histogram":
        bounds, counts = point.explicit_bounds, point.bucket_counts
        if (counts or bounds) and len(counts) != len(bounds) + 1:
            return "a histogram needs one bucket more than bounds"
        if not all(a < b for a, b in pairwise(bounds)) or not all(map(math.isfinite, bounds)):
            return "the bounds of a histogram must be finite and ascending"
        size = len(counts)
    else:
        if point.scale not in _SCALES:
            return "the scale must lie between -10 and 20"
        size = len(point.positive.bucket_counts) + len(point.negative.bucket_counts)
    return "" if size <= _MAX_BUCKETS else f"a histogram may have {_MAX_BUCKETS:,} buckets"
