"""The distribution of a signal."""

import random
from itertools import pairwise
from typing import Any

import pytest

from support.service import Person, Service, assert_error

_dice = random.Random(3)
VALUES: dict[str, list[float]] = {
    "thumbs": [1.0] * 400 + [0.0] * 150,
    "score": [_dice.randrange(0, 101) / 100 for _ in range(950)] + [0.0, 1.0, 0.3],
    "range": [float(n) for n in range(-50, 50)],
}
AT = "2026-03-10T12:00:00Z"


@pytest.fixture(scope="module")
async def ann(shared_service: Service) -> Person:
    person = await shared_service.sign_up()
    signals: list[dict[str, Any]] = [
        {"signalName": name, "value": value} for name, values in VALUES.items() for value in values
    ]
    signals += [{"signalName": "r", "value": n, "agentId": f"agent-{n % 2}"} for n in range(6)]
    signals = [{**signal, "timestamp": AT} for signal in signals]
    for first in range(0, len(signals), 1000):
        await person.data("POST", "/signals/batch", json=signals[first : first + 1000])
    return person


async def _histogram(person: Person, name: str, **query: Any) -> tuple[int, list[Any]]:
    period = {"startDate": "2026-03-10", "endDate": "2026-03-10"}
    found = await person.data(
        "GET", "/signals/histogram", params={"signalName": name, **period, **query}
    )
    assert found["signalName"] == name
    return found["count"], [(one["start"], one["end"], one["count"]) for one in found["bins"]]


async def test_few_values_have_a_bin_each(ann: Person) -> None:
    assert await _histogram(ann, "thumbs") == (550, [(0, 0, 150), (1, 1, 400)])


async def test_every_value_is_in_the_bin_that_names_it(ann: Person) -> None:
    values = VALUES["score"]
    count, bins = await _histogram(ann, "score")
    assert count == len(values)
    edges = [n / 10 for n in range(11)]
    assert bins == [
        (low, high, sum(low <= v < high or (v == high == 1) for v in values))
        for low, high in pairwise(edges)
    ]


async def test_the_number_of_bins_can_be_chosen(ann: Person) -> None:
    count, bins = await _histogram(ann, "range", bins=4)
    assert (count, [n for _, _, n in bins]) == (100, [25, 25, 25, 25])
    assert (bins[0][0], bins[-1][1]) == (-50, 49)
    assert_error(await ann.call("GET", "/signals/histogram?signalName=score&bins=51"), 400, "bins")
    assert_error(await ann.call("GET", "/signals/histogram"), 400, "signalName")


async def test_a_signal_without_values_has_no_bins(ann: Person) -> None:
    assert await _histogram(ann, "nothing") == (0, [])


async def test_an_agent_filter_applies(ann: Person) -> None:
    assert await _histogram(ann, "r", agentId="agent-1") == (3, [(1, 1, 1), (3, 3, 1), (5, 5, 1)])
