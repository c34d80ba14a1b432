"""Analytics endpoints, on traces that are sent through the API.

All tests read the same workspace. Each subject has a period of its own in it.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.storage.telemetry.rollup.rollup import Rollup
from support.service import Person, Service, assert_error
from support.slices import TracesOnly
from support.spans import Body, child_of, iso, new_span, send

DAY = datetime(2026, 3, 10, 12, tzinfo=UTC)
RANGE = {"startDate": "2026-03-09", "endDate": "2026-03-11"}
# The middle days of the other periods.
FAILING, PERCENTILES, BOUNDARIES, LATE, PRICED, SECONDS, REPEATED = (
    DAY - timedelta(days=30 * number) for number in range(1, 8)
)
ZEROS = "0e583be2c91222abe34b610a24980000"
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


def make_call(root: Body, model: str = "gpt-4o", **fields: Any) -> Body:
    usage = {"inputTokens": 1000, "outputTokens": 100, "provider": "openai"}
    return child_of(root, kind="llm", model=model, **{**usage, **fields})


def make_spans() -> list[Body]:
    planned = new_span(
        DAY,
        100,
        agentName="planner",
        status="error",
        errorType="timeout",
        environment="production",
        sessionId="s-1",
        userId="u-1",
        experimentId="e-1",
        variant="b",
    )
    tools = [child_of(planned, kind="tool", toolName=name) for name in ("search", "search", "read")]
    coded = new_span(
        DAY + timedelta(hours=3), 300, agentName="coder", experimentId="e-2", variant="a"
    )
    main = [
        *(planned, *tools, make_call(planned, cost=0.25)),
        *(coded, make_call(coded, "gpt-4o-mini", cost=0.5)),
        new_span(DAY - timedelta(days=1), 500, traceId=ZEROS),
        # After the period, in the one before it, and before that.
        new_span(DAY + timedelta(days=3), 9000, agentName="other"),
        new_span(DAY - timedelta(days=2), 400),
        new_span(DAY - timedelta(days=5), 800),
    ]
    failing = [
        *(
            new_span(FAILING, status="error", errorType="timeout", agentName="coder")
            for _ in range(3)
        ),
        new_span(FAILING, status="error", errorType="rate_limit", agentName="planner"),
        new_span(FAILING),
    ]
    bounds = (200, 500, 1000, 2000, 5000)
    late = new_span(LATE.replace(hour=23, minute=59))
    next_day = iso(LATE + timedelta(days=1))
    priced = new_span(PRICED)
    repeated = new_span(
        REPEATED, kind="agent", inputTokens=1000, outputTokens=100, model="gpt-4o", cost=9
    )
    return [
        *main,
        *failing,
        *(new_span(PERCENTILES, milliseconds) for milliseconds in range(1, 102)),
        *(new_span(BOUNDARIES, bound) for bound in bounds),
        *(new_span(BOUNDARIES, bound - 0.001) for bound in bounds),
        *(late, make_call(late, startTime=next_day, endTime=next_day)),
        priced,
        make_call(priced, "gpt-4o", cost=0.5),
        make_call(priced, "gpt-4o-mini", cost=0.25),
        make_call(priced, "my-own-model"),
        child_of(priced, kind="llm", cost=0.125),
        *(new_span(SECONDS + timedelta(seconds=second)) for second in (-1, 0, 1, 2)),
        *(repeated, make_call(repeated, cost=0.25)),
    ]


SPANS = make_spans()


@pytest.fixture(scope="module", autouse=True)
def _from_traces() -> Iterator[None]:
    """Read traces only, because percentiles of the rollup are approximate."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rollup, "choose_source", TracesOnly.choose_source)
        yield


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    person = await shared_service.sign_up()
    await send(person, *SPANS)
    return person


async def get(person: Person, path: str, **parameters: Any) -> Any:
    return await person.data("GET", f"/analytics{path}", params={**RANGE, **parameters})


def around(day: datetime) -> dict[str, str]:
    """Return the period of three days with this one in the middle."""
    first, last = (day + timedelta(days=days) for days in (-1, 1))
    return {"startDate": f"{first:%Y-%m-%d}", "endDate": f"{last:%Y-%m-%d}"}


async def test_metrics_aggregate_the_traces_of_the_period(ada: Person) -> None:
    assert await get(ada, "/metrics") == {
        "totalTraces": 3,
        "successRate": pytest.approx(2 / 3),
        "avgLatency": pytest.approx(300),
        "p95Latency": pytest.approx(480),
        "activeAgents": 2,
        "activeAlerts": 0,
        "totalTokens": 2200,
        "estimatedCost": pytest.approx(0.75),
        "unpricedTokens": 0,
    }


async def test_metrics_compare_with_the_period_of_the_same_length_before(ada: Person) -> None:
    metrics = await get(ada, "/metrics", compare="previous")
    assert (metrics["totalTraces"], metrics["avgLatency"]) == (3, pytest.approx(300))
    before = metrics["previous"]
    assert (before["totalTraces"], before["avgLatency"], before["p95Latency"]) == (1, 400, 400)


async def test_an_agent_span_that_repeats_the_sum_of_its_calls_is_not_counted(ada: Person) -> None:
    metrics = await get(ada, "/metrics", **around(REPEATED))
    assert (metrics["totalTokens"], metrics["estimatedCost"]) == (1100, 0.25)


async def test_success_and_failure_are_counted_in_total_and_per_day(ada: Person) -> None:
    assert await get(ada, "/traces/success-failure") == {
        "total": 3,
        "success": 2,
        "failure": 1,
        "successRate": pytest.approx(2 / 3),
        "failureRate": pytest.approx(1 / 3),
        "trend": [
            {"date": "2026-03-09", "success": 1, "failure": 0},
            {"date": "2026-03-10", "success": 1, "failure": 1},
            {"date": "2026-03-11", "success": 0, "failure": 0},
        ],
    }


async def test_requests_are_counted_by_the_name_of_the_agent(ada: Person) -> None:
    assert (await get(ada, "/traces/requests-over-time", **around(FAILING)))[1] == {
        "date": f"{FAILING:%Y-%m-%d}",
        "total": 5,
        "byAgent": {"coder": 3, "planner": 1, "unknown": 1},
    }


async def test_percentiles_lie_between_the_nearest_traces(ada: Person) -> None:
    before, day, after = await get(ada, "/traces/latency-percentiles", **around(PERCENTILES))
    assert day == {"date": f"{PERCENTILES:%Y-%m-%d}", "p50": 51, "p95": 96, "p99": 100}
    empty = {"p50": None, "p95": None, "p99": None}
    assert before == {"date": f"{PERCENTILES - timedelta(days=1):%Y-%m-%d}", **empty}
    assert after["p50"] is None


async def test_a_latency_on_a_boundary_belongs_to_the_upper_bucket(ada: Person) -> None:
    buckets = await get(ada, "/traces/latency-distribution", **around(BOUNDARIES))
    assert [b["bucket"] for b in buckets] == [
        *("<200ms", "200-500ms", "500ms-1s", "1-2s", "2-5s", "5s+")
    ]
    assert [b["count"] for b in buckets] == [1, 2, 2, 2, 2, 1]
    assert [b["percentage"] for b in buckets] == [10, 20, 20, 20, 20, 10]
    assert (buckets[0]["minMs"], buckets[0]["maxMs"]) == (0, 200)
    assert (buckets[-1]["minMs"], buckets[-1]["maxMs"]) == (5000, None)


async def test_tokens_belong_to_the_day_on_which_their_trace_starts(ada: Person) -> None:
    _, day, after = await get(ada, "/traces/token-usage", **around(LATE))
    assert day == {
        "date": f"{LATE:%Y-%m-%d}",
        "inputTokens": 1000,
        "outputTokens": 100,
        "totalTokens": 1100,
    }
    assert after["totalTokens"] == 0


async def test_costs_by_model_and_the_models_without_a_price(ada: Person) -> None:
    costs = await get(ada, "/costs", **around(PRICED))
    assert costs["totalCost"] == pytest.approx(0.875)
    assert costs["byModel"] == {
        "gpt-4o": 0.5,
        "gpt-4o-mini": 0.25,
        "my-own-model": 0,
        "unknown": pytest.approx(0.125),
    }
    assert costs["unpricedModels"] == ["my-own-model"]
    assert costs["trend"][1] == {
        "date": f"{PRICED:%Y-%m-%d}",
        "cost": pytest.approx(0.875),
        "unpricedTokens": 1100,
    }


async def test_failed_traces_by_the_type_of_their_error(ada: Person) -> None:
    assert (await get(ada, "/traces/errors-by-type", **around(FAILING)))["errors"] == [
        {"type": "timeout", "count": 3, "percentage": 75},
        {"type": "rate_limit", "count": 1, "percentage": 25},
    ]


async def test_error_rate_over_time(ada: Person) -> None:
    _, day, after = await get(ada, "/traces/error-rate", **around(FAILING))
    assert day == {"date": f"{FAILING:%Y-%m-%d}", "total": 5, "errors": 4, "errorRate": 0.8}
    assert (after["total"], after["errors"], after["errorRate"]) == (0, 0, 0)


async def test_tools_are_counted_by_the_agent_of_the_trace(ada: Person) -> None:
    assert (await get(ada, "/traces/tool-usage")) == {
        "heatmap": {"planner": {"search": 2, "read": 1}}
    }


async def test_weeks_start_on_monday_and_hours_are_times(ada: Person) -> None:
    weeks = await get(ada, "/traces/requests-over-time", granularity="weekly")
    assert [(w["date"], w["total"]) for w in weeks] == [("2026-03-09", 3)]
    months = await get(ada, "/traces/requests-over-time", granularity="monthly")
    assert [(m["date"], m["total"]) for m in months] == [("2026-03-01", 3)]
    hours = await get(ada, "/traces/requests-over-time", granularity="hourly")
    assert len(hours) == 72
    assert hours[36] == {"date": "2026-03-10T12:00:00Z", "total": 1, "byAgent": {"planner": 1}}


async def test_both_ends_of_a_range_are_exact_to_the_second(ada: Person) -> None:
    between = {"startDate": iso(SECONDS), "endDate": iso(SECONDS + timedelta(seconds=2))}
    assert (await get(ada, "/metrics", **between))["totalTraces"] == 2


async def test_the_default_range_is_the_last_thirty_days(service: Service) -> None:
    bob, now = await service.sign_up(), datetime.now(UTC)
    await send(bob, *(new_span(now - timedelta(days=days)) for days in (0, 29, 31)))
    series = await bob.data("GET", "/analytics/traces/requests-over-time")
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
async def test_every_filter_applies_to_metrics_and_traces(
    ada: Person, parameter: str, value: str
) -> None:
    wanted = {parameter: value}
    assert (await get(ada, "/metrics", **wanted))["totalTraces"] == 1
    assert [t["agentName"] for t in await get(ada, "/traces/list", **wanted)] == ["planner"]


@pytest.mark.parametrize(
    "wanted",
    # The first can be answered from the rollup, the second cannot, and limits the models.
    [{"agentId": "planner"}, {"model": "gpt-4o"}],
    ids=["agent", "model"],
)
async def test_filters_apply_to_every_endpoint(ada: Person, wanted: dict[str, str]) -> None:
    assert (await get(ada, "/costs", **wanted))["byModel"] == {"gpt-4o": 0.25}
    tools = (await get(ada, "/traces/tool-usage", **wanted))["heatmap"]
    assert tools == {"planner": {"search": 2, "read": 1}}
    assert (await get(ada, "/traces/errors-by-type", **wanted))["errors"][0]["count"] == 1
    counts = [
        bucket["count"] for bucket in await get(ada, "/traces/latency-distribution", **wanted)
    ]
    assert counts == [1, 0, 0, 0, 0, 0]
    assert (await get(ada, "/traces/latency-percentiles", **wanted))[1]["p99"] == 100
    assert (await get(ada, "/traces/token-usage", **wanted))[1]["totalTokens"] == 1100
    assert (await get(ada, "/traces/error-rate", **wanted))[1]["errorRate"] == 1
    outcomes = await get(ada, "/traces/success-failure", **wanted)
    assert (outcomes["total"], outcomes["failure"]) == (1, 1)
    assert (await get(ada, "/traces/requests-over-time", **wanted))[1]["byAgent"] == {"planner": 1}


async def test_an_agent_is_found_by_name_or_id_and_an_unknown_one_is_empty(ada: Person) -> None:
    traces = await get(ada, "/traces/list", agentId="planner")
    by_id = await get(ada, "/metrics", agentId=traces[0]["agentId"])
    assert by_id["totalTraces"] == 1
    nothing = await get(ada, "/metrics", agentId="agt_nobody")
    assert (nothing["totalTraces"], nothing["successRate"], nothing["p95Latency"]) == (0, 0, 0)
    assert await get(ada, "/traces/tool-usage", agentId="agt_nobody") == {"heatmap": {}}


async def test_nothing_of_another_workspace_is_counted(ada: Person, service: Service) -> None:
    bob = await service.sign_up()
    # Where nobody has traces, so that only the dates differ.
    never = {"startDate": "2031-03-09", "endDate": "2031-03-11"}
    for path in PATHS:
        nothing = str(await get(ada, path, **never)).replace("2031-", "2026-")
        assert str(await get(bob, path)) == nothing, path
        assert str(await get(ada, path)) != nothing, path


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
    ada: Person, parameters: dict[str, str], field: str
) -> None:
    for path in PATHS:
        response = await ada.call("GET", f"/analytics{path}", params={**RANGE, **parameters})
        assert_error(response, 400, field)


async def test_an_unknown_granularity_or_too_many_buckets_are_refused(ada: Person) -> None:
    long = {"startDate": "2000-01-01", "endDate": "2026-01-01", "granularity": "hourly"}
    for path in SERIES:
        for params in ({"granularity": "yearly"}, long):
            response = await ada.call("GET", f"/analytics{path}", params=params)
            assert_error(response, 400, "granularity")


async def test_an_unknown_comparison_or_format_is_refused(ada: Person) -> None:
    response = await ada.call("GET", "/analytics/metrics", params={"compare": "next"})
    assert_error(response, 400, "compare")
    response = await ada.call("GET", "/analytics/traces/list", params={"format": "xlsx"})
    assert_error(response, 400, "format")


async def test_the_longest_possible_range_is_accepted(ada: Person) -> None:
    traces = len({span["traceId"] for span in SPANS})
    forever = {"startDate": "1970-01-01", "endDate": "2199-12-31"}
    metrics = await get(ada, "/metrics", **forever, compare="previous")
    assert (metrics["totalTraces"], metrics["previous"]["totalTraces"]) == (traces, 0)
    months = await get(ada, "/traces/error-rate", **forever, granularity="monthly")
    assert sum(month["total"] for month in months) == traces
    assert len(months) == 230 * 12


async def test_a_trace_whose_id_ends_in_zeros_is_listed_like_any_other(ada: Person) -> None:
    assert ZEROS in [trace["traceId"] for trace in await get(ada, "/traces/list")]
