"""Pages of traces by cost, duration and tokens, beside outdated and deleted rows."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.accounts import lower_hash_cost
from support.ids import new_trace_id
from support.service import Person, Service
from support.spans import Body, new_span, send

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
SORTS: dict[str, Callable[[Body], Any]] = {
    "cost": lambda span: span["cost"],
    "duration": lambda span: (
        datetime.fromisoformat(span["endTime"]) - datetime.fromisoformat(span["startTime"])
    ),
    "tokens": lambda span: span["inputTokens"],
}


def run(dice: random.Random, number: int, trace_id: str) -> Body:
    return new_span(
        NOON - timedelta(minutes=number),
        dice.choice((50, 100, 900)),
        traceId=trace_id,
        spanId=f"{number + 1:016x}",
        kind="llm",
        agentName=dice.choice("ab"),
        cost=dice.choice((0.1, 0.2, 0.3)),
        inputTokens=dice.choice((5, 9)),
    )


@pytest.fixture(scope="module")
def rounds() -> list[list[Body]]:
    """Four rounds of the same 20 traces: more outdated rows than a page of three has to spare."""
    dice = random.Random(11)
    ids = [new_trace_id() for _ in range(20)]
    return [[run(dice, number, trace_id) for number, trace_id in enumerate(ids)] for _ in range(4)]


@pytest.fixture(scope="module")
async def ada(shared_service: Service, rounds: list[list[Body]]) -> Person:
    """A person whose traces were sent in rounds, without three that were deleted."""
    with lower_hash_cost():
        person = await shared_service.sign_up()
    for spans in rounds:
        await send(person, *spans)
        # Stored one by one, so that each round leaves rows.
        await person.data("GET", "/spans/traces", params={"limit": 1})
    for span in rounds[-1][:3]:
        await person.data("DELETE", f"/spans/traces/{span['traceId']}")
    return person


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("sort", list(SORTS))
async def test_pages_hold_each_current_trace_in_order(
    ada: Person, rounds: list[list[Body]], sort: str, order: str
) -> None:
    for agent in (None, "a"):
        current = [span for span in rounds[-1][3:] if agent in {None, span["agentName"]}]
        expected = sorted(
            current,
            key=lambda span: (SORTS[sort](span), span["startTime"]),
            reverse=order == "desc",
        )
        query: dict[str, Any] = {"sort": sort, "order": order}
        if agent is not None:
            query["agentId"] = agent
        for limit in (3, 50):
            found = []
            for skip in range(0, len(expected), limit):
                params = {**query, "limit": limit, "skip": skip}
                found += await ada.data("GET", "/spans/traces", params=params)
            assert [t["traceId"] for t in found] == [s["traceId"] for s in expected]
