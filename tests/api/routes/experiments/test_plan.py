"""The planner measures what units did before."""

import asyncio

import pytest

from support.outcomes import make_trace, send_signals, send_traces
from support.service import Person, Service, assert_error


@pytest.fixture(scope="module")
async def ann(shared_service: Service) -> Person:
    """A person with traces of 40 users, and signals of 50."""
    person = await shared_service.sign_up()
    traces = [
        make_trace(userId=f"u{user}", ok=user % 2 == 0, ago_seconds=3600 * 24 * 10 * user / 40)
        for user in range(40)
        for _ in range(3)
    ]
    signals = [{"signalName": "stars", "value": n % 5, "userId": f"u{n}"} for n in range(50)]
    await asyncio.gather(send_traces(person, traces), send_signals(person, signals))
    return person


async def test_a_plan_is_based_on_users(ann: Person) -> None:
    plan = await ann.data("GET", "/experiments/plan", params={"lift": 0.1})
    assert (plan["baseline"], plan["units"]) == (0.5, 40)
    assert plan["unitsPerDay"] == pytest.approx(40 / (39 / 4), rel=0.01)
    # Every user always or never succeeds: the variance per user is 0.25.
    assert 2_000 < plan["unitsPerVariant"] < 10_000
    assert plan["days"] == pytest.approx(2 * plan["unitsPerVariant"] / plan["unitsPerDay"])
    three = await ann.data("GET", "/experiments/plan", params={"lift": 0.1, "variants": 3})
    assert three["unitsPerVariant"] > plan["unitsPerVariant"]


async def test_a_signal_can_be_planned(ann: Person) -> None:
    params = {"lift": 0.05, "signalName": "stars"}
    plan = await ann.data("GET", "/experiments/plan", params=params)
    assert (plan["baseline"], plan["units"]) == (2, 50)


async def test_without_data_there_is_no_plan(ann: Person) -> None:
    plan = await ann.data("GET", "/experiments/plan", params={"lift": 0.05, "agentId": "nobody"})
    assert plan == {
        "baseline": None,
        "units": 0,
        "unitsPerDay": 0,
        "unitsPerVariant": None,
        "days": None,
    }
    assert_error(await ann.call("GET", "/experiments/plan", params={"lift": 0}), 400, "lift")
