"""Queries over traces and spans: answers equal a plain Python computation."""

import os
import random
from typing import Any

import pytest

from spanwise.storage.telemetry.analytics import run
from spanwise.storage.telemetry.rollup.rollup import Rollup
from support.query_oracle import Data, answer, make_data, make_query
from support.service import Person, Service

FIRST_SEED = int(os.environ.get("SPANWISE_TEST_SEED", "0"))
QUERIES = 60
MANY = pytest.mark.soak, pytest.mark.timeout(1200)
SEEDS = [FIRST_SEED, *(pytest.param(FIRST_SEED + n, marks=MANY) for n in range(1, 40))]


async def send_data(person: Person, data: Data) -> None:
    for spans in data.requests:
        await person.data("POST", "/spans", json={"spans": spans})
    await person.data("POST", "/signals/batch", json={"signals": data.signals})


async def ask(person: Person, query: Any) -> Any:
    return await person.data("POST", "/analytics/query", json=query)


def assert_same(found: Any, expected: Any, query: Any, tolerance: float = 1e-9) -> None:
    assert (found["total"], found["truncated"]) == (expected["total"], expected["truncated"]), query
    assert len(found["rows"]) == len(expected["rows"]), query
    for row, wanted in zip(found["rows"], expected["rows"], strict=True):
        for name, value in wanted.items():
            if isinstance(value, float):
                within = tolerance if name in {"p50", "p95", "p99"} else 1e-9
                assert row[name] == pytest.approx(value, rel=within), (query, row, wanted)
            else:
                assert row[name] == value, (query, row, wanted)
        assert list(row) == list(wanted)


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_answer_matches_plain_python(
    service: Service, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, data, dice = await service.sign_up(), make_data(seed), random.Random(seed)
    await send_data(ada, data)
    for _ in range(QUERIES):
        query = make_query(dice)
        assert_same(await ask(ada, query), answer(data, query), query)
    rollup = Rollup(service.services.engine, quiet_seconds=0)
    monkeypatch.setattr(service.services.analytics, "_rollup", rollup)
    await service.services.pipeline.wait_until_visible()
    await rollup.maintenance.update()
    for _ in range(QUERIES // 4):
        dimensions = dice.sample(("agent", "environment"), dice.randint(0, 2))
        measures = ["count", "errorRate", "cost", "outputTokens", "avgLatency", "p95"]
        query = make_query(dice, "traces", groupBy=dimensions, measures=measures, filters=[])
        query["orderBy"] = {"field": "cost", "order": "desc"}
        assert_same(await ask(ada, query), answer(data, query), query, 0.005)


async def test_series_of_many_groups_are_read_for_the_shown_ones(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, data = await service.sign_up(), make_data(7)
    await send_data(ada, data)
    monkeypatch.setattr(run, "MAX_ROWS", 12)
    dice = random.Random(7)
    for of in ("traces", "spans"):
        query = make_query(dice, of, measures=["count", "p50"], groupBy=["userId", "agent"])
        query |= {"granularity": "monthly", "limit": 3, "filters": []}
        query |= {"startDate": "2025-05-01T00:00:00Z", "endDate": "2025-07-01T00:00:00Z"}
        query["orderBy"] = {"field": "count", "order": "desc"}
        found = await ask(ada, query)
        assert found["truncated"]
        assert_same(found, answer(data, query), query)
