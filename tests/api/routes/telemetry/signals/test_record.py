"""Recording signals: single, in batches, resent, and refused.

`unit/ingest/test_rest_bodies.py` tests which signals are refused.
"""

import asyncio
import gzip
import math
from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from support.ids import new_trace_id
from support.service import Person, Service, assert_error

FULL = {
    "signalName": "full",
    "value": 4.5,
    "traceId": new_trace_id(),
    "spanId": "00f067aa0ba902b7",
    "agentId": "helper",
    "sessionId": "s-1",
    "userId": "u-1",
    "experimentId": "exp_1",
    "variant": "b",
    "comment": "größer als erwartet 👍",
    "metadata": {"source": {"page": "チャット"}, "n": [1, 2.5, None, True]},
    "timestamp": "2026-03-10T12:00:00.123456Z",
}
NUMBERS = [-1, 0, 3, 1.5, -2.25e-300, 1e15, -1e15, 2**49 + 1]
JSON = {"Content-Type": "application/json"}


@dataclass
class Recorded:
    """People with signals of all kinds, and what recording them has returned."""

    ann: Person
    bob: Person
    full: dict[str, Any]
    minimal: dict[str, Any]
    thousand: dict[str, Any]


async def _send_again(person: Person) -> None:
    for value in (1, 1, 5):
        body = {"id": "feedback-7", "signalName": "sent again", "value": value}
        assert (await person.call("POST", "/signals", json=body)).status_code == 201


async def _send_compressed(person: Person) -> None:
    body = gzip.compress(orjson.dumps([{"signalName": "compressed", "value": math.pi}]))
    headers = {**JSON, "Content-Encoding": "gzip"}
    answer = await person.call("POST", "/signals/batch", content=body, headers=headers)
    assert answer.status_code == 201


@pytest.fixture(scope="module")
async def recorded(shared_service: Service) -> Recorded:
    ann, bob = await shared_service.sign_up(), await shared_service.sign_up()
    minimal = {"signalName": "minimal", "value": 0, "colour": "red"}
    numbers = [{"id": str(n), "signalName": "number", "value": v} for n, v in enumerate(NUMBERS)]
    thousand = [{"signalName": f"thousand {n % 7}", "value": n} for n in range(1000)]
    same = {"id": "same", "signalName": "in both", "value": 1}
    full, plain, batch, *_ = await asyncio.gather(
        ann.data("POST", "/signals", json=FULL),
        ann.data("POST", "/signals", json=minimal),
        ann.data("POST", "/signals/batch", json={"signals": thousand}),
        ann.data("POST", "/signals/batch", json=numbers),
        ann.data("POST", "/signals", json=same),
        bob.data("POST", "/signals", json={**same, "value": 2}),
        _send_again(ann),
        _send_compressed(ann),
    )
    return Recorded(ann, bob, full, plain, batch)


async def _listed(person: Person, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await person.data("GET", f"/signals?signalName={name}")
    return found


async def test_a_recorded_signal_is_listed_with_every_field(recorded: Recorded) -> None:
    assert recorded.full["id"].startswith("sig_")
    assert {name: recorded.full[name] for name in FULL} == FULL
    assert await _listed(recorded.ann, "full") == [recorded.full]


async def test_only_name_and_value_of_a_signal_are_required(recorded: Recorded) -> None:
    made = recorded.minimal
    assert made["value"] == 0
    assert made["traceId"] is None
    assert made["metadata"] == {}
    assert made["timestamp"] == made["createdAt"]
    # Unknown fields are ignored.
    assert "colour" not in made
    assert await _listed(recorded.ann, "minimal") == [made]


async def test_numbers_within_the_limit_are_returned_unchanged(recorded: Recorded) -> None:
    found = {s["id"]: s["value"] for s in await _listed(recorded.ann, "number")}
    assert [found[str(n)] for n in range(len(NUMBERS))] == [float(v) for v in NUMBERS]


async def test_a_resent_id_counts_once_with_the_later_value(recorded: Recorded) -> None:
    assert [s["value"] for s in await _listed(recorded.ann, "sent again")] == [5]
    [summary] = await recorded.ann.data("GET", "/signals/summary?signalName=sent again")
    assert (summary["count"], summary["sum"]) == (1, 5)


async def test_the_same_id_in_two_workspaces_is_two_signals(recorded: Recorded) -> None:
    assert [s["value"] for s in await _listed(recorded.ann, "in both")] == [1]
    assert [s["value"] for s in await _listed(recorded.bob, "in both")] == [2]


async def test_a_batch_of_1000_is_stored_completely(recorded: Recorded) -> None:
    assert recorded.thousand["accepted"] == 1000
    assert len(set(recorded.thousand["ids"])) == 1000
    summaries = await recorded.ann.data("GET", "/signals/summary")
    found = [s for s in summaries if s["signalName"].startswith("thousand")]
    assert sum(s["count"] for s in found) == 1000
    assert sum(s["sum"] for s in found) == sum(range(1000))


async def test_a_compressed_bare_array_is_accepted(recorded: Recorded) -> None:
    assert [s["value"] for s in await _listed(recorded.ann, "compressed")] == [math.pi]


async def test_invalid_signals_are_named_and_nothing_is_stored(person: Person) -> None:
    good: Any = {"signalName": "n", "value": 1}
    batch = [good, {"signalName": "n", "value": True}, {"value": 1}, "not a signal"]
    places = ["signals[1].value", "signals[2].signalName", "signals[3]"]
    for path, body, fields in (
        ("/signals", {**good, "value": "1"}, ["value"]),
        ("/signals/batch", batch, places),
        ("/signals/batch", [good] * 1001, ["signals"]),
    ):
        assert_error(await person.call("POST", path, json=body), 400, *fields)
    broken = await person.call("POST", "/signals", content=b'{"signalName": "n"', headers=JSON)
    assert_error(broken, 400, "body")
    untyped = await person.call("POST", "/signals", content=orjson.dumps(good))
    assert_error(untyped, 400, "Content-Type")
    assert await person.data("GET", "/signals") == []
