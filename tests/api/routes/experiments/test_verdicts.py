"""Verdicts from stored traces, and the effect of CUPED."""

import asyncio
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pytest

from support.experiments import start
from support.outcomes import make_trace, send_traces
from support.service import Person, Service

DAY = 86_400

Outcome = Callable[[random.Random, bool], dict[str, Any]]


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


@dataclass
class Case:
    outcome: Outcome
    units: int
    decision: str
    variant: str | None
    reason: str


CASES = {
    "quicker": Case(quicker, 400, "ship", "treatment", "no other metric is significantly worse"),
    "slower": Case(
        slower, 400, "ship", "control", "every variant is worse than control on latency"
    ),
    "dearer": Case(quicker_and_dearer, 400, "keep_running", None, "weigh the two yourself"),
    "the same": Case(the_same, 400, "no_difference", None, "is below 5%"),
    "unclear": Case(unclear, 400, "keep_running", None, "at this rate you will know in about"),
    "few": Case(quicker, 20, "keep_running", None, "too early"),
}
WITH_HISTORY = "with history"


class History:
    """Users who differ tenfold, and what they did before and after their assignment."""

    def __init__(self) -> None:
        self._chance = random.Random(20260131)
        self.usual = {f"user-{n}": self._chance.lognormvariate(6, 1) for n in range(600)}

    def answer(self, user: str, factor: float = 1, days: float = 0) -> dict[str, Any]:
        ms = self.usual[user] * factor * self._chance.gauss(1, 0.02)
        return make_trace(userId=user, ms=ms, ago_seconds=days * DAY)

    def before(self) -> list[dict[str, Any]]:
        """Return earlier traces: the last hundred units have none, or too old ones."""
        users = list(self.usual)
        known = [self.answer(user, days=self._chance.uniform(1, 10)) for user in users[:500]]
        return known + [self.answer(user, days=20) for user in users[550:]]


@dataclass
class Sent:
    person: Person
    paths: dict[str, str]
    history: History
    variants: dict[str, str]


async def assign(person: Person, units: Iterable[str], *metrics: str) -> tuple[str, dict[str, str]]:
    """Start an experiment; return its path and the variants of the units."""
    first, *others = ({"metric": metric} for metric in metrics)
    experiment = await start(person, metrics=[first | {"primary": True}, *others])
    path = f"/experiments/{experiment['id']}"
    body = {"unitIds": list(units)}
    assigned = await person.data("POST", f"{path}/assign/batch", json=body)
    return path, {a["unitId"]: a["variant"] for a in assigned}


@pytest.fixture(scope="module")
async def sent(shared_service: Service) -> Sent:
    """A person with one outcome for each unit of all experiments, sent at once."""
    person, history = await shared_service.sign_up(), History()
    *made, (path, variants) = await asyncio.gather(
        *(
            assign(person, [f"{name} {n}" for n in range(case.units)], "latency", "cost")
            for name, case in CASES.items()
        ),
        assign(person, history.usual, "latency"),
    )
    factors = {"control": 1.0, "treatment": 0.9}
    traces = history.before()
    traces += [history.answer(unit, factors[variant]) for unit, variant in variants.items()]
    for case, (_, assigned) in zip(CASES.values(), made, strict=True):
        chance = random.Random(20260131)
        traces += [
            make_trace(userId=unit, **case.outcome(chance, variant == "treatment"))
            for unit, variant in assigned.items()
        ]
    await send_traces(person, traces)
    paths = {name: its_path for name, (its_path, _) in zip(CASES, made, strict=True)}
    return Sent(person, {**paths, WITH_HISTORY: path}, history, variants)


@pytest.mark.parametrize("name", CASES)
async def test_the_verdict_follows_from_stored_traces(sent: Sent, name: str) -> None:
    case = CASES[name]
    verdict = (await sent.person.data("GET", f"{sent.paths[name]}/results"))["verdict"]
    assert (verdict["decision"], verdict["variant"]) == (case.decision, case.variant)
    assert case.reason in verdict["reason"].lower()


async def test_earlier_behaviour_of_units_narrows_the_interval(sent: Sent) -> None:
    usual = sent.history.usual
    results = await sent.person.data("GET", f"{sent.paths[WITH_HISTORY]}/results")
    [metric] = results["metrics"]
    assert metric["cuped"]["unitsWithHistory"] == 500
    assert 0.5 < metric["cuped"]["theta"] < 1.1
    assert metric["cuped"]["varianceReduction"] > 0.5
    treated = metric["variants"][1]
    assert treated["liftCi"]["lower"] < -0.1 < treated["liftCi"]["upper"]
    # Users differ tenfold: without their history a lift of 10 % would not be significant.
    assert max(usual.values()) / min(usual.values()) > 10
    assert treated["liftCi"]["upper"] - treated["liftCi"]["lower"] < 0.5


async def test_an_experiment_stopped_without_significance_has_no_winner(sent: Sent) -> None:
    # As unclear as the other one, but only this one is stopped.
    person = sent.person
    path, variants = await assign(person, [f"stopped {n}" for n in range(400)], "latency", "cost")
    chance = random.Random(20260131)
    traces = [make_trace(userId=unit, **unclear(chance, False)) for unit in variants]
    await send_traces(person, traces)
    await person.data("POST", f"{path}/stop")
    verdict = (await person.data("GET", f"{path}/results"))["verdict"]
    assert verdict["decision"] == "no_difference"
    assert verdict["reason"].startswith("Stopped without a significant winner")
