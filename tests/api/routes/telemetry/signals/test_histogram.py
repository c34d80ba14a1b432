"""The distribution of a signal."""

import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from support.service import Person, Service, assert_error


@pytest.fixture
async def ann(service: Service) -> Person:
    return await service.sign_up()


async def _record(person: Person, name: str, values: Sequence[float]) -> None:
    batch = [{"signalName": name, "value": v, "timestamp": "2026-03-10T12:00:00Z"} for v in values]
    await person.data("POST", "/signals/batch", json=batch)


async def _histogram(person: Person, name: str, **query: Any) -> tuple[int, list[Any]]:
    period = {"startDate": "2026-03-10", "endDate": "2026-03-10"}
    found = await person.data(
        "GET", "/signals/histogram", params={"signalName": name, **period, **query}
    )
    assert found["signalName"] == name
    return found["count"], [(one["start"], one["end"], one["count"]) for one in found["bins"]]


async def test_few_values_have_a_bin_each(ann: Person) -> None:
    await _record(ann, "thumbs", [1] * 400 + [0] * 150)
    await _record(ann, "other", [7])
    assert await _histogram(ann, "thumbs") == (550, [(0, 0, 150), (1, 1, 400)])


async def test_every_value_is_in_the_bin_that_names_it(ann: Person) -> None:
    dice = random.Random(3)
    values = [dice.randrange(0, 101) / 100 for _ in range(950)] + [0.0, 1.0, 0.3]
    await _record(ann, "score", values)
    count, bins = await _histogram(ann, "score")
    assert count == len(values)
    edges = [n / 10 for n in range(11)]
    assert bins == [
        (low, high, sum(low <= v < high or (v == high == 1) for v in values))
        for low, high in pairwise(edges)
    ]


async def test_the_number_of_bins_can_be_chosen(ann: Person) -> None:
    await _record(ann, "score", [float(n) for n in range(-50, 50)])
    count, bins = await _histogram(ann, "score", bins=4)
    assert (count, [n for _, _, n in bins]) == (100, [25, 25, 25, 25])
    assert (bins[0][0], bins[-1][1]) == (-50, 49)
    assert_error(await ann.call("GET", "/signals/histogram?signalName=score&bins=51"), 400, "bins")
    assert_error(await ann.call("GET", "/signals/histogram"), 400, "signalName")


async def test_a_signal_without_values_has_no_bins(ann: Person) -> None:
    assert await _histogram(ann, "nothing") == (0, [])


async def test_an_agent_filter_applies(ann: Person) -> None:
    at = "2026-03-10T12:00:00Z"
    batch = [
        {"signalName": "r", "value": n, "agentId": f"agent-{n % 2}", "timestamp": at}
        for n in range(6)
    ]
    await ann.data("POST", "/signals/batch", json=batch)
    assert await _histogram(ann, "r", agentId="agent-1") == (3, [(1, 1, 1), (3, 3, 1), (5, 5, 1)])
