"""Data points are validated one by one; valid ones keep their bytes."""

import time
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from spanwise.ingest.otlp.prepare_metrics import prepare_metrics
from spanwise.model.errors import Invalid
from support.metrics import Point, make_request
from support.otlp import make_metrics

NOW = time.time_ns()
MARKER = "… [cut at 1 MiB]"


def with_histogram(**fields: Any) -> ExportMetricsServiceRequest:
    """Return a valid point, and a histogram with these fields."""
    request = make_metrics()
    metric = request.resource_metrics[0].scope_metrics[0].metrics.add(name="h")
    metric.histogram.data_points.add(**{"time_unix_nano": NOW, "count": 1, **fields})
    return request


def test_a_valid_export_keeps_its_bytes() -> None:
    request = make_request("calls", [Point(NOW, 1, attributes={"a": "b"})])
    body = request.SerializeToString()
    [record] = prepare_metrics(request, "wsp_1", body).records
    scope = request.resource_metrics[0].scope_metrics[0].SerializeToString()
    assert scope in bytes(record.payload)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"time_unix_nano": 0}, "the time must"),
        ({"time_unix_nano": NOW + 3 * 86_400 * 10**9}, "the time must"),
        ({"sum": float("inf")}, "finite"),
        ({"bucket_counts": [1], "explicit_bounds": [1.0]}, "one bucket more"),
        ({"bucket_counts": [1, 0, 0], "explicit_bounds": [2.0, 1.0]}, "ascending"),
        ({"bucket_counts": [1, 0], "explicit_bounds": [float("nan")]}, "ascending"),
    ],
)
def test_an_invalid_histogram_is_rejected(fields: dict[str, Any], problem: str) -> None:
    prepared = prepare_metrics(with_histogram(**fields), "wsp_1")
    assert (prepared.accepted, prepared.rejected) == (1, 1)
    assert problem in prepared.reason
    assert "1 of the data points, the first at index 1" in prepared.reason


def test_an_exponential_histogram_needs_a_plausible_scale() -> None:
    request = make_metrics()
    metric = request.resource_metrics[0].scope_metrics[0].metrics.add(name="e")
    metric.exponential_histogram.data_points.add(time_unix_nano=NOW, scale=100)
    assert prepare_metrics(request, "wsp_1").rejected == 1


@pytest.mark.parametrize("name", ["", "n" * 256])
def test_a_metric_needs_a_name_of_at_most_255_characters(name: str) -> None:
    with pytest.raises(Invalid, match="needs a name"):
        prepare_metrics(make_request(name, [Point(NOW, 1)]), "wsp_1")


def test_points_of_too_many_months_are_refused() -> None:
    month = 31 * 86_400 * 10**9
    request = make_request("calls", [Point(NOW - n * month, 1) for n in range(15)])
    with pytest.raises(Invalid, match="months"):
        prepare_metrics(request, "wsp_1")


def test_a_long_attribute_is_cut() -> None:
    request = make_request("calls", [Point(NOW, 1, attributes={"long": "x" * 2**21})])
    [record] = prepare_metrics(request, "wsp_1", request.SerializeToString()).records
    assert len(record.payload) < 2**20 + 1000
    assert MARKER.encode() in bytes(record.payload)


def test_a_metric_without_points_is_nothing() -> None:
    request = make_request("calls", [])
    assert prepare_metrics(request, "wsp_1").records == ()
