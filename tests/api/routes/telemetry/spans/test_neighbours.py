"""The traces before and after one in a list."""

import random
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from support.ids import new_trace_id
from support.service import Person, Service, assert_error
from support.spans import Body, child_of, new_span, send

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    """A person with traces from seconds to months apart, with ties in every sort key."""
    person, dice = await shared_service.sign_up(), random.Random(7)
    gaps = [0, 0, 1, 2, 50, 90_000, 86_400 * 40, 86_400 * 41]
    spans: list[Body] = []
    for gap in gaps:
        for name in ("a", "b"):
            at = NOON - timedelta(seconds=gap)
            root = new_span(at, dice.choice((100, 100, 900)), agentName=name)
            call = {
                "kind": "llm",
                "cost": dice.choice((0.1, 0.3)),
                "inputTokens": dice.choice((5, 9)),
            }
            spans += [root, child_of(root, **call)]
    await send(person, *spans)
    return person


async def neighbours(person: Person, trace_id: str, **query: Any) -> tuple[str | None, str | None]:
    path = f"/spans/traces/{trace_id}/neighbours"
    found = await person.data("GET", path, params=query)
    return found["previous"], found["next"]


CASES = list(product(("startTime", "duration", "cost", "tokens"), ("asc", "desc")))


@pytest.mark.parametrize(
    ("sort", "order", "filters"),
    [
        # Ties in every sort key are among the traces of one agent too.
        *((*case, {"agentId": "a"}) for case in CASES),
        ("startTime", "desc", {}),
        ("cost", "asc", {"startDate": "2026-05-01"}),
        *(pytest.param(*case, {}, marks=pytest.mark.long) for case in CASES),
    ],
)
async def test_walking_over_the_neighbours_gives_the_list(
    ada: Person, sort: str, order: str, filters: dict[str, str]
) -> None:
    query = {"sort": sort, "order": order, **filters}
    listed = await ada.data("GET", "/spans/traces", params={"limit": 100, **query})
    ids: list[str | None] = [None, *(trace["traceId"] for trace in listed), None]
    assert len(ids) > 8
    for before, trace_id, after in zip(ids, ids[1:], ids[2:], strict=False):
        assert await neighbours(ada, str(trace_id), **query) == (before, after)


async def test_a_trace_that_does_not_match_has_the_nearest_that_do(ada: Person) -> None:
    listed = await ada.data("GET", "/spans/traces", params={"limit": 100})
    at = [n for n, trace in enumerate(listed) if trace["agentName"] == "b"][2]
    others = [(n, trace["traceId"]) for n, trace in enumerate(listed) if trace["agentName"] == "a"]
    before = [trace_id for n, trace_id in others if n < at][-1]
    after = next(trace_id for n, trace_id in others if n > at)
    assert await neighbours(ada, listed[at]["traceId"], agentId="a") == (before, after)


async def test_a_trace_without_a_root_has_no_neighbours(ada: Person) -> None:
    orphan = new_span(NOON, parentSpanId="b7ad6b7169203331")
    await send(ada, orphan)
    assert await neighbours(ada, orphan["traceId"]) == (None, None)


async def test_an_unknown_trace_is_not_found(ada: Person) -> None:
    response = await ada.call("GET", f"/spans/traces/{new_trace_id()}/neighbours")
    assert_error(response, 404)
