"""Metrics over OTLP: stored, listed by name and aggregated; invalid points are rejected."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

from support.metrics import CUMULATIVE, Point, make_request
from support.otlp import PROTOBUF, SECOND
from support.service import Person, Service, assert_error

GOLDEN = Path(__file__).parents[3] / "golden"
NOW = time.time_ns()
DAY = 24 * 3600 * SECOND
NOON = 1_772_452_800 * SECOND  # 2026-03-02T12:00:00Z
ALL_TIME = {"startDate": "2026-01-01", "endDate": "2030-01-01"}


@pytest.fixture
async def ann(service: Service) -> Person:
    return await service.sign_up()


@pytest.fixture(scope="module")
async def bob(shared_service: Service) -> Person:
    """A person with three points of a counter and a gauge."""
    person = await shared_service.sign_up()
    points = [
        Point(NOW, n, attributes={"n": n, "name": name, **({"odd": True} if n % 2 else {})})
        for n, name in enumerate(("one", "two", "three"), 1)
    ]
    request = make_request("calls", points)
    request.MergeFrom(make_request("level", [Point(NOW, 1)], "gauge"))
    request.MergeFrom(make_request("total", [Point(NOW, 1)], temporality=CUMULATIVE))
    request.MergeFrom(make_request("daily", [Point(NOON, 3), Point(NOON + 2 * DAY, 4)]))
    restarted = [
        Point(NOW - 50 * SECOND, 7, NOW - 100 * SECOND),
        Point(NOW - 10 * SECOND, 3, NOW - 20 * SECOND),
    ]
    request.MergeFrom(make_request("restarted", restarted, temporality=CUMULATIVE))
    await send(person, request)
    return person


async def send(person: Person, request: Message) -> ExportMetricsServiceResponse:
    response = await person.call(
        "POST",
        "/otlp/v1/metrics",
        content=request.SerializeToString(),
        headers={"Content-Type": PROTOBUF},
    )
    assert response.status_code == 200, response.text
    return ExportMetricsServiceResponse.FromString(response.content)


async def query(person: Person, name: str, aggregation: str, **body: Any) -> dict[str, Any]:
    asked = {"name": name, "aggregation": aggregation, **body}
    found: dict[str, Any] = await person.data("POST", "/metrics/query", json=asked)
    return found


async def values(person: Person, name: str, aggregation: str, **body: Any) -> dict[str, Any]:
    """Return the values by the texts of their group."""
    found = await query(person, name, aggregation, **body)
    return {" ".join(row["group"].values()): row["value"] for row in found["rows"]}


async def test_a_metric_is_listed_with_what_it_can_be_grouped_by(ann: Person) -> None:
    points = [Point(NOW, n, NOW - SECOND, {"model": f"m{n}", "n": n}) for n in range(3)]
    request = make_request(
        "tokens", points, unit="{token}", resource={"service.name": "shop", "host.name": "h"}
    )
    await send(ann, request)
    await send(ann, make_request("zebra", [Point(NOW, 1)], "gauge"))
    tokens, zebra = await ann.data("GET", "/metrics/names")
    assert tokens.pop("lastSeenAt").startswith("20")
    assert tokens == {
        "name": "tokens",
        "description": "",
        "unit": "{token}",
        "type": "sum",
        "temporality": "delta",
        "isMonotonic": True,
        "seriesCount": 3,
        "attributeKeys": ["model", "n"],
        "resourceKeys": ["host.name", "service.name"],
        "serviceNames": ["shop"],
        "aggregations": ["sum", "rate", "avg", "min", "max", "last", "count", "p50", "p95", "p99"],
    }
    assert (zebra["name"], zebra["type"], zebra["temporality"]) == ("zebra", "gauge", None)
    page = await ann.call("GET", "/metrics/names", params={"limit": 1, "skip": 5})
    assert page.json()["pagination"]["total"] == 2
    [found] = await ann.data("GET", "/metrics/names", params={"search": "EBR"})
    assert found["name"] == "zebra"
    assert await ann.data("GET", "/metrics/names", params={"endDate": "2026-01-01"}) == []


async def test_points_are_grouped_by_their_attributes_and_those_of_the_resource(
    ann: Person,
) -> None:
    for service, amount in (("shop", 1), ("bank", 10)):
        points = [Point(NOW + n, amount, attributes={"ok": n > 0}) for n in range(3)]
        await send(ann, make_request("calls", points, resource={"service.name": service}))
    found = await values(ann, "calls", "sum", groupBy=["service.name", "ok"])
    assert found == {"bank true": 20, "bank false": 10, "shop true": 2, "shop false": 1}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"field": "n", "op": "eq", "value": 1}, 1),
        ({"field": "n", "op": "eq", "value": 1.0}, 1),
        ({"field": "attribute:n", "op": "ne", "value": "1"}, 5),
        ({"field": "n", "op": "in", "value": [1, "3"]}, 4),
        ({"field": "n", "op": "gt", "value": 1}, 5),
        ({"field": "n", "op": "lte", "value": 2}, 3),
        ({"field": "name", "op": "contains", "value": "HRE"}, 3),
        ({"field": "odd", "op": "exists"}, 4),
        ({"field": "attribute:service.name", "op": "exists"}, 6),
        ({"field": "odd", "op": "exists", "value": False}, 2),
        ({"field": "odd", "op": "eq", "value": True}, 4),
        ({"field": "service.name", "op": "eq", "value": "shop"}, 6),
        ({"field": "' OR 1=1 --", "op": "eq", "value": "x"}, None),
    ],
)
async def test_a_filter_selects_points(
    bob: Person, condition: dict[str, Any], expected: int | None
) -> None:
    found = await query(bob, "calls", "sum", filters=[condition])
    assert [row["value"] for row in found["rows"]] == ([] if expected is None else [expected])


async def test_invalid_points_are_rejected_and_the_others_stored(ann: Person) -> None:
    points = [Point(NOW, 1), Point(0, 2), Point(NOW + 1, float("nan")), Point(NOW + 2, 4)]
    request = ExportMetricsServiceRequest()
    request.MergeFrom(make_request("calls", [points[0], points[1], points[3]]))
    bad = request.resource_metrics[0].scope_metrics[0].metrics[0].sum.data_points
    bad.add(time_unix_nano=NOW + 3, as_double=float("nan"))
    histogram = request.resource_metrics[0].scope_metrics[0].metrics.add(name="h").histogram
    histogram.data_points.add(time_unix_nano=NOW, count=1, bucket_counts=[1], explicit_bounds=[1])
    answer = await send(ann, request)
    assert answer.partial_success.rejected_data_points == 3
    reason = answer.partial_success.error_message
    assert "the time must lie after 1999 and at most two days ahead: 1 of the data points" in reason
    assert "finite" in reason
    assert "one bucket more than bounds" in reason
    assert await values(ann, "calls", "sum") == {"": 5}
    assert [m["name"] for m in await ann.data("GET", "/metrics/names")] == ["calls"]
    # Without any valid point, the export is refused.
    request = make_request("calls", [Point(0, 2)])
    response = await ann.call(
        "POST",
        "/otlp/v1/metrics",
        content=request.SerializeToString(),
        headers={"Content-Type": PROTOBUF},
    )
    assert response.status_code == 400


async def test_a_point_without_a_recorded_value_is_left_out(ann: Person) -> None:
    request = make_request("calls", [Point(NOW, 3), Point(NOW + 1, 4)], "gauge")
    data = request.resource_metrics[0].scope_metrics[0].metrics[0].gauge
    data.data_points[1].flags = 1
    answer = await send(ann, request)
    assert not answer.HasField("partial_success")
    assert await values(ann, "calls", "count") == {"": 1}


@pytest.mark.usefixtures("bob")
async def test_nobody_else_sees_a_metric(ann: Person) -> None:
    assert await ann.data("GET", "/metrics/names") == []
    assert (await query(ann, "calls", "sum"))["rows"] == []


async def test_a_wrong_query_says_what_is_wrong(bob: Person) -> None:
    for body, field in (
        ({"aggregation": "sum"}, "aggregation"),
        ({"aggregation": "median"}, "aggregation"),
        ({"aggregation": "avg", "groupBy": ["a", "b", "c", "d"]}, "groupBy"),
        ({"aggregation": "avg", "limit": 0}, "limit"),
        ({"aggregation": "avg", "startDate": "yesterday"}, "startDate"),
        ({"aggregation": "avg", "granularity": "hourly", "startDate": "1990-01-01"}, "granularity"),
        (
            {"aggregation": "avg", "filters": [{"field": "a", "op": "gt", "value": "x"}]},
            "filters.0",
        ),
        (
            {"aggregation": "avg", "filters": [{"field": "a", "op": "in", "value": "x"}]},
            "filters.0",
        ),
    ):
        response = await bob.call("POST", "/metrics/query", json={"name": "level", **body})
        assert_error(response, 400, field)


async def test_a_series_is_complete(bob: Person) -> None:
    period = {"startDate": "2026-03-02", "endDate": "2026-03-04", "granularity": "daily"}
    [row] = (await query(bob, "daily", "sum", **period))["rows"]
    assert row["points"] == [
        {"date": "2026-03-02", "value": 3},
        {"date": "2026-03-03", "value": 0},
        {"date": "2026-03-04", "value": 4},
    ]
    [row] = (await query(bob, "daily", "avg", **period))["rows"]
    assert [point["value"] for point in row["points"]] == [3, None, 4]


async def test_the_metrics_of_real_coding_agents_are_read(ann: Person) -> None:
    for name in ("claude-code", "codex", "gemini-cli"):
        body = json.loads((GOLDEN / "clients" / f"{name}.metrics.json").read_text())
        response = await ann.call("POST", "/otlp/v1/metrics", json=body)
        assert response.json() == {}, name
    cost = await values(ann, "claude_code.cost.usage", "sum", groupBy=["model"], **ALL_TIME)
    assert cost == pytest.approx({"claude-sonnet-4-5": 0.0095544})
    tokens = await values(ann, "codex.turn.token_usage", "sum", groupBy=["token_type"], **ALL_TIME)
    assert tokens["input"] == 1200
    assert tokens["cached_input"] == 1024
    used = await values(ann, "gemini_cli.token.usage", "sum", groupBy=["type"], **ALL_TIME)
    assert used == {"input": 1200, "cache": 1024, "output": 86, "thought": 64, "tool": 0}


async def test_a_restarted_counter_goes_on(bob: Person) -> None:
    assert await values(bob, "restarted", "sum") == {"": 10}


@pytest.mark.parametrize(
    "rules",
    [
        {"mode": "mask", "detectors": ["email"]},
        {"mode": "mask", "dropAttributes": ["person"]},
        {"mode": "metadataOnly"},
    ],
)
async def test_masked_points_of_different_series_stay_apart(
    ann: Person, rules: dict[str, Any]
) -> None:
    workspace = ann.user["defaultWorkspaceId"]
    await ann.data("PUT", f"/workspaces/{workspace}/masking", json=rules)
    people = [{"person": f"{name}@example.com", "type": "input"} for name in ("ann", "bob")]
    request = make_request("calls", [Point(NOW, 2, attributes=person) for person in people])
    for _ in range(2):
        await send(ann, request)
    assert await values(ann, "calls", "sum", groupBy=["type"]) == {"input": 4}
    found = await query(ann, "calls", "sum", groupBy=["person"])
    assert "example.com" not in json.dumps(found)
    [metric] = await ann.data("GET", "/metrics/names")
    assert set(metric["attributeKeys"]) <= {"person", "type"}


@pytest.mark.parametrize(
    ("start", "end"),
    [("1970-01-01", "1970-01-03"), ("2199-01-01", "2199-12-31"), ("2026-01-01", "2150-01-01")],
)
async def test_any_period_is_answered(bob: Person, start: str, end: str) -> None:
    period = {"startDate": start, "endDate": end}
    found = await query(bob, "total", "sum", granularity="monthly", **period)
    assert len(found["rows"]) == (start == "2026-01-01")
    assert (await bob.call("GET", "/metrics/names", params=period)).status_code == 200
    response = await bob.call("GET", "/analytics/coding-agents", params=period)
    assert response.status_code == (400 if end == "2150-01-01" else 200), response.text
