"""A measure has one value: every place that shows it shows the same for the same traces."""

from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import numpy as np
import pytest

from spanwise.analysis.alert_rules import measured_value
from spanwise.model.alerts import AlertMetric, AlertRule, Condition, WatchedRule
from spanwise.model.measures import MEASURES
from spanwise.model.telemetry.filters import FilterCondition
from spanwise.storage.telemetry.alerts.alert_windows import Buckets
from spanwise.storage.telemetry.analytics.measures import measure_sql
from support.service import Person, Service
from support.spans import child_of, iso, new_span, send

AGENT, SESSION = "planner", "s-1"
METRICS = {
    AlertMetric.REQUEST_COUNT: "count",
    AlertMetric.ERROR_RATE: "errorRate",
    AlertMetric.COST: "cost",
    AlertMetric.TOTAL_TOKENS: "totalTokens",
    AlertMetric.UNPRICED_TOKENS: "unpricedTokens",
    AlertMetric.AVG_LATENCY: "avgLatency",
    AlertMetric.P95_LATENCY: "p95",
}


@pytest.fixture(scope="module")
def now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


@pytest.fixture(scope="module")
async def expected(seeded: Person, now: datetime) -> dict[str, float]:
    """Send traces of one agent, and compute their measures in plain Python."""
    dice = Random(7)
    durations, spans, failed, input_tokens, output_tokens = [], [], 0, 0, 0
    for number in range(37):
        duration = dice.randint(50, 900)
        is_failed = dice.random() < 0.3
        start = now - timedelta(minutes=number + 5)
        root = new_span(
            start,
            duration,
            agentName=AGENT,
            sessionId=SESSION,
            status="error" if is_failed else "ok",
        )
        sizes = dice.randint(1, 2000), dice.randint(1, 500)
        call = child_of(
            root,
            kind="llm",
            model="model-without-a-price",
            provider="nobody",
            inputTokens=sizes[0],
            outputTokens=sizes[1],
            **({"cost": 0.25} if number % 2 else {}),
        )
        spans += [root, call]
        durations.append(duration)
        failed += is_failed
        input_tokens += sizes[0]
        output_tokens += sizes[1]
    await send(seeded, *spans)
    unpriced = sum(
        span["inputTokens"] + span["outputTokens"]
        for span in spans
        if span.get("kind") == "llm" and "cost" not in span
    )
    return {
        "count": len(durations),
        "errors": failed,
        "errorRate": failed / len(durations),
        "cost": 0.25 * (len(durations) // 2),
        "totalTokens": input_tokens + output_tokens,
        "unpricedTokens": unpriced,
        "avgLatency": float(np.mean(durations)),
        "p95": float(np.quantile(durations, 0.95)),
    }


@pytest.fixture(scope="module")
async def seeded(shared_service: Service) -> Person:
    return await shared_service.sign_up()


@pytest.fixture
def period(now: datetime) -> dict[str, str]:
    return {"startDate": iso(now - timedelta(hours=23)), "endDate": iso(now)}


def assert_same(shown: dict[str, float], expected: dict[str, float]) -> None:
    """Percentiles of traces may come from the rollup, within 0.5 %; all others are exact."""
    percentiles = {"p95"} & shown.keys()
    exact = shown.keys() - percentiles
    assert {n: shown[n] for n in exact} == pytest.approx({n: expected[n] for n in exact})
    for name in percentiles:
        assert shown[name] == pytest.approx(expected[name], rel=0.005)


async def test_a_query_computes_the_measures(
    seeded: Person, expected: dict[str, float], period: dict[str, str]
) -> None:
    query = {"measures": [*expected], **period}
    [row] = (await seeded.data("POST", "/analytics/query", json=query))["rows"]
    assert_same(row, expected)


async def test_the_overview_shows_the_same(
    seeded: Person, expected: dict[str, float], period: dict[str, str]
) -> None:
    metrics = await seeded.data("GET", "/analytics/metrics", params=period)
    shown = {
        "count": metrics["totalTraces"],
        "errorRate": 1 - metrics["successRate"],
        "cost": metrics["estimatedCost"],
        "totalTokens": metrics["totalTokens"],
        "avgLatency": metrics["avgLatency"],
        "p95": metrics["p95Latency"],
    }
    assert_same(shown, expected)


async def test_the_card_of_an_agent_shows_the_same(
    seeded: Person, expected: dict[str, float]
) -> None:
    [agent] = await seeded.data("GET", "/agents")
    stats = agent["stats24h"]
    shown = {
        "count": stats["traces"],
        "errorRate": stats["errorRate"],
        "cost": stats["cost"],
        "p95": stats["p95Latency"],
    }
    assert_same(shown, expected)


async def test_a_session_shows_the_same(seeded: Person, expected: dict[str, float]) -> None:
    [session] = await seeded.data("GET", "/spans/sessions")
    shown = {
        "count": session["traceCount"],
        "errors": session["errorCount"],
        "cost": session["cost"],
        "totalTokens": session["totalTokens"],
    }
    assert_same(shown, expected)


async def test_an_export_adds_up_to_the_same(
    seeded: Person, expected: dict[str, float], period: dict[str, str]
) -> None:
    listed = await seeded.data("GET", "/analytics/traces/list", params=period)
    assert len(listed) == expected["count"]
    assert sum(row["cost"] for row in listed) == pytest.approx(expected["cost"])
    assert sum(row["totalTokens"] for row in listed) == expected["totalTokens"]
    durations = [row["durationMs"] for row in listed]
    assert np.quantile(durations, 0.95) == pytest.approx(expected["p95"])


@pytest.mark.parametrize("filters", [[], [{"field": "agent", "op": "eq", "value": AGENT}]])
async def test_alert_rules_compare_the_same(
    seeded: Person,
    shared_service: Service,
    expected: dict[str, float],
    now: datetime,
    filters: list[dict[str, Any]],
) -> None:
    rules = [_watch(seeded, metric, filters) for metric in METRICS]
    period = int((now - timedelta(hours=23)).timestamp()), int(now.timestamp()) + 1
    # Rules are measured without waiting for what was just written.
    await shared_service.services.ingest.pipeline.wait_until_visible()
    windows = shared_service.services.alerting.rule_windows
    measured = await windows.measure(rules, [period], Buckets.whole())
    values = {
        METRICS[watched.rule.metric]: measured_value(watched.rule, measured[watched.key][0])
        for watched in rules
    }
    assert values == pytest.approx({name: expected[name] for name in values})


def _watch(person: Person, metric: AlertMetric, filters: list[dict[str, Any]]) -> WatchedRule:
    conditions = [FilterCondition.model_validate(condition) for condition in filters]
    rule = AlertRule(
        id=metric, metric=metric, condition=Condition.ABOVE, threshold=0, filters=conditions
    )
    workspace = person.user["defaultWorkspaceId"]
    return WatchedRule(workspace, "agt_planner", AGENT, None, rule)


def test_every_measure_of_the_table_has_sql() -> None:
    assert all(measure_sql(name, 0) for name in MEASURES)
