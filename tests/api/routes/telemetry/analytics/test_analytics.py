"""Analytics endpoints, on traces that are sent through the API."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.service import Person, Service, assert_error
from support.spans import child_of, new_span, send

DAY = datetime(2026, 3, 10, 12, tzinfo=UTC)
RANGE = {"startDate": "2026-03-09", "endDate": "2026-03-11"}
PATHS = (
    "/metrics",
    "/costs",
    *(
        f"/traces/{name}"
        for name in (
            *("success-failure", "requests-over-time", "latency-percentiles"),
            *("latency-distribution", "token-usage", "errors-by-type", "error-rate"),
            *("tool-usage", "list"),
        )
    ),
)
SERIES = (
    *("/costs", "/traces/success-failure", "/traces/requests-over-time"),
    *("/traces/latency-percentiles", "/traces/token-usage", "/traces/error-rate"),
)


@pytest.fixture(autouse=True)
async def _no_rollup(service: Service) -> None:
    """Invalidate the rollup, because percentiles are exact only before its first update."""
    engine = service.services.engine
    await engine.run(lambda client: client.command("TRUNCATE TABLE rollup_sweeps"))
    await engine.run(lambda client: client.command("TRUNCATE TABLE slice_sweeps"))
    service.services.rollup._watermarks.expire()


@pytest.fixture
async def ada(service: Service) -> Person:
    return await service.sign_up()


async def get(person: Person, path: str, **parameters: Any) -> Any:
    return await person.data("GET", f"/analytics{path}", params={**RANGE, **parameters})


def make_call(root: dict[str, Any], model: str = "gpt-4o", **fields: Any) -> dict[str, Any]:
    usage = {"inputTokens": 1000, "outputTokens": 100, "provider": "openai"}
    return child_of(root, kind="llm", model=model, **{**usage, **fields})


async def test_metrics_aggregate_the_traces_of_the_period(ada: Person) -> None:
    fine = new_span(DAY, 100, agentName="planner", status="ok")
    broken = new_span(DAY + timedelta(hours=3), 300, agentName="coder", status="error")
    outside = new_span(DAY + timedelta(days=3), 9000, agentName="other")
    await send(ada, fine, make_call(fine, cost=0.25), broken, make_call(broken, cost=0.5), outside)
    assert await get(ada, "/metrics") == {
        "totalTraces": 2,
        "successRate": 0.5,
        "avgLatency": 200,
        "p95Latency": pytest.approx(290),
        "activeAgents": 2,
        "activeAlerts": 0,
        "totalTokens": 2200,
        "estimatedCost": pytest.approx(0.75),
        "unpricedTokens": 0,
    }


async def test_metrics_compare_with_the_period_of_the_same_length_before(ada: Person) -> None:
    await send(ada, new_span(DAY, 100), new_span(DAY - timedelta(days=2), 400))
    await send(ada, new_span(DAY - timedelta(days=5), 800))
    metrics = await get(ada, "/metrics", compare="previous")
    assert (metrics["totalTraces"], metrics["avgLatency"]) == (1, 100)
    before = metrics["previous"]
    assert (before["totalTraces"], before["avgLatency"], before["p95Latency"]) == (1, 400, 400)


async def test_an_agent_span_that_repeats_the_sum_of_its_calls_is_not_counted(ada: Person) -> None:
    root = new_span(DAY, kind="agent", inputTokens=1000, outputTokens=100, model="gpt-4o", cost=9)
    await send(ada, root, make_call(root, cost=0.25))
    metrics = await get(ada, "/metrics")
    assert (metrics["totalTokens"], metrics["estimatedCost"]) == (1100, 0.25)


async def test_success_and_failure_are_counted_in_total_and_per_day(ada: Person) -> None:
    await send(ada, new_span(DAY), new_span(DAY), new_span(DAY - timedelta(days=1), status="error"))
    assert await get(ada, "/traces/success-failure") == {
        "total": 3,
        "success": 2,
        "failure": 1,
        "successRate": pytest.approx(2 / 3),
        "failureRate": pytest.approx(1 / 3),
        "trend": [
            {"date": "2026-03-09", "success": 0, "failure": 1},
            {"date": "2026-03-10", "success": 2, "failure": 0},
            {"date": "2026-03-11", "success": 0, "failure": 0},
        ],
    }


async def test_requests_are_counted_by_the_name_of_the_agent(ada: Person) -> None:
    await send(ada, *(new_span(DAY, agentName="coder") for _ in range(3)))
    await send(ada, new_span(DAY, agentName="planner"), new_span(DAY))
    assert (await get(ada, "/traces/requests-over-time"))[1] == {
        "date": "2026-03-10",
        "total": 5,
        "byAgent": {"coder": 3, "planner": 1, "unknown": 1},
    }


async def test_percentiles_lie_between_the_nearest_traces(ada: Person) -> None:
    await send(ada, *(new_span(DAY, milliseconds) for milliseconds in range(1, 102)))
    before, day, after = await get(ada, "/traces/latency-percentiles")
    assert day == {"date": "2026-03-10", "p50": 51, "p95": 96, "p99": 100}
    assert before == {"date": "2026-03-09", "p50": None, "p95": None, "p99": None}
    assert after["p50"] is None


async def test_a_latency_on_a_boundary_belongs_to_the_upper_bucket(ada: Person) -> None:
    bounds = (200, 500, 1000, 2000, 5000)
    await send(ada, *(new_span(DAY, bound) for bound in bounds))
    await send(ada, *(new_span(DAY, bound - 0.001) for bound in bounds))
    buckets = await get(ada, "/traces/latency-distribution")
    assert [b["bucket"] for b in buckets] == [
        *("<200ms", "200-500ms", "500ms-1s", "1-2s", "2-5s", "5s+")
    ]
    assert [b["count"] for b in buckets] == [1, 2, 2, 2, 2, 1]
    assert [b["percentage"] for b in buckets] == [10, 20, 20, 20, 20, 10]
    assert (buckets[0]["minMs"], buckets[0]["maxMs"]) == (0, 200)
    assert (buckets[-1]["minMs"], buckets[-1]["maxMs"]) == (5000, None)


async def test_tokens_belong_to_the_day_on_which_their_trace_starts(ada: Person) -> None:
    root = new_span(DAY.replace(hour=23, minute=59))
    late = (DAY + timedelta(days=1)).isoformat()
    await send(ada, root, make_call(root, startTime=late, endTime=late))
    _, day, after = await get(ada, "/traces/token-usage")
    assert day == {
        "date": "2026-03-10",
        "inputTokens": 1000,
        "outputTokens": 100,
        "totalTokens": 1100,
    }
    assert after["totalTokens"] == 0


async def test_costs_by_model_and_the_models_without_a_price(ada: Person) -> None:
    root = new_span(DAY)
    calls = (
        make_call(root, "gpt-4o", cost=0.5),
        make_call(root, "gpt-4o-mini", cost=0.25),
        make_call(root, "my-own-model"),
        child_of(root, kind="llm", cost=0.125),
    )
    await send(ada, root, *calls)
    costs = await get(ada, "/costs")
    assert costs["totalCost"] == pytest.approx(0.875)
    assert costs["byModel"] == {
        "gpt-4o": 0.5,
        "gpt-4o-mini": 0.25,
        "my-own-model": 0,
        "unknown": pytest.approx(0.125),
    }
    assert costs["unpricedModels"] == ["my-own-model"]
    assert costs["trend"][1] == {
        "date": "2026-03-10",
        "cost": pytest.approx(0.875),
        "unpricedTokens": 1100,
    }


async def test_failed_traces_by_the_type_of_their_error(ada: Person) -> None:
    kinds = ("timeout", "timeout", "timeout", "rate_limit")
    await send(ada, *(new_span(DAY, status="error", errorType=kind) for kind in kinds))
    await send(ada, new_span(DAY))
    assert (await get(ada, "/traces/errors-by-type"))["errors"] == [
        {"type": "timeout", "count": 3, "percentage": 75},
        {"type": "rate_limit", "count": 1, "percentage": 25},
    ]


async def test_error_rate_over_time(ada: Person) -> None:
    await send(ada, new_span(DAY, status="error"), *(new_span(DAY) for _ in range(3)))
    rates = await get(ada, "/traces/error-rate")
    assert rates[1] == {"date": "2026-03-10", "total": 4, "errors": 1, "errorRate": 0.25}
    assert rates[2] == {"date": "2026-03-11", "total": 0, "errors": 0, "errorRate": 0}


async def test_tools_are_counted_by_the_agent_of_the_trace(ada: Person) -> None:
    root = new_span(DAY, agentName="planner")
    searches = [child_of(root, kind="tool", toolName="search") for _ in range(2)]
    await send(ada, root, *searches, child_of(root, kind="tool", toolName="read"))
    assert (await get(ada, "/traces/tool-usage")) == {
        "heatmap": {"planner": {"search": 2, "read": 1}}
    }


async def test_weeks_start_on_monday_and_hours_are_times(ada: Person) -> None:
    await send(ada, new_span(DAY))
    weeks = await get(ada, "/traces/requests-over-time", granularity="weekly")
    assert [(w["date"], w["total"]) for w in weeks] == [("2026-03-09", 1)]
    months = await get(ada, "/traces/requests-over-time", granularity="monthly")
    assert [(m["date"], m["total"]) for m in months] == [("2026-03-01", 1)]
    hours = await get(ada, "/traces/requests-over-time", granularity="hourly")
    assert len(hours) == 72
    assert hours[36] == {"date": "2026-03-10T12:00:00Z", "total": 1, "byAgent": {"unknown": 1}}


async def test_both_ends_of_a_range_are_exact_to_the_second(ada: Person) -> None:
    moments = [DAY + timedelta(seconds=seconds) for seconds in (-1, 0, 1, 2)]
    await send(ada, *(new_span(moment) for moment in moments))
    between = {"startDate": "2026-03-10T12:00:00Z", "endDate": "2026-03-10T12:00:02Z"}
    assert (await get(ada, "/metrics", **between))["totalTraces"] == 2


async def test_the_default_range_is_the_last_thirty_days(ada: Person) -> None:
    now = datetime.now(UTC)
    await send(ada, new_span(now), new_span(now - timedelta(days=29)))
    await send(ada, new_span(now - timedelta(days=31)))
    series = await ada.data("GET", "/analytics/traces/requests-over-time")
    assert sum(point["total"] for point in series) == 2
    assert len(series) == 31


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("agentId", "planner"),
        ("model", "gpt-4o"),
        ("environment", "production"),
        ("sessionId", "s-1"),
        ("userId", "u-1"),
        ("experimentId", "e-1"),
        ("variant", "b"),
    ],
)
async def test_every_filter_applies_to_every_endpoint(
    ada: Person, parameter: str, value: str
) -> None:
    meant = {
        "agentName": "planner",
        "environment": "production",
        "sessionId": "s-1",
        "userId": "u-1",
        "experimentId": "e-1",
        "variant": "b",
    }
    root = new_span(DAY, 100, status="error", errorType="timeout", **meant)
    tool = child_of(root, kind="tool", toolName="search")
    other = new_span(DAY, 700, agentName="coder", experimentId="e-2", variant="a")
    await send(
        ada, root, tool, make_call(root, cost=1), other, make_call(other, "gpt-4o-mini", cost=2)
    )
    wanted = {parameter: value}
    assert (await get(ada, "/metrics", **wanted))["totalTraces"] == 1
    assert (await get(ada, "/costs", **wanted))["byModel"] == {"gpt-4o": 1}
    assert (await get(ada, "/traces/tool-usage", **wanted))["heatmap"] == {"planner": {"search": 1}}
    assert (await get(ada, "/traces/errors-by-type", **wanted))["errors"][0]["count"] == 1
    assert (await get(ada, "/traces/latency-distribution", **wanted))[0]["count"] == 1
    assert (await get(ada, "/traces/latency-percentiles", **wanted))[1]["p99"] == 100
    assert (await get(ada, "/traces/token-usage", **wanted))[1]["totalTokens"] == 1100
    assert (await get(ada, "/traces/error-rate", **wanted))[1]["errorRate"] == 1
    assert (await get(ada, "/traces/success-failure", **wanted))["failure"] == 1
    assert (await get(ada, "/traces/requests-over-time", **wanted))[1]["byAgent"] == {"planner": 1}
    assert [t["name"] for t in await get(ada, "/traces/list", **wanted)] == ["a span"]


async def test_an_agent_is_found_by_name_or_id_and_an_unknown_one_is_empty(ada: Person) -> None:
    await send(ada, new_span(DAY, agentName="planner"), new_span(DAY, agentName="coder"))
    traces = await get(ada, "/traces/list", agentId="planner")
    by_id = await get(ada, "/metrics", agentId=traces[0]["agentId"])
    assert by_id["totalTraces"] == 1
    nothing = await get(ada, "/metrics", agentId="agt_nobody")
    assert (nothing["totalTraces"], nothing["successRate"], nothing["p95Latency"]) == (0, 0, 0)
    assert await get(ada, "/traces/tool-usage", agentId="agt_nobody") == {"heatmap": {}}


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_of_another_workspace_is_counted(
    service: Service, ada: Person, path: str
) -> None:
    bob = await service.sign_up()
    before = await get(bob, path)
    root = new_span(DAY, agentName="planner", status="error")
    await send(ada, root, make_call(root, cost=1), child_of(root, kind="tool", toolName="search"))
    assert await get(bob, path) == before
    assert await get(ada, path) != before


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"startDate": "2026-02-30"}, "startDate"),
        ({"endDate": "yesterday"}, "endDate"),
        ({"startDate": "2026-03-12"}, "startDate"),
        ({"agentId": "x" * 513}, "agentId"),
    ],
)
async def test_an_invalid_range_or_filter_is_refused(
    ada: Person, path: str, parameters: dict[str, str], field: str
) -> None:
    response = await ada.call("GET", f"/analytics{path}", params={**RANGE, **parameters})
    assert_error(response, 400, field)


@pytest.mark.parametrize("path", SERIES)
async def test_an_unknown_granularity_or_too_many_buckets_are_refused(
    ada: Person, path: str
) -> None:
    unknown = await ada.call("GET", f"/analytics{path}", params={"granularity": "yearly"})
    assert_error(unknown, 400, "granularity")
    long = {"startDate": "2000-01-01", "endDate": "2026-01-01", "granularity": "hourly"}
    assert_error(await ada.call("GET", f"/analytics{path}", params=long), 400, "granularity")


async def test_an_unknown_comparison_or_format_is_refused(ada: Person) -> None:
    response = await ada.call("GET", "/analytics/metrics", params={"compare": "next"})
    assert_error(response, 400, "compare")
    response = await ada.call("GET", "/analytics/traces/list", params={"format": "xlsx"})
    assert_error(response, 400, "format")


async def test_the_longest_possible_range_is_accepted(ada: Person) -> None:
    await send(ada, new_span(DAY))
    forever = {"startDate": "1970-01-01", "endDate": "2199-12-31"}
    metrics = await get(ada, "/metrics", **forever, compare="previous")
    assert (metrics["totalTraces"], metrics["previous"]["totalTraces"]) == (1, 0)
    months = await get(ada, "/traces/error-rate", **forever, granularity="monthly")
    assert sum(month["total"] for month in months) == 1
    assert len(months) == 230 * 12


async def test_a_trace_whose_id_ends_in_zeros_is_listed_like_any_other(ada: Person) -> None:
    zeros = "0e583be2c91222abe34b610a24980000"
    await send(ada, new_span(DAY, traceId=zeros), new_span(DAY))
    assert zeros in [trace["traceId"] for trace in await get(ada, "/traces/list")]
