"""Verdicts from stored traces, and the effect of CUPED."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from support.experiments import start
from support.outcomes import make_trace, send_traces
from support.service import Person, Service

LATENCY_AND_COST = [{"metric": "latency", "primary": True}, {"metric": "cost"}]
DAY = 86_400

Outcome = Callable[[random.Random, bool], dict[str, Any]]


async def run(person: Person, outcome: Outcome, units: int) -> tuple[str, dict[str, Any]]:
    """Assign units and send one outcome for each; return the path and the results."""
    experiment = await start(person, metrics=LATENCY_AND_COST)
    path = f"/experiments/{experiment['id']}"
    unit_ids = [f"user-{number}" for number in range(units)]
    assigned = await person.data("POST", f"{path}/assign/batch", json={"unitIds": unit_ids})
    chance = random.Random(20260131)
    traces = [
        make_trace(userId=a["unitId"], **outcome(chance, a["variant"] == "treatment"))
        for a in assigned
    ]
    await send_traces(person, traces)
    return path, await person.data("GET", f"{path}/results")


def quicker(chance: random.Random, treated: bool) -> dict[str, Any]:
    return {"ms": chance.gauss(90 if treated else 100, 5), "cost": chance.gauss(1, 0.05)}


def slower(chance: random.Random, treated: bool) -> dict[str, Any]:
    return {"ms": chance.gauss(110 if treated else 100, 5), "cost": chance.gauss(1, 0.05)}


def quicker_and_dearer(chance: random.Random, treated: bool) -> dict[str, Any]:
    return {"ms": quicker(chance, treated)["ms"], "cost": chance.gauss(1 + treated, 0.05)}


def the_same(chance: random.Random, treated: bool) -> dict[str, Any]:
    return {"ms": chance.gauss(100, 2), "cost": chance.gauss(1, 0.05)}


def unclear(chance: random.Random, treated: bool) -> dict[str, Any]:
    return {"ms": chance.lognormvariate(5, 1), "cost": chance.gauss(1, 0.05)}


@pytest.mark.parametrize(
    ("outcome", "units", "decision", "variant", "reason"),
    [
        (quicker, 400, "ship", "treatment", "no other metric is significantly worse"),
        (slower, 400, "ship", "control", "every variant is worse than control on latency"),
        (quicker_and_dearer, 400, "keep_running", None, "weigh the two yourself"),
        (the_same, 400, "no_difference", None, "is below 5%"),
        (unclear, 400, "keep_running", None, "at this rate you will know in about"),
        (quicker, 20, "keep_running", None, "too early"),
    ],
)
async def test_the_verdict_follows_from_stored_traces(
    service: Service, outcome: Outcome, units: int, decision: str, variant: str | None, reason: str
) -> None:
    ann = await service.sign_up()
    _, results = await run(ann, outcome, units)
    verdict = results["verdict"]
    assert (verdict["decision"], verdict["variant"]) == (decision, variant)
    assert reason in verdict["reason"].lower()


async def test_an_experiment_stopped_without_significance_has_no_winner(service: Service) -> None:
    ann = await service.sign_up()
    path, _ = await run(ann, unclear, 400)
    await ann.data("POST", f"{path}/stop")
    verdict = (await ann.data("GET", f"{path}/results"))["verdict"]
    assert verdict["decision"] == "no_difference"
    assert verdict["reason"].startswith("Stopped without a significant winner")


async def test_earlier_behaviour_of_units_narrows_the_interval(service: Service) -> None:
    ann = await service.sign_up()
    chance = random.Random(20260131)
    usual = {f"user-{n}": chance.lognormvariate(6, 1) for n in range(600)}
    known = list(usual)[:500]

    def answer(user: str, factor: float = 1, days: float = 0) -> dict[str, Any]:
        ms = usual[user] * factor * chance.gauss(1, 0.02)
        return make_trace(userId=user, ms=ms, ago_seconds=days * DAY)

    # The last hundred units are new, or their history is too old to count.
    await send_traces(ann, [answer(user, days=chance.uniform(1, 10)) for user in known])
    await send_traces(ann, [answer(user, days=20) for user in list(usual)[550:]])
    experiment = await start(ann, metrics=[{"metric": "latency"}])
    path = f"/experiments/{experiment['id']}"
    assigned = await ann.data("POST", f"{path}/assign/batch", json={"unitIds": list(usual)})
    factors = {"control": 1.0, "treatment": 0.9}
    await send_traces(ann, [answer(a["unitId"], factors[a["variant"]]) for a in assigned])

    [metric] = (await ann.data("GET", f"{path}/results"))["metrics"]
    assert metric["cuped"]["unitsWithHistory"] == 500
    assert 0.5 < metric["cuped"]["theta"] < 1.1
    assert metric["cuped"]["varianceReduction"] > 0.5
    treated = metric["variants"][1]
    assert treated["liftCi"]["lower"] < -0.1 < treated["liftCi"]["upper"]
    # Users differ tenfold: without their history a lift of 10 % would not be significant.
    raw = {key: [usual[a["unitId"]] for a in assigned if a["variant"] == key] for key in factors}
    spread = max(map(max, raw.values())) / min(map(min, raw.values()))
    assert spread > 10
    assert treated["liftCi"]["upper"] - treated["liftCi"]["lower"] < 0.5
