"""Results: which outcomes count for which unit, and the statistics of them."""

import math
from typing import Any

import pytest

from spanwise.ingest.exposures import prepare_exposures
from spanwise.ingest.rest.bodies import NewSignal
from spanwise.model.api_model import utc_now
from support.experiments import create, start
from support.outcomes import make_trace, send_signals, send_traces
from support.service import Person, Service, assert_error

SUCCESS = [{"metric": "successRate"}]


async def assign(person: Person, experiment: dict[str, Any], *units: str) -> dict[str, str]:
    path = f"/experiments/{experiment['id']}/assign/batch"
    assigned = await person.data("POST", path, json={"unitIds": list(units)})
    return {a["unitId"]: a["variant"] for a in assigned}


async def results_of(person: Person, experiment: dict[str, Any]) -> dict[str, Any]:
    results: dict[str, Any] = await person.data("GET", f"/experiments/{experiment['id']}/results")
    return results


def by_variant(results: dict[str, Any], metric: int = 0) -> dict[str, dict[str, Any]]:
    return {v["variant"]: v for v in results["metrics"][metric]["variants"]}


async def units_with_outcomes(
    person: Person, experiment: dict[str, Any], metric: int = 0
) -> dict[str, int]:
    results = await results_of(person, experiment)
    return {key: v["units"] for key, v in by_variant(results, metric).items()}


async def test_results_without_units_are_null_with_a_reason(service: Service) -> None:
    ann = await service.sign_up()
    for experiment in (await create(ann), await start(ann)):
        results = await results_of(ann, experiment)
        assert results["status"] == experiment["status"]
        assert (results["units"], results["excludedUnits"]) == (0, 0)
        assert [(v["variant"], v["units"]) for v in results["perVariant"]] == [
            ("control", 0),
            ("treatment", 0),
        ]
        assert results["srm"] == {"pValue": None, "ok": True}
        assert results["verdict"]["decision"] == "keep_running"
        assert "no unit" in results["verdict"]["reason"].lower()
        assert [m["key"] for m in results["metrics"]] == ["successRate", "latency", "cost"]
        for metric in results["metrics"]:
            for variant in metric["variants"]:
                assert variant["mean"] is variant["lift"] is variant["pValue"] is None
                assert variant["significant"] is False
                assert variant["reason"]


async def test_means_are_over_traces_and_units_are_counted_once(service: Service) -> None:
    ann = await service.sign_up()
    metrics = [{"metric": m} for m in ("successRate", "latency", "cost", "tokens", "p95Latency")]
    experiment = await start(ann, metrics=metrics)
    units = await assign(ann, experiment, *(f"u{n}" for n in range(20)))
    traces = []
    for unit, variant in units.items():
        slow = 200 if variant == "treatment" else 100
        shared: dict[str, Any] = {"userId": unit, "inputTokens": 10, "outputTokens": 5}
        traces.append(make_trace(ms=slow, cost=0.02, **shared))
        traces.append(make_trace(ms=slow, cost=0.04, ok=False, **shared))
    await send_traces(ann, traces)
    results = await results_of(ann, experiment)
    counts = {v: list(units.values()).count(v) for v in ("control", "treatment")}
    assert results["units"] == 20
    assert {v["variant"]: v["units"] for v in results["perVariant"]} == counts
    means = {m["key"]: {v["variant"]: v["mean"] for v in m["variants"]} for m in results["metrics"]}
    for key, expected in {
        "successRate": (0.5, 0.5),
        "latency": (100, 200),
        "cost": (0.03, 0.03),
        "tokens": (15, 15),
        "p95Latency": (100, 200),
    }.items():
        assert math.isclose(means[key]["control"], expected[0], rel_tol=1e-6), key
        assert math.isclose(means[key]["treatment"], expected[1], rel_tol=1e-6), key
    assert await units_with_outcomes(ann, experiment) == counts


async def test_outcomes_are_matched_by_user_session_attribute_or_flag(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, name="prompt-length", metrics=SUCCESS)
    units = await assign(ann, experiment, "by-user", "by-session", "by-both")
    named = {"experimentId": experiment["id"], "variant": "control"}
    flag = {
        "feature_flag.key": "prompt-length",
        "feature_flag.result.variant": "treatment",
    }
    await send_traces(
        ann,
        [
            make_trace(userId="by-user"),
            make_trace(sessionId="by-session"),
            make_trace(userId="by-both", sessionId="by-session"),
            make_trace(**named),
            make_trace(attributes=flag),
            make_trace(events=[{"name": "feature_flag.evaluation", "attributes": flag}]),
            make_trace(userId="nobody"),
            make_trace(experimentId=experiment["id"], variant="unknown"),
        ],
    )
    found = await units_with_outcomes(ann, experiment)
    assert found["control"] == list(units.values()).count("control") + 1
    assert found["treatment"] == list(units.values()).count("treatment") + 2
    assert (await results_of(ann, experiment))["units"] == 3


async def test_only_outcomes_after_the_first_exposure_count(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, metrics=SUCCESS)
    before = [make_trace(ago_seconds=3600, userId="early"), make_trace(ago_seconds=5, userId="u")]
    await send_traces(ann, before)
    await assign(ann, experiment, "early", "u", "under-way")
    assert sum((await units_with_outcomes(ann, experiment)).values()) == 0
    # A trace that started before its unit was assigned, as when the agent itself assigns.
    await send_traces(ann, [make_trace(ago_seconds=2, ms=60_000, userId="under-way")])
    assert sum((await units_with_outcomes(ann, experiment)).values()) == 1
    await send_traces(ann, [make_trace(userId="u")])
    assert sum((await units_with_outcomes(ann, experiment)).values()) == 2


async def test_a_unit_seen_in_two_variants_is_excluded_and_counted(service: Service) -> None:
    ann = await service.sign_up()
    metrics = [*SUCCESS, {"source": "signal", "signalName": "stars"}]
    experiment = await start(ann, metrics=metrics)
    units = await assign(ann, experiment, *(f"u{n}" for n in range(10)))
    other = {"control": "treatment", "treatment": "control"}
    torn = {"experimentId": experiment["id"], "variant": other[units["u0"]], "userId": "u0"}
    await send_traces(ann, [make_trace(userId=unit) for unit in units] + [make_trace(**torn)])
    stars = [{"signalName": "stars", "value": 1, "userId": unit} for unit in units]
    await send_signals(ann, stars)
    results = await results_of(ann, experiment)
    assert (results["units"], results["excludedUnits"]) == (9, 1)
    assert sum((await units_with_outcomes(ann, experiment)).values()) == 9
    assert sum((await units_with_outcomes(ann, experiment, 1)).values()) == 9


async def test_a_unit_exposed_to_two_variants_is_excluded_once(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, metrics=SUCCESS)
    units = await assign(ann, experiment, *(f"u{n}" for n in range(10)))
    sender = (await service.services.access.by_token(ann.token)).sender
    # Like the exposure of a replica that still had other variants cached.
    for variant in (0, 1):
        exposed = prepare_exposures(
            sender.workspace, experiment["id"], utc_now(), [("u0", variant)]
        )
        await service.services.pipeline.submit(sender, [exposed])
    await send_traces(ann, [make_trace(userId=unit) for unit in units])
    results = await results_of(ann, experiment)
    assert (results["units"], results["excludedUnits"]) == (9, 1)
    assert sum(variant["units"] for variant in results["perVariant"]) == 9


async def test_a_unit_with_signals_of_two_variants_is_excluded_and_counted(
    service: Service,
) -> None:
    ann = await service.sign_up()
    metrics = [*SUCCESS, {"source": "signal", "signalName": "stars"}]
    experiment = await start(ann, metrics=metrics)
    units = await assign(ann, experiment, *(f"u{n}" for n in range(10)))
    other = {"control": "treatment", "treatment": "control"}
    # Two units have traces and one has none; the conflicting signal belongs to no metric.
    traces = {unit: make_trace(userId=unit) for unit in units if unit != "u2"}
    await send_traces(ann, list(traces.values()))
    named = {"signalName": "thumbs", "value": 1, "experimentId": experiment["id"]}
    torn = [
        {**named, "variant": other[units["u0"]], "userId": "u0"},
        {**named, "variant": other[units["u1"]], "traceId": traces["u1"]["traceId"]},
        {**named, "variant": other[units["u2"]], "userId": "u2"},
        {**named, "variant": units["u3"], "userId": "u3"},
    ]
    stars = [{"signalName": "stars", "value": 1, "userId": unit} for unit in units]
    await send_signals(ann, [*torn, *stars])
    results = await results_of(ann, experiment)
    assert (results["units"], results["excludedUnits"]) == (7, 3)
    assert sum((await units_with_outcomes(ann, experiment)).values()) == 7
    assert sum((await units_with_outcomes(ann, experiment, 1)).values()) == 7


async def test_signals_count_by_user_variant_or_trace(service: Service) -> None:
    ann = await service.sign_up()
    metrics = [{"source": "signal", "signalName": "stars"}]
    experiment = await start(ann, metrics=metrics)
    await assign(ann, experiment, "u1", "u2", "u3")
    trace = make_trace(userId="u2")
    await send_traces(ann, [trace])
    named = {"experimentId": experiment["id"], "variant": "treatment"}
    await send_signals(
        ann,
        [
            {"signalName": "stars", "value": 5, "userId": "u1"},
            {"signalName": "stars", "value": 3, "userId": "u1"},
            {"signalName": "stars", "value": 4, "traceId": trace["traceId"]},
            {"signalName": "stars", "value": 2, **named},
            {"signalName": "stars", "value": 1, "userId": "nobody"},
            {"signalName": "thumbs", "value": 1, "userId": "u3"},
        ],
    )
    found = by_variant(await results_of(ann, experiment))
    assert sum(v["units"] for v in found.values()) == 3
    total = sum(v["units"] * v["mean"] for v in found.values() if v["mean"] is not None)
    assert total > 0


async def test_an_experiment_on_an_agent_counts_only_its_traces(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, metrics=SUCCESS, agentId="shop")
    await assign(ann, experiment, "u1", "u2")
    await send_traces(
        ann,
        [make_trace(userId="u1", agentName="shop"), make_trace(userId="u2", agentName="other")],
    )
    assert sum((await units_with_outcomes(ann, experiment)).values()) == 1


async def test_outcomes_after_the_stop_do_not_count(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, metrics=SUCCESS)
    await assign(ann, experiment, "u1", "u2")
    await send_traces(ann, [make_trace(userId="u1")])
    await ann.data("POST", f"/experiments/{experiment['id']}/stop")
    await send_traces(ann, [make_trace(userId="u2")])
    results = await results_of(ann, experiment)
    assert (results["status"], results["units"]) == ("stopped", 2)
    assert sum(v["units"] for v in by_variant(results).values()) == 1
    assert results["verdict"]["decision"] == "no_difference"
    assert results["forecast"] is None


async def test_a_sample_ratio_mismatch_is_invalid(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, metrics=SUCCESS)
    candidates = [f"u{n}" for n in range(1000)]
    assigned = await assign(ann, experiment, *candidates)
    torn = [
        make_trace(userId=unit, experimentId=experiment["id"], variant="control")
        for unit, variant in assigned.items()
        if variant == "treatment"
    ][:350]
    await send_traces(ann, torn)
    results = await results_of(ann, experiment)
    assert results["excludedUnits"] == 350
    assert results["srm"]["ok"] is False
    assert results["srm"]["pValue"] < 0.001
    assert results["verdict"]["decision"] == "invalid"


async def test_degenerate_data_gives_null_with_a_reason(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, metrics=[{"metric": "successRate"}, {"metric": "cost"}])
    units = await assign(ann, experiment, *(f"u{n}" for n in range(40)))
    await send_traces(ann, [make_trace(userId=unit) for unit in units])
    results = await results_of(ann, experiment)
    no_variance = by_variant(results)["treatment"]
    assert no_variance["mean"] == 1
    assert no_variance["lift"] is no_variance["liftCi"] is no_variance["pValue"] is None
    assert "no variance" in no_variance["reason"]
    no_baseline = by_variant(results, 1)["treatment"]
    assert no_baseline["mean"] == 0
    assert no_baseline["lift"] is None
    assert results["verdict"]["decision"] == "keep_running"


async def test_results_of_another_workspace_are_404_and_its_data_does_not_count(
    service: Service,
) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    experiment = await start(ann, metrics=SUCCESS)
    await assign(ann, experiment, "u1")
    assert_error(await bob.call("GET", f"/experiments/{experiment['id']}/results"), 404)
    named = {"experimentId": experiment["id"], "variant": "control"}
    await send_traces(bob, [make_trace(userId="u1"), make_trace(**named)])
    assert sum((await units_with_outcomes(ann, experiment)).values()) == 0


async def test_a_variant_that_always_fails_has_results_and_is_worse(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, metrics=SUCCESS)
    units = await assign(ann, experiment, *(f"u{n}" for n in range(600)))
    await send_traces(
        ann,
        [
            make_trace(userId=unit, ok=variant == "control" and n % 20 > 0)
            for n, (unit, variant) in enumerate(units.items())
        ],
    )
    results = await results_of(ann, experiment)
    broken = by_variant(results)["treatment"]
    assert (broken["mean"], broken["lift"], broken["stddev"]) == (0, -1, 0)
    assert broken["significant"]
    assert broken["liftCi"]["upper"] < -0.9
    assert (results["verdict"]["decision"], results["verdict"]["variant"]) == ("ship", "control")


async def test_large_values_with_small_differences_keep_their_variance(service: Service) -> None:
    """Units with one to three signals near 1e9 that differ by about one."""
    ann = await service.sign_up()
    experiment = await start(ann, metrics=[{"source": "signal", "signalName": "bytes"}])
    units = await assign(ann, experiment, *(f"u{n}" for n in range(300)))
    signals = [
        {"signalName": "bytes", "value": 1e9 + (n * 7 + turn) % 5 - 2, "userId": unit}
        for n, unit in enumerate(units)
        for turn in range(n % 3 + 1)
    ]
    await send_signals(ann, signals)
    found = by_variant(await results_of(ann, experiment))
    for key, variant in found.items():
        own = [n for n, unit in enumerate(units) if units[unit] == key]
        values = {n: [(n * 7 + turn) % 5 - 2 for turn in range(n % 3 + 1)] for n in own}
        outcomes = sum(map(len, values.values()))
        mean = sum(map(sum, values.values())) / outcomes
        residuals = [sum(v) - mean * len(v) for v in values.values()]
        variance = sum(r * r for r in residuals) / (len(own) - 1) / (outcomes / len(own)) ** 2
        assert variant["mean"] == pytest.approx(1e9 + mean, abs=1e-5)
        assert variant["stddev"] == pytest.approx(math.sqrt(variance), rel=1e-4)
        assert variant["ci"]["lower"] < 1e9 + mean < variant["ci"]["upper"]


async def test_equal_costs_have_no_variance(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, metrics=[{"metric": "cost"}])
    units = await assign(ann, experiment, *(f"u{n}" for n in range(200)))
    traces = [make_trace(userId=u, cost=0.1) for n, u in enumerate(units) for _ in range(n % 7 + 1)]
    await send_traces(ann, traces)
    found = by_variant(await results_of(ann, experiment))["treatment"]
    assert (found["significant"], found["pValue"]) == (False, None)
    assert "same value" in found["reason"]


async def test_stored_signals_beyond_the_limit_do_not_count(service: Service) -> None:
    ann = await service.sign_up()
    experiment = await start(ann, metrics=[{"source": "signal", "signalName": "stars"}])
    units = await assign(ann, experiment, *(f"u{n}" for n in range(50)))
    await send_signals(
        ann, [{"signalName": "stars", "value": n % 3, "userId": u} for n, u in enumerate(units)]
    )
    before = await results_of(ann, experiment)
    huge = NewSignal.model_construct(
        **{**NewSignal(signal_name="stars", value=1, user_id="u0").__dict__, "value": 1e308}
    )
    sender = (await service.services.access.by_token(ann.token)).sender
    await service.services.receiver.receive_signals(sender, [huge])
    assert (await results_of(ann, experiment))["metrics"] == before["metrics"]
