"""Words are found in the spans of one trace."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.ids import new_trace_id
from support.service import Person, Service, assert_error
from support.spans import Body, child_of, new_span, send

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    return await shared_service.sign_up()


@pytest.fixture(scope="module")
async def spans(ada: Person) -> list[Body]:
    """A trace of five spans, and another trace with the same words."""
    root = new_span(NOW, 900, name="Plan the trip")
    contents: list[dict[str, Any]] = [
        {"input": [{"role": "user", "content": 'Say "hello"\nto Zürich'}]},
        {"output": "x" * 100_000 + " needle in Zürich"},
        {"attributes": {"app.tenant": "Acme", "app.size": 42}},
        {"status": "error", "statusMessage": "it burst"},
    ]
    spans = [root] + [
        child_of(root, startTime=f"2026-03-10T12:00:0{n}Z", endTime="2026-03-10T12:00:09Z", **more)
        for n, more in enumerate(contents, 1)
    ]
    await send(ada, *spans, new_span(NOW + timedelta(days=1), name="Plan the needle trip, Acme"))
    return spans


@pytest.mark.parametrize(
    ("search", "expected"),
    [
        ("TRIP", [0]),
        ("zürich", [1, 2]),
        ('"hello"', [1]),
        ("zürich needle", [2]),
        ("acme tenant", [3]),
        ("42", [3]),
        ("burst", [4]),
        ("acme trip", []),
        ("   ", []),
    ],
)
async def test_a_span_with_all_words_is_found(
    ada: Person, spans: list[Body], search: str, expected: list[int]
) -> None:
    path = f"/spans/traces/{spans[0]['traceId']}/matches"
    found = await ada.data("GET", path, params={"search": search})
    assert found["spanIds"] == [spans[at]["spanId"] for at in expected]


async def test_the_latest_version_of_a_span_is_searched(ada: Person) -> None:
    failed = new_span(NOW, status="error", statusMessage="it burst")
    path = f"/spans/traces/{failed['traceId']}/matches"
    await send(ada, failed)
    found = await ada.data("GET", path, params={"search": "burst"})
    assert found["spanIds"] == [failed["spanId"]]
    await send(ada, {**failed, "statusMessage": "it is well"})
    assert (await ada.data("GET", path, params={"search": "burst"}))["spanIds"] == []


async def test_an_unknown_trace_is_not_found(ada: Person) -> None:
    path = f"/spans/traces/{new_trace_id()}/matches"
    assert_error(await ada.call("GET", path, params={"search": "a"}), 404)
    assert_error(await ada.call("GET", path), 400, "search")
