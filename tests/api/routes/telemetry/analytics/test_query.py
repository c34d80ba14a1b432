"""Queries over traces and spans: answers equal a plain Python computation."""

import os
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.storage.telemetry.analytics import run
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup.rollup import Rollup
from support.otlp import PROTOBUF, make_span, make_traces, pairs
from support.query_oracle import Data, answer, make_data, make_query
from support.service import Person, Service, assert_error
from support.slices import TracesOnly
from support.spans import child_of, new_span, send

FIRST_SEED = int(os.environ.get("SPANWISE_TEST_SEED", "0"))
QUERIES = 40
MANY = pytest.mark.long, pytest.mark.timeout(1200)
SEEDS = [FIRST_SEED, *(pytest.param(FIRST_SEED + n, marks=MANY) for n in range(1, 40))]
DATA = make_data(7)


class CountingRollup(Rollup):
    """Counts the questions that it answers from aggregates."""

    answers = 0

    async def answer_from_aggregates(self, *arguments: Any) -> Any:
        found = await super().answer_from_aggregates(*arguments)
        self.answers += found is not None
        return found


async def send_data(person: Person, data: Data) -> None:
    for spans in data.requests:
        await person.data("POST", "/spans", json={"spans": spans})
    await person.data("POST", "/signals/batch", json={"signals": data.signals})


async def ask(person: Person, query: Any) -> Any:
    return await person.data("POST", "/analytics/query", json=query)


def assert_same(found: Any, expected: Any, query: Any, tolerance: float = 1e-9) -> None:
    assert (found["total"], found["truncated"]) == (expected["total"], expected["truncated"]), query
    parts = ("rows", "totals", "others")
    for part in parts:
        assert len(found[part]) == len(expected[part]), query
    for row, wanted in (
        pair for part in parts for pair in zip(found[part], expected[part], strict=True)
    ):
        for name, value in wanted.items():
            if isinstance(value, float):
                within = tolerance if name in {"p50", "p95", "p99"} else 1e-9
                assert row[name] == pytest.approx(value, rel=within), (query, row, wanted)
            else:
                assert row[name] == value, (query, row, wanted)
        assert list(row) == list(wanted)


@pytest.fixture(scope="module")
async def ann(shared_service: Service) -> Person:
    """A person with random data."""
    person = await shared_service.sign_up()
    await send_data(person, DATA)
    return person


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_answer_matches_plain_python(
    service: Service, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, data, dice = await service.sign_up(), make_data(seed), random.Random(seed)
    await send_data(ada, data)
    # The rollup may be updated in the background, and has percentiles within 0.5 %.
    tables = TracesOnly(service.services.engine)
    monkeypatch.setattr(service.services.telemetry.analytics, "_rollup", tables)
    for _ in range(QUERIES):
        query = make_query(dice)
        assert_same(await ask(ada, query), answer(data, query), query)
    rollup = CountingRollup(service.services.engine, quiet_seconds=0)
    monkeypatch.setattr(service.services.telemetry.analytics, "_rollup", rollup)
    await service.services.ingest.pipeline.wait_until_visible()
    await rollup.maintenance.update()
    for _ in range(QUERIES // 4):
        dimensions = dice.sample(("agent", "environment"), dice.randint(0, 2))
        measures = ["count", "errorRate", "cost", "outputTokens", "avgLatency", "p95"]
        measures += [] if "agent" in dimensions else ["agents"]
        query = make_query(dice, "traces", groupBy=dimensions, measures=measures, filters=[])
        query["orderBy"] = {"field": "cost", "order": "desc"}
        assert_same(await ask(ada, query), answer(data, query), query, 0.005)
    assert rollup.answers > 0
    for dimensions in (["status"], ["agent", "status"], ["status", "environment"]):
        measures, before = ["count", "errors", "errorRate"], rollup.answers
        query = make_query(dice, "traces", groupBy=dimensions, measures=measures, filters=[])
        query["orderBy"] = {"field": "count", "order": "desc"}
        assert_same(await ask(ada, query), answer(data, query), query)
        assert rollup.answers == before + 1, query


async def test_series_of_many_groups_are_read_for_the_shown_ones(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MAX_ROWS", 12)
    dice = random.Random(7)
    for of in ("traces", "spans"):
        query = make_query(dice, of, measures=["count", "p50"], groupBy=["userId", "agent"])
        query |= {"granularity": "monthly", "limit": 3, "filters": []}
        query |= {"startDate": "2025-05-01T00:00:00Z", "endDate": "2025-07-01T00:00:00Z"}
        query["orderBy"] = {"field": "count", "order": "desc"}
        found = await ask(ann, query)
        assert found["truncated"]
        assert_same(found, answer(DATA, query), query)


async def send_versions(person: Person, *versions: str) -> None:
    """Send a trace of each version of a service."""
    export = make_traces([])
    for version in versions:
        one = make_traces([make_span()])
        one.resource_spans[0].resource.attributes.extend(pairs({"service.version": version}))
        export.MergeFrom(one)
    response = await person.call(
        "POST",
        "/otlp/v1/traces",
        content=export.SerializeToString(),
        headers={"Content-Type": PROTOBUF},
    )
    assert response.status_code == 200, response.text


async def test_versions_of_a_service_are_a_dimension_and_a_filter(service: Service) -> None:
    ada = await service.sign_up()
    odd = 'a "quoted" \\ é'
    await send_versions(ada, "1.0.0", "1.0.0", "1.0.0", odd, odd, "1.1.0")
    for of in ("traces", "spans"):
        query = {"of": of, "measures": ["count"], "groupBy": ["serviceVersion"]}
        rows = (await ask(ada, query))["rows"]
        expected = [("1.0.0", 3), (odd, 2), ("1.1.0", 1)]
        assert [(row["serviceVersion"], row["count"]) for row in rows] == expected
        only = {"field": "serviceVersion", "op": "ne", "value": "1.0.0"}
        found = await ask(ada, {"of": of, "measures": ["count"], "filters": [only]})
        assert found["rows"] == [{"count": 3}]


async def test_services_are_a_dimension_and_a_filter(service: Service) -> None:
    ada = await service.sign_up()
    front = new_span(datetime.now(UTC) - timedelta(minutes=1), serviceName="front")
    await send(ada, front, child_of(front, serviceName="back"))
    for of in ("traces", "spans"):
        query = {"of": of, "measures": ["count"], "groupBy": ["service"]}
        rows = (await ask(ada, query))["rows"]
        assert {(row["service"], row["count"]) for row in rows} == {("front", 1), ("back", 1)}
        only = {"field": "service", "value": "back"}
        found = await ask(ada, {"of": of, "measures": ["count"], "filters": [only]})
        assert found["rows"] == [{"count": 1}]


async def test_the_last_hour_has_a_point_per_minute(service: Service) -> None:
    ada, now = await service.sign_up(), datetime.now(UTC)
    await send(ada, new_span(now - timedelta(minutes=10)), new_span(now - timedelta(minutes=30)))
    start = (now - timedelta(hours=1)).replace(second=0, microsecond=0)
    period = {"startDate": start.isoformat(), "endDate": (start + timedelta(hours=1)).isoformat()}
    for granularity, points in (("1m", 60), ("5m", 12), ("15m", 4)):
        query = {"measures": ["count"], "granularity": granularity, **period}
        rows = (await ask(ada, query))["rows"]
        path = "/analytics/traces/requests-over-time"
        params = {**period, "granularity": granularity}
        series = await ada.data("GET", path, params=params)
        assert points <= len(rows) <= points + 1
        assert [(r["date"], r["count"]) for r in rows] == [(p["date"], p["total"]) for p in series]
        assert sum(row["count"] for row in rows) == 2


async def test_too_many_minutes_are_refused(ann: Person) -> None:
    query = {"measures": ["count"], "granularity": "1m", "startDate": "2026-01-01"}
    query["endDate"] = "2026-02-01"
    response = await ann.call("POST", "/analytics/query", json=query)
    assert_error(response, 400, "granularity")
    assert "coarser" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "measures"),
        ({"measures": ["count", "count"]}, "measures"),
        ({"measures": ["speed"]}, "measures.0"),
        ({"measures": ["signal:"]}, "measures.0"),
        ({"measures": ["count"], "of": "logs"}, "of"),
        ({"measures": ["count"], "groupBy": ["name"]}, "groupBy.0"),
        ({"measures": ["count"], "groupBy": ["agent", "model", "tool", "kind"]}, "groupBy"),
        ({"measures": ["count"], "granularity": "2m"}, "granularity"),
        ({"measures": ["count"], "limit": 0}, "limit"),
        ({"measures": ["count"], "limit": "5"}, "limit"),
        ({"measures": ["count"], "orderBy": {"field": "cost"}}, "body"),
        ({"measures": ["count"], "startDate": "soon"}, "body"),
        ({"measures": ["count"], "filters": [{"field": "x", "value": 1}]}, "filters.0.field"),
        ({"measures": ["count"], "filters": [{"field": "cost", "value": "1"}]}, "filters.0"),
    ],
)
async def test_an_invalid_query_is_refused(ann: Person, body: dict[str, Any], field: str) -> None:
    assert_error(await ann.call("POST", "/analytics/query", json=body), 400, field)


async def test_another_workspace_measures_nothing(service: Service) -> None:
    ada, eve = await service.sign_up(), await service.sign_up()
    root = new_span(datetime.now(UTC), userId="u", attributes={"tenant": "acme"})
    await send(ada, root, child_of(root, kind="llm", model="m", cost=1))
    signal = {"signalName": "quality", "value": 1, "traceId": root["traceId"]}
    await ada.data("POST", "/signals", json=signal)
    measures = ["count", "cost", "users", "signal:quality", "cachedTokens"]
    for of in ("traces", "spans"):
        for dimension in ("agent", "attribute:tenant", "serviceVersion"):
            query = {"of": of, "measures": measures, "groupBy": [dimension]}
            assert (await ask(ada, query))["total"] >= 1
            nothing = {"rows": [], "totals": [], "others": [], "truncated": False, "total": 0}
            assert await ask(eve, query) == nothing
    assert await eve.data("GET", "/analytics/attributes") == []


async def test_attributes_are_suggested_with_their_counts(service: Service) -> None:
    ada, now = await service.sign_up(), datetime.now(UTC)
    values = ("acme", "acme", "globex", 7, True, ["list"])
    spans = [new_span(now, attributes={"tenant": value}) for value in values]
    await send(ada, *spans, new_span(now, attributes={"other": "x"}), spans[0])

    async def names(**params: Any) -> list[tuple[str, int]]:
        found = await ada.data("GET", "/analytics/attributes", params=params)
        return [(one["name"], one["count"]) for one in found]

    assert await names() == [("tenant", 6), ("other", 1)]
    assert await names(search="OTH") == [("other", 1)]
    assert await names(limit=1) == [("tenant", 6)]
    for skip, expected in ((0, ["tenant"]), (1, ["other"]), (2, [])):
        params = {"limit": 1, "skip": skip}
        page = (await ada.call("GET", "/analytics/attributes", params=params)).json()
        assert [one["name"] for one in page["data"]] == expected
        assert page["pagination"]["total"] == 2
    tenants = [("acme", 2), ("7", 1), ("globex", 1), ("true", 1)]
    assert await names(key="tenant") == tenants
    assert await names(key="tenant", search="glob") == [("globex", 1)]
    assert await names(startDate="2020-01-01", endDate="2020-02-01") == []


async def test_a_query_that_needs_too_much_memory_is_refused(
    ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = {"of": "spans", "measures": ["p95", "users"], "groupBy": ["sessionId", "userId"]}
    query |= {"startDate": "2025-05-01", "endDate": "2025-07-01"}
    assert (await ask(ann, query))["total"] > 1
    monkeypatch.setattr(Engine, "max_query_bytes", 100_000)
    response = await ann.call("POST", "/analytics/query", json=query)
    assert response.status_code == 503
    assert "narrow the range" in response.json()["error"]["message"]
