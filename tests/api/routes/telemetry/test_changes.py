"""Changes between two periods, releases or models equal a plain Python computation."""

import asyncio
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import NormalDist
from typing import Any

import pytest

from spanwise.model.dashboards.changes import CLUSTERS
from spanwise.storage.telemetry.analytics import side_rows
from support.changes_oracle import (
    MEASURES,
    Trace,
    difference,
    found_difference,
    measure,
    measure_plain,
    quantile,
    quantile_difference,
    verdict,
    weigh,
)
from support.service import Person, Service, assert_error
from support.spans import Body, child_of, iso, new_span, send

SEED = 1
START = datetime(2025, 6, 2, tzinfo=UTC)
WEEK = {"startDate": "2025-06-02T00:00:00Z", "endDate": "2025-06-09T00:00:00Z"}
RELEASES = {**WEEK, "dimension": "attribute:release", "baseline": "1.0", "candidate": "1.1"}


def make_trace(dice: random.Random, number: int, release: str) -> tuple[list[Body], Trace]:
    """Return the spans of a trace; those of the second release are slower and cheaper."""
    is_new = release == "1.1"
    latency = round(300 * dice.lognormvariate(0, 0.6) * (1.4 if is_new else 1), 3)
    failed = dice.random() < 0.08
    model = dice.choice(("zz-large", "zz-small") if is_new else ("zz-large",))
    cost, tokens = dice.randrange(1, 4096) / 1024 * (0.5 if is_new else 1), dice.randrange(10, 900)
    root = new_span(
        START + timedelta(minutes=10 * number),
        latency,
        kind="agent",
        agentName="planner",
        sessionId=f"talk-{number // 2}",
        attributes={"release": release},
        **({"status": "error", "errorType": "timeout"} if failed else {}),
    )
    call = child_of(root, kind="llm", model=model, inputTokens=tokens, outputTokens=5, cost=cost)
    # It lasts as long as the trace and contains everything, so it explains nothing by itself.
    act = new_span(START + timedelta(minutes=10 * number), latency, kind="chain", name="act")
    act = {**act, "traceId": root["traceId"], "parentSpanId": root["spanId"]}
    spans, tools = [root, act, call], {"search": [0, 0], "run": [0, 0]}
    # The milliseconds of one call.
    took = {"search": 100 + 13 * (number % 7) + 400 * is_new, "run": 50 + 7 * (number % 5)}
    for _ in range(dice.randrange(3)):
        tool, is_bad = dice.choice(("search", "run")), dice.random() < 0.2
        tools[tool][0] += 1
        tools[tool][1] += is_bad
        status = {"status": "error", "errorType": "api_error"} if is_bad else {"status": "ok"}
        made = new_span(START + timedelta(minutes=10 * number), took[tool])
        of_root = {"traceId": root["traceId"], "parentSpanId": root["spanId"]}
        spans.append({**made, **of_root, "kind": "tool", "toolName": tool, **status})
    ratings = [float(dice.randrange(5)) for _ in range(dice.randrange(2))]
    trace = Trace(
        number // 2,
        release,
        latency,
        failed,
        cost,
        tokens + 5,
        {name: (calls, bad) for name, (calls, bad) in tools.items()},
        ratings,
        model,
        {
            ("step", "act"): (1, latency),
            ("model", model): (1, 100),
            **{
                ("tool", tool): (calls, calls * took[tool])
                for tool, (calls, _) in tools.items()
                if calls
            },
        },
    )
    return spans, trace


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    return await shared_service.sign_up()


@pytest.fixture(scope="module")
async def traces(shared_service: Service, ada: Person) -> list[Trace]:
    """The traces of ada, of two releases in sessions of two, with the engine's clusters."""
    dice, traces = random.Random(SEED), 600
    made = [make_trace(dice, n, dice.choice(("1.0", "1.1"))) for n in range(traces)]
    spans = [span for one, _ in made for span in one]
    parts = [spans[first : first + 500] for first in range(0, len(spans), 500)]
    await asyncio.gather(*(send(ada, *part) for part in parts))
    signals = [
        {"signalName": "rating", "value": value, "traceId": one[0]["traceId"]}
        for one, trace in made
        for value in trace.ratings
    ]
    await ada.data("POST", "/signals/batch", json={"signals": signals})
    rows = await shared_service.services.engine.fetch(
        f"""SELECT cityHash64(concat('talk-', toString(number))) % {CLUSTERS} AS cluster
        FROM numbers({traces}) ORDER BY number""",
        {},
    )
    numbers = [row["cluster"] for row in rows]
    return [Trace(**{**vars(t), "cluster": numbers[t.cluster]}) for _, t in made]


async def ask(person: Person, **parameters: Any) -> Any:
    return await person.data("GET", "/analytics/changes", params=parameters)


def list_calls(traces: Sequence[Trace]) -> list[float]:
    """Return 1 for each failed tool call and 0 for each other one."""
    calls = [counts for trace in traces for counts in trace.tools.values()]
    return [float(n < failed) for number, failed in calls for n in range(number)]


def assert_exact(found: Any, first: Sequence[Trace], second: Sequence[Trace]) -> None:
    changes = {change["measure"]: change for change in found["measures"]}
    for name, values in MEASURES.items():
        change, means = changes[name], [measure(side, values) for side in (first, second)]
        assert change["baseline"] == pytest.approx(means[0].value), name
        assert change["candidate"] == pytest.approx(means[1].value), name
        expected = difference(means[0], means[1])
        assert found_difference(change) == pytest.approx(expected, rel=1e-6), name
        samples = [change["baselineSamples"], change["candidateSamples"]]
        assert samples == [mean.outcomes for mean in means]
        if not name.startswith("signal:"):
            assert change["verdict"] == verdict(*expected[1:])
    calls = [
        measure_plain(list_calls(side), weigh(side, lambda t: len(list_calls([t])), CLUSTERS))
        for side in (first, second)
    ]
    expected = difference(calls[0], calls[1])
    assert found_difference(changes["toolErrorRate"]) == pytest.approx(expected, rel=1e-6)
    for name, level in (("p50", 0.5), ("p95", 0.95)):
        assert changes[name]["baseline"] == pytest.approx(quantile(first, level)[0])
        expected = quantile_difference(first, second, level)
        assert found_difference(changes[name]) == pytest.approx(expected, rel=1e-6), name
        assert changes[name]["verdict"] == verdict(*expected[1:])


async def test_releases_and_periods_match_plain_python(ada: Person, traces: list[Trace]) -> None:
    old, new = ([t for t in traces if t.version == release] for release in ("1.0", "1.1"))
    found = await ask(ada, **RELEASES)
    assert_exact(found, old, new)
    assert found["dimension"] == "attribute:release"
    assert (found["baseline"]["value"], found["baseline"]["traces"]) == ("1.0", len(old))
    assert (found["candidate"]["value"], found["candidate"]["traces"]) == ("1.1", len(new))
    verdicts = {change["measure"]: change["verdict"] for change in found["measures"]}
    assert verdicts["p50"] == verdicts["avgLatency"] == "worse"
    assert verdicts["costPerTrace"] == "better"
    assert verdicts["signal:rating"] == "unclear"

    half = START + timedelta(minutes=10 * 300)
    end = START + timedelta(minutes=10 * 600)
    found = await ask(ada, startDate=iso(half), endDate=iso(end))
    assert found["dimension"] is None
    assert found["baseline"]["startDate"] == "2025-06-02T00:00:00Z"
    assert_exact(found, traces[:300], traces[300:])
    dates = {"baselineStart": iso(half), "baselineEnd": iso(end)}
    found = await ask(ada, startDate=iso(START), endDate=iso(half), **dates)
    assert_exact(found, traces[300:], traces[:300])


async def test_contributors_are_corrected_for_their_number(
    ada: Person, traces: list[Trace]
) -> None:
    found = await ask(ada, **RELEASES)
    rows = {(c["dimension"], c["value"], c["measure"]): c for c in found["contributors"]}
    assert found["tested"] >= len(rows)
    share = rows["model", "zz-small", "share"]
    old, new = ([t for t in traces if t.version == release] for release in ("1.0", "1.1"))
    assert share["baseline"] == 0
    assert share["candidate"] == pytest.approx(sum(t.model == "zz-small" for t in new) / len(new))
    assert share["verdict"] == "higher"
    cost = rows["model", "zz-large", "costPerTrace"]
    spent = [sum(t.cost for t in side if t.model == "zz-large") / len(side) for side in (old, new)]
    assert [cost["baseline"], cost["candidate"]] == pytest.approx(spent)
    assert cost["verdict"] == "better"
    for row in rows.values():
        excludes = not row["interval"]["lower"] <= 0 <= row["interval"]["upper"]
        assert excludes == (row["verdict"] != "unclear")
    discoveries = sum(row["verdict"] != "unclear" for row in rows.values())
    z_squared = NormalDist().inv_cdf(1 - 0.05 * discoveries / found["tested"] / 2) ** 2
    means = [
        measure_plain(
            [t.cost * (t.model == "zz-large") for t in side], weigh(side, lambda _: 1, CLUSTERS)
        )
        for side in (old, new)
    ]
    assert found_difference(cost) == pytest.approx(
        difference(means[0], means[1], z_squared), rel=1e-6
    )


def assert_parts_exact(
    found: Any, first: Sequence[Trace], second: Sequence[Trace], alpha: float
) -> None:
    """Assert that time and calls of each part equal plain means over all traces."""
    parts = [
        row for row in found["contributors"] if row["measure"] in {"timePerTrace", "callsPerTrace"}
    ]
    assert {(row["dimension"], row["value"]) for row in parts} >= {
        ("tool", "search"),
        ("tool", "run"),
        ("step", "act"),
        ("model", "zz-small"),
    }
    z_squared = NormalDist().inv_cdf(1 - alpha / 2) ** 2
    for row in parts:
        key, is_time = (row["dimension"], row["value"]), row["measure"] == "timePerTrace"
        means = [
            measure_plain(
                [float(trace.parts.get(key, (0, 0))[is_time]) for trace in side],
                weigh(side, lambda _: 1, CLUSTERS),
            )
            for side in (first, second)
        ]
        expected = difference(means[0], means[1], z_squared)
        assert found_difference(row) == pytest.approx(expected, rel=1e-6), row
        if is_time:
            calls = [
                sum(trace.parts.get(key, (0, 0))[0] for trace in side) / len(side)
                for side in (first, second)
            ]
            assert [row["baselineCalls"], row["candidateCalls"]] == pytest.approx(calls)


def alpha_of(found: Any) -> float:
    """Return the error rate that the intervals of contributors are widened to."""
    discoveries: int = sum(row["verdict"] != "unclear" for row in found["contributors"])
    return 0.05 * max(discoveries, 1) / int(found["tested"])


async def test_the_slower_tool_comes_first(ada: Person, traces: list[Trace]) -> None:
    found = await ask(ada, **RELEASES)
    old, new = ([t for t in traces if t.version == release] for release in ("1.0", "1.1"))
    assert_parts_exact(found, old, new, alpha_of(found))
    first, *others = found["contributors"]
    named = (first["dimension"], first["value"], first["measure"], first["explains"])
    assert named == ("tool", "search", "timePerTrace", "avgLatency")
    total = {change["measure"]: change for change in found["measures"]}["avgLatency"]
    tools = [r for r in found["contributors"] if (r["dimension"], r["measure"]) == named[::2]]
    together = sum(row["difference"] for row in tools)
    share = min(first["difference"], together) / total["difference"]
    assert first["explained"] == pytest.approx(share)
    # Latency and errors of traces would blame the model for the tool.
    measures = {row["measure"] for row in others if row["dimension"] == "model"}
    assert measures <= {"share", "costPerTrace", "timePerTrace", "callsPerTrace"}


async def test_parts_of_many_traces_are_sampled(
    ada: Person, traces: list[Trace], monkeypatch: pytest.MonkeyPatch, shared_service: Service
) -> None:
    everything = await ask(ada, **RELEASES)
    monkeypatch.setattr(side_rows, "MAX_PART_TRACES", 200)
    found = await ask(ada, **RELEASES)
    rows = {(row["value"], row["measure"]): row for row in found["contributors"]}
    sampled = rows["search", "timePerTrace"]["baselineSamples"]
    assert 100 < sampled < 200 < found["baseline"]["traces"]
    # Measures, and the error rates of tools, are still those of all traces.
    assert found["measures"] == everything["measures"]
    [workspace] = await ada.data("GET", "/workspaces")
    [engine_says] = await shared_service.services.engine.fetch(
        """SELECT sum(spans_ms) / count() AS ms FROM (
            SELECT trace_id, sumIf(duration_ns, tool_name = 'search') / 1e6 AS spans_ms,
                max(attributes['release']) AS release
            FROM spans FINAL WHERE workspace = {workspace:String}
            GROUP BY trace_id HAVING release = '1.0' AND cityHash64(trace_id) % 2 = 0)""",
        {"workspace": workspace["id"]},
    )
    assert rows["search", "timePerTrace"]["baseline"] == pytest.approx(engine_says["ms"])


async def test_filters_and_the_compared_dimension_are_respected(
    ada: Person, traces: list[Trace]
) -> None:
    filters = '[{"field": "attribute:release", "op": "eq", "value": "1.1"}]'
    found = await ask(
        ada, **WEEK, dimension="model", baseline="zz-large", candidate="zz-small", filters=filters
    )
    counts = [
        sum(t.model == model and t.version == "1.1" for t in traces)
        for model in ("zz-large", "zz-small")
    ]
    assert [found["baseline"]["traces"], found["candidate"]["traces"]] == counts
    assert all(row["dimension"] != "model" for row in found["contributors"])


@pytest.mark.usefixtures("traces")
async def test_a_value_of_all_traces_is_no_contributor(ada: Person) -> None:
    everything = await ask(ada, **RELEASES)
    assert "agent" not in {dimension for dimension, _ in named(everything)}
    [agent] = await ada.data("GET", "/agents")
    for one in ("planner", agent["id"]):
        found = await ask(ada, **RELEASES, agentId=one)
        assert found["measures"] == everything["measures"]
        assert found["contributors"] == everything["contributors"]
    model = '[{"field": "model", "op": "eq", "value": "zz-large"}]'
    found = await ask(ada, **RELEASES, filters=model)
    large = {row["measure"] for row in found["contributors"] if row["value"] == "zz-large"}
    # Share, errors and latency would repeat the measures.
    assert large <= {"costPerTrace", "timePerTrace", "callsPerTrace"}


def named(found: Any) -> set[tuple[str, str]]:
    return {(row["dimension"], row["value"]) for row in found["contributors"]}


@pytest.mark.usefixtures("traces")
async def test_too_few_traces_have_no_verdict(ada: Person) -> None:
    first_twenty = {"endDate": iso(START + timedelta(minutes=10 * 20))}
    found = await ask(ada, **{**RELEASES, **first_twenty})
    assert found["baseline"]["traces"] + found["candidate"]["traces"] == 20
    assert {change["verdict"] for change in found["measures"]} == {"tooFew"}
    assert all(change["interval"] is None for change in found["measures"])
    assert found["contributors"] == []


@pytest.mark.usefixtures("traces")
async def test_an_empty_workspace_has_nothing_to_compare(service: Service) -> None:
    # Nor does it see the traces of another one.
    bob = await service.sign_up()
    for parameters in ({}, RELEASES):
        found = await ask(bob, **parameters)
        assert (found["baseline"]["traces"], found["candidate"]["traces"]) == (0, 0)
        by_name = {change["measure"]: change for change in found["measures"]}
        assert by_name["errorRate"]["baseline"] is None
        assert {change["verdict"] for change in found["measures"]} == {"noData"}


@pytest.mark.usefixtures("traces")
async def test_a_side_without_traces_has_no_data_and_names_similar_values(ada: Person) -> None:
    found = await ask(ada, **{**RELEASES, "candidate": "1.11"})
    assert (found["candidate"]["traces"], found["contributors"]) == (0, [])
    assert found["candidate"]["similar"][0] == "1.1"
    assert found["baseline"]["similar"] == []
    assert {change["verdict"] for change in found["measures"]} == {"noData"}
    models = {**WEEK, "dimension": "model", "baseline": "zz-large"}
    found = await ask(ada, **models, candidate="SMALL", agentId="planner")
    assert found["candidate"]["similar"] == ["zz-small"]
    # Another workspace, or another filter, has no such values.
    found = await ask(ada, **models, candidate="SMALL", agentId="nobody")
    assert found["candidate"]["similar"] == []
    # An empty period before has no data either: more traces per day than none say nothing.
    before = {"baselineStart": "2025-05-01", "baselineEnd": "2025-05-31"}
    found = await ask(ada, **WEEK, **before)
    assert found["baseline"]["traces"] == 0
    assert {change["verdict"] for change in found["measures"]} == {"noData"}


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"dimension": "model", "baseline": "a"}, "candidate"),
        ({"dimension": "model", "candidate": "a"}, "baseline"),
        ({"baseline": "a"}, "baseline"),
        ({"dimension": "colour", "baseline": "a", "candidate": "b"}, "dimension"),
        ({"baselineStart": "2025-02-30"}, "baselineStart"),
        ({"baselineStart": "2025-02-03", "baselineEnd": "2025-02-01"}, "baselineStart"),
    ],
)
async def test_an_impossible_comparison_is_rejected(
    ada: Person, parameters: dict[str, str], field: str
) -> None:
    response = await ada.call("GET", "/analytics/changes", params=parameters)
    assert_error(response, 400, field)
