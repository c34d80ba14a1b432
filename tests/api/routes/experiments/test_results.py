"""Results: which outcomes count for which unit, and the statistics of them."""

import asyncio
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from spanwise.ingest.records.rows import encode_exposures
from spanwise.ingest.rest_bodies import NewSignal
from spanwise.model.api_model import utc_now
from support.experiments import create, start
from support.outcomes import make_trace, send_signals, send_traces
from support.service import Person, Service, assert_error

SUCCESS = [{"metric": "successRate"}]
STARS = {"source": "signal", "signalName": "stars"}
OTHER = {"control": "treatment", "treatment": "control"}


@dataclass
class Case:
    """A running experiment, and the variants of its units, whose names start with the case's."""

    experiment: dict[str, Any]
    units: dict[str, str]

    @property
    def id(self) -> str:
        return str(self.experiment["id"])

    def count(self, variant: str) -> int:
        return list(self.units.values()).count(variant)


@dataclass
class Outcomes:
    """What is sent for all cases, in a few requests at the same time."""

    traces: list[dict[str, Any]] = field(default_factory=list)
    signals: list[dict[str, Any]] = field(default_factory=list)

    def add_stars(self, units: Iterable[str], value: float = 1) -> None:
        self.signals += [{"signalName": "stars", "value": value, "userId": unit} for unit in units]


async def new_case(
    person: Person, name: str, units: Iterable[Any], metrics: Any = SUCCESS, **fields: Any
) -> Case:
    experiment = await start(person, name=name, metrics=metrics, **fields)
    ids = [f"{name} {unit}" for unit in units]
    path = f"/experiments/{experiment['id']}/assign/batch"
    assigned = await person.data("POST", path, json={"unitIds": ids})
    return Case(experiment, {a["unitId"]: a["variant"] for a in assigned})


async def results_of(person: Person, case: Case) -> dict[str, Any]:
    results: dict[str, Any] = await person.data("GET", f"/experiments/{case.id}/results")
    return results


def by_variant(results: dict[str, Any], metric: int = 0) -> dict[str, dict[str, Any]]:
    return {v["variant"]: v for v in results["metrics"][metric]["variants"]}


def units_with_outcomes(results: dict[str, Any], metric: int = 0) -> dict[str, int]:
    return {key: v["units"] for key, v in by_variant(results, metric).items()}


MEANS = [{"metric": m} for m in ("successRate", "latency", "cost", "tokens", "p95Latency")]


async def make_cases(ann: Person) -> dict[str, Case]:
    """Start the experiments at the same time, and assign their units."""
    size: dict[str, tuple[Iterable[Any], dict[str, Any]]] = {
        "means": (range(20), {"metrics": MEANS}),
        "matched": (("user", "session", "both"), {}),
        "exposure": (("early", "just before", "under way", "after"), {}),
        "torn": (range(10), {"metrics": [*SUCCESS, STARS]}),
        "exposed twice": (range(10), {}),
        "torn signals": (range(10), {"metrics": [*SUCCESS, STARS]}),
        "signals": ((1, 2, 3), {"metrics": [STARS]}),
        "of an agent": ((1, 2), {"agentId": "shop"}),
        "stopped": ((1, 2), {}),
        "mismatch": (range(1000), {}),
        "degenerate": (range(40), {"metrics": [{"metric": "successRate"}, {"metric": "cost"}]}),
        "of ann": ((1,), {}),
        "broken": (range(600), {}),
        "large values": (range(300), {"metrics": [{"source": "signal", "signalName": "bytes"}]}),
        "equal costs": (range(100), {"metrics": [{"metric": "cost"}]}),
        "beyond the limit": (range(50), {"metrics": [STARS]}),
    }
    made = await asyncio.gather(
        *(new_case(ann, name, units, **fields) for name, (units, fields) in size.items())
    )
    return dict(zip(size, made, strict=True))


def add_means(sent: Outcomes, case: Case) -> None:
    for unit, variant in case.units.items():
        slow = 200 if variant == "treatment" else 100
        shared: dict[str, Any] = {"userId": unit, "inputTokens": 10, "outputTokens": 5}
        sent.traces.append(make_trace(ms=slow, cost=0.02, **shared))
        sent.traces.append(make_trace(ms=slow, cost=0.04, ok=False, **shared))


def add_matched(sent: Outcomes, case: Case) -> None:
    by_user, by_session, by_both = case.units
    named: dict[str, Any] = {"experimentId": case.id, "variant": "control"}
    flag = {"feature_flag.key": "matched", "feature_flag.result.variant": "treatment"}
    sent.traces += [
        make_trace(userId=by_user),
        make_trace(sessionId=by_session),
        make_trace(userId=by_both, sessionId=by_session),
        make_trace(**named),
        make_trace(attributes=flag),
        make_trace(events=[{"name": "feature_flag.evaluation", "attributes": flag}]),
        make_trace(userId="nobody"),
        make_trace(experimentId=case.id, variant="unknown"),
    ]


def add_around_exposure(sent: Outcomes, case: Case) -> None:
    early, just_before, under_way, after = case.units
    sent.traces += [
        make_trace(ago_seconds=3600, userId=early),
        make_trace(ago_seconds=60, userId=just_before),
        # Started before its unit was assigned, as when the agent itself assigns.
        make_trace(ago_seconds=60, ms=600_000, userId=under_way),
        make_trace(userId=after),
    ]


def add_torn(sent: Outcomes, case: Case) -> None:
    first = next(iter(case.units))
    variant = OTHER[case.units[first]]
    torn = make_trace(experimentId=case.id, variant=variant, userId=first)
    sent.traces += [*(make_trace(userId=unit) for unit in case.units), torn]
    sent.add_stars(case.units)


def add_torn_signals(sent: Outcomes, case: Case) -> None:
    u0, u1, u2, u3, *_ = case.units
    # Two units have traces and one has none; the conflicting signal belongs to no metric.
    traces = {unit: make_trace(userId=unit) for unit in case.units if unit != u2}
    sent.traces += traces.values()
    named = {"signalName": "thumbs", "value": 1, "experimentId": case.id}
    sent.signals += [
        {**named, "variant": OTHER[case.units[u0]], "userId": u0},
        {**named, "variant": OTHER[case.units[u1]], "traceId": traces[u1]["traceId"]},
        {**named, "variant": OTHER[case.units[u2]], "userId": u2},
        {**named, "variant": case.units[u3], "userId": u3},
    ]
    sent.add_stars(case.units)


def add_signals(sent: Outcomes, case: Case) -> None:
    u1, u2, u3 = case.units
    trace = make_trace(userId=u2)
    sent.traces.append(trace)
    sent.add_stars([u1], 5)
    sent.add_stars([u1], 3)
    sent.signals += [
        {"signalName": "stars", "value": 4, "traceId": trace["traceId"]},
        {"signalName": "stars", "value": 2, "experimentId": case.id, "variant": "treatment"},
        {"signalName": "stars", "value": 1, "userId": "nobody"},
        {"signalName": "thumbs", "value": 1, "userId": u3},
    ]


def add_mismatch(sent: Outcomes, case: Case) -> None:
    treated = [unit for unit, variant in case.units.items() if variant == "treatment"]
    torn: dict[str, Any] = {"experimentId": case.id, "variant": "control"}
    sent.traces += [make_trace(userId=unit, **torn) for unit in treated[:350]]


def large_values(n: int) -> list[int]:
    """Return the distances from 1e9 of the signals of a unit."""
    return [(n * 7 + turn) % 5 - 2 for turn in range(n % 3 + 1)]


@pytest.fixture(scope="module")
async def ann(shared_service: Service) -> Person:
    return await shared_service.sign_up()


@pytest.fixture(scope="module")
async def cases(shared_service: Service, ann: Person) -> dict[str, Case]:
    """Running experiments with outcomes; `stopped` was stopped between two of them."""
    bob, cases, sent = await shared_service.sign_up(), await make_cases(ann), Outcomes()
    add_means(sent, cases["means"])
    add_matched(sent, cases["matched"])
    add_around_exposure(sent, cases["exposure"])
    add_torn(sent, cases["torn"])
    add_torn_signals(sent, cases["torn signals"])
    add_signals(sent, cases["signals"])
    add_mismatch(sent, cases["mismatch"])
    sent.traces += [
        make_trace(userId=unit, agentName=agent)
        for unit, agent in zip(cases["of an agent"].units, ("shop", "other"), strict=True)
    ]
    for name in ("exposed twice", "degenerate"):
        sent.traces += [make_trace(userId=unit) for unit in cases[name].units]
    for n, (unit, variant) in enumerate(cases["broken"].units.items()):
        sent.traces.append(make_trace(userId=unit, ok=variant == "control" and n % 20 > 0))
    for n, unit in enumerate(cases["equal costs"].units):
        sent.traces += [make_trace(userId=unit, cost=0.1) for _ in range(n % 7 + 1)]
    for n, unit in enumerate(cases["large values"].units):
        sent.signals += [
            {"signalName": "bytes", "value": 1e9 + off, "userId": unit} for off in large_values(n)
        ]
    for n, unit in enumerate(cases["beyond the limit"].units):
        sent.add_stars([unit], n % 3)
    first, second = cases["stopped"].units
    sent.traces.append(make_trace(userId=first))
    await ann.data("POST", f"/experiments/{cases['stopped'].id}/stop")
    sent.traces.append(make_trace(userId=second))

    # Like the exposure of a replica that still had other variants cached.
    sender = (await shared_service.services.identity.access.by_token(ann.token)).sender
    twice = cases["exposed twice"]
    unit = next(iter(twice.units))
    exposed = [
        encode_exposures(sender.workspace, twice.id, utc_now(), [(unit, variant)])
        for variant in (0, 1)
    ]
    own = cases["of ann"].id
    of_bob = [
        make_trace(userId="of ann 1"),
        make_trace(experimentId=own, variant="control"),
    ]
    await asyncio.gather(
        shared_service.services.ingest.pipeline.submit(sender, exposed),
        send_traces(ann, sent.traces),
        send_signals(ann, sent.signals),
        send_traces(bob, of_bob),
    )
    refused = await bob.call("GET", f"/experiments/{cases['of ann'].id}/results")
    assert_error(refused, 404)
    return cases


async def test_results_without_units_are_null_with_a_reason(service: Service) -> None:
    ann = await service.sign_up()
    for experiment in (await create(ann), await start(ann)):
        results = await results_of(ann, Case(experiment, {}))
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


async def test_means_are_over_traces_and_units_are_counted_once(
    ann: Person, cases: dict[str, Case]
) -> None:
    results = await results_of(ann, cases["means"])
    counts = {variant: cases["means"].count(variant) for variant in ("control", "treatment")}
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
    assert units_with_outcomes(results) == counts


async def test_outcomes_are_matched_by_user_session_attribute_or_flag(
    ann: Person, cases: dict[str, Case]
) -> None:
    results = await results_of(ann, cases["matched"])
    found = units_with_outcomes(results)
    assert found["control"] == cases["matched"].count("control") + 1
    assert found["treatment"] == cases["matched"].count("treatment") + 2
    assert results["units"] == 3


async def test_only_outcomes_after_the_first_exposure_count(
    ann: Person, cases: dict[str, Case]
) -> None:
    units = cases["exposure"].units
    expected = {"control": 0, "treatment": 0}
    for unit in ("exposure under way", "exposure after"):
        expected[units[unit]] += 1
    assert units_with_outcomes(await results_of(ann, cases["exposure"])) == expected


@pytest.mark.parametrize(("name", "excluded"), [("torn", 1), ("torn signals", 3)])
async def test_a_unit_with_outcomes_of_two_variants_is_excluded_and_counted(
    ann: Person, cases: dict[str, Case], name: str, excluded: int
) -> None:
    results, counted = await results_of(ann, cases[name]), 10 - excluded
    assert (results["units"], results["excludedUnits"]) == (counted, excluded)
    assert sum(units_with_outcomes(results).values()) == counted
    assert sum(units_with_outcomes(results, 1).values()) == counted


async def test_a_unit_exposed_to_two_variants_is_excluded_once(
    ann: Person, cases: dict[str, Case]
) -> None:
    results = await results_of(ann, cases["exposed twice"])
    assert (results["units"], results["excludedUnits"]) == (9, 1)
    assert sum(variant["units"] for variant in results["perVariant"]) == 9


async def test_signals_count_by_user_variant_or_trace(ann: Person, cases: dict[str, Case]) -> None:
    found = by_variant(await results_of(ann, cases["signals"]))
    assert sum(v["units"] for v in found.values()) == 3
    means = {key: variant["mean"] for key, variant in found.items()}
    # Of the first unit, of the second one, and of one that only its signal names.
    first, second, _ = cases["signals"].units.values()
    values: dict[str, list[int]] = {"control": [], "treatment": [2]}
    values[first] += [5, 3]
    values[second] += [4]
    expected = {key: sum(own) / len(own) if own else None for key, own in values.items()}
    assert means == {key: pytest.approx(mean) for key, mean in expected.items()}


async def test_an_experiment_on_an_agent_counts_only_its_traces(
    ann: Person, cases: dict[str, Case]
) -> None:
    results = await results_of(ann, cases["of an agent"])
    assert sum(units_with_outcomes(results).values()) == 1


async def test_outcomes_after_the_stop_do_not_count(ann: Person, cases: dict[str, Case]) -> None:
    results = await results_of(ann, cases["stopped"])
    assert (results["status"], results["units"]) == ("stopped", 2)
    assert sum(v["units"] for v in by_variant(results).values()) == 1
    assert results["verdict"]["decision"] == "no_difference"
    assert results["forecast"] is None


async def test_a_sample_ratio_mismatch_is_invalid(ann: Person, cases: dict[str, Case]) -> None:
    results = await results_of(ann, cases["mismatch"])
    assert results["excludedUnits"] == 350
    assert results["srm"]["ok"] is False
    assert results["srm"]["pValue"] < 0.001
    assert results["verdict"]["decision"] == "invalid"


async def test_degenerate_data_gives_null_with_a_reason(
    ann: Person, cases: dict[str, Case]
) -> None:
    results = await results_of(ann, cases["degenerate"])
    no_variance = by_variant(results)["treatment"]
    assert no_variance["mean"] == 1
    assert no_variance["lift"] is no_variance["liftCi"] is no_variance["pValue"] is None
    assert "no variance" in no_variance["reason"]
    no_baseline = by_variant(results, 1)["treatment"]
    assert no_baseline["mean"] == 0
    assert no_baseline["lift"] is None
    assert results["verdict"]["decision"] == "keep_running"


async def test_data_of_another_workspace_does_not_count(
    ann: Person, cases: dict[str, Case]
) -> None:
    results = await results_of(ann, cases["of ann"])
    assert sum(units_with_outcomes(results).values()) == 0


async def test_a_variant_that_always_fails_has_results_and_is_worse(
    ann: Person, cases: dict[str, Case]
) -> None:
    results = await results_of(ann, cases["broken"])
    broken = by_variant(results)["treatment"]
    assert (broken["mean"], broken["lift"], broken["stddev"]) == (0, -1, 0)
    assert broken["significant"]
    assert broken["liftCi"]["upper"] < -0.9
    assert (results["verdict"]["decision"], results["verdict"]["variant"]) == ("ship", "control")


async def test_large_values_with_small_differences_keep_their_variance(
    ann: Person, cases: dict[str, Case]
) -> None:
    """Units with one to three signals near 1e9 that differ by about one."""
    units = cases["large values"].units
    found = by_variant(await results_of(ann, cases["large values"]))
    for key, variant in found.items():
        values = {n: large_values(n) for n, unit in enumerate(units) if units[unit] == key}
        outcomes = sum(map(len, values.values()))
        mean = sum(map(sum, values.values())) / outcomes
        residuals = [sum(v) - mean * len(v) for v in values.values()]
        squares = sum(r * r for r in residuals)
        variance = squares / (len(values) - 1) / (outcomes / len(values)) ** 2
        assert variant["mean"] == pytest.approx(1e9 + mean, abs=1e-5)
        assert variant["stddev"] == pytest.approx(math.sqrt(variance), rel=1e-4)
        assert variant["ci"]["lower"] < 1e9 + mean < variant["ci"]["upper"]


async def test_equal_costs_have_no_variance(ann: Person, cases: dict[str, Case]) -> None:
    found = by_variant(await results_of(ann, cases["equal costs"]))["treatment"]
    assert (found["significant"], found["pValue"]) == (False, None)
    assert "same value" in found["reason"]


async def test_stored_signals_beyond_the_limit_do_not_count(
    service: Service, ann: Person, cases: dict[str, Case]
) -> None:
    case = cases["beyond the limit"]
    before = await results_of(ann, case)
    assert sum(units_with_outcomes(before).values()) == 50
    signal = NewSignal(signal_name="stars", value=1, user_id=next(iter(case.units)))
    huge = NewSignal.model_construct(**{**signal.__dict__, "value": 1e308})
    sender = (await service.services.identity.access.by_token(ann.token)).sender
    await service.services.ingest.receiver.receive_signals(sender, [huge])
    assert (await results_of(ann, case))["metrics"] == before["metrics"]
