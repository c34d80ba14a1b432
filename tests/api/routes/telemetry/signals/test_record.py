"""Recording signals: single, in batches, resent, and refused."""

import gzip
import math
from typing import Any

import orjson
import pytest

from support.ids import new_trace_id
from support.service import Person, Service, assert_error


@pytest.fixture
async def ann(service: Service) -> Person:
    return await service.sign_up()


async def _listed(person: Person, **filters: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await person.data("GET", "/signals", params=filters)
    return found


async def test_a_recorded_signal_is_listed_with_every_field(ann: Person) -> None:
    sent = {
        "signalName": "rating",
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
    recorded = await ann.data("POST", "/signals", json=sent)
    assert recorded["id"].startswith("sig_")
    assert {name: recorded[name] for name in sent} == sent
    assert await _listed(ann) == [recorded]


async def test_only_name_and_value_of_a_signal_are_required(ann: Person) -> None:
    recorded = await ann.data("POST", "/signals", json={"signalName": "n", "value": 0})
    assert recorded["value"] == 0
    assert recorded["traceId"] is None
    assert recorded["metadata"] == {}
    assert recorded["timestamp"] == recorded["createdAt"]
    assert await _listed(ann) == [recorded]


async def test_numbers_within_the_limit_are_returned_unchanged(ann: Person) -> None:
    values = [-1, 0, 3, 1.5, -2.25e-300, 1e15, -1e15, 2**49 + 1]
    signals = [{"id": str(n), "signalName": "n", "value": v} for n, v in enumerate(values)]
    await ann.data("POST", "/signals/batch", json=signals)
    found = {s["id"]: s["value"] for s in await _listed(ann)}
    assert [found[str(n)] for n in range(len(values))] == [float(v) for v in values]


_REFUSED = [
    (b'{"signalName": "n", "value": true}', "value"),
    (b'{"signalName": "n", "value": "1"}', "value"),
    (b'{"signalName": "n", "value": null}', "value"),
    (b'{"signalName": "n", "value": 1e999}', "body"),
    (b'{"signalName": "n", "value": 1.1e15}', "value"),
    (b'{"signalName": "n", "value": -1e308}', "value"),
    (b'{"signalName": "n", "value": NaN}', "body"),
    (b'{"signalName": "n", "value": Infinity}', "body"),
    (b'{"signalName": "n"}', "value"),
    (b'{"value": 1}', "signalName"),
    (b'{"signalName": "", "value": 1}', "signalName"),
    (b'{"signalName": 5, "value": 1}', "signalName"),
    (b'{"signalName": "%s", "value": 1}' % (b"n" * 129), "signalName"),
    (b'{"signalName": "n", "value": 1, "traceId": "abc"}', "traceId"),
    (b'{"signalName": "n", "value": 1, "traceId": "%s"}' % (b"g" * 32), "traceId"),
    (b'{"signalName": "n", "value": 1, "spanId": "%s"}' % (b"0" * 32), "spanId"),
    (b'{"signalName": "n", "value": 1, "timestamp": 1700000000}', "timestamp"),
    (b'{"signalName": "n", "value": 1, "timestamp": "1700000000"}', "timestamp"),
    (b'{"signalName": "n", "value": 1, "timestamp": "yesterday"}', "timestamp"),
    (b'{"signalName": "n", "value": 1, "timestamp": "2201-01-01T00:00:00Z"}', "timestamp"),
    (b'{"signalName": "n", "value": 1, "metadata": [1]}', "metadata"),
    (b'{"signalName": "n", "value": 1, "id": ""}', "id"),
    (b'{"signalName": "n", "value": 1, "id": 7}', "id"),
    (b'{"signalName": "n", "value": 1', "body"),
    (b'{"signalName": "\xff", "value": 1}', "body"),
    (b'{"signalName": "\\ud800", "value": 1}', "body"),
    (b"", "body"),
]


async def test_an_invalid_field_is_named_and_nothing_is_stored(ann: Person) -> None:
    headers = {"Content-Type": "application/json"}
    for body, field in _REFUSED:
        answer = await ann.call("POST", "/signals", content=body, headers=headers)
        assert_error(answer, 400, field)
    assert await _listed(ann) == []


async def test_metadata_deeper_than_64_levels_is_refused(ann: Person) -> None:
    deep: Any = 1
    for _ in range(70):
        deep = {"a": deep}
    body = {"signalName": "n", "value": 1, "metadata": deep}
    assert_error(await ann.call("POST", "/signals", json=body), 400, "metadata")


async def test_unknown_fields_are_ignored(ann: Person) -> None:
    await ann.data("POST", "/signals", json={"signalName": "n", "value": 1, "colour": "red"})
    assert "colour" not in (await _listed(ann))[0]


async def test_another_content_type_is_refused(ann: Person) -> None:
    answer = await ann.call("POST", "/signals", content=b'{"signalName": "n", "value": 1}')
    assert_error(answer, 400, "Content-Type")


async def test_a_resent_id_counts_once_with_the_later_value(ann: Person) -> None:
    for value in (1, 1, 5):
        body = {"id": "feedback-7", "signalName": "rating", "value": value}
        assert (await ann.call("POST", "/signals", json=body)).status_code == 201
    assert [s["value"] for s in await _listed(ann)] == [5]
    [summary] = await ann.data("GET", "/signals/summary")
    assert (summary["count"], summary["sum"]) == (1, 5)


async def test_the_same_id_in_two_workspaces_is_two_signals(service: Service, ann: Person) -> None:
    bob = await service.sign_up()
    await ann.data("POST", "/signals", json={"id": "same", "signalName": "n", "value": 1})
    await bob.data("POST", "/signals", json={"id": "same", "signalName": "n", "value": 2})
    assert [s["value"] for s in await _listed(ann)] == [1]
    assert [s["value"] for s in await _listed(bob)] == [2]


async def test_a_batch_of_1000_is_stored_completely(ann: Person) -> None:
    signals = [{"signalName": f"name {n % 7}", "value": n} for n in range(1000)]
    answer = await ann.data("POST", "/signals/batch", json={"signals": signals})
    assert answer["accepted"] == 1000
    assert len(set(answer["ids"])) == 1000
    summaries = await ann.data("GET", "/signals/summary")
    assert sum(s["count"] for s in summaries) == 1000
    assert sum(s["sum"] for s in summaries) == sum(range(1000))


async def test_a_batch_with_invalid_signals_names_each_and_stores_none(ann: Person) -> None:
    signals: list[Any] = [{"signalName": "n", "value": n} for n in range(10)]
    signals[3] = {"signalName": "n", "value": True}
    signals[5] = {"value": 1}
    signals[8] = "not a signal"
    answer = await ann.call("POST", "/signals/batch", json=signals)
    assert_error(answer, 400, "signals[3].value", "signals[5].signalName", "signals[8]")
    assert await _listed(ann) == []


async def test_a_batch_must_be_a_list_of_1_to_1000(ann: Person) -> None:
    one = {"signalName": "n", "value": 1}
    bodies: list[Any] = [[], {"signals": []}, {}, {"signals": {}}, "text", 1, [one] * 1001]
    for body in bodies:
        assert_error(await ann.call("POST", "/signals/batch", json=body), 400, "signals")
    assert await _listed(ann) == []


async def test_a_compressed_bare_array_is_accepted(ann: Person) -> None:
    body = gzip.compress(orjson.dumps([{"signalName": "n", "value": math.pi}]))
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = await ann.call("POST", "/signals/batch", content=body, headers=headers)
    assert answer.status_code == 201
    assert [s["value"] for s in await _listed(ann)] == [math.pi]


async def test_a_read_key_may_not_record_and_an_ingest_key_may_not_list(
    service: Service, ann: Person
) -> None:
    reading = {"x-api-key": (await ann.new_key(scopes=["read"]))["key"]}
    ingesting = {"x-api-key": (await ann.new_key(scopes=["ingest"]))["key"]}
    body = {"signalName": "n", "value": 1}
    assert_error(await service.call("POST", "/signals", json=body, headers=reading), 403)
    assert_error(await service.call("GET", "/signals", headers=ingesting), 403)
    answer = await service.call("POST", "/signals", json=body, headers=ingesting)
    assert answer.status_code == 201
    assert_error(await service.call("POST", "/signals", content=b"{"), 401)
