"""Exports of any content are stored or refused with a reason, and never crash."""

import asyncio
import random
import threading
from collections.abc import AsyncIterator

import pytest
from google.protobuf import json_format

from spanwise.ingest.commit.counters import IngestCounters
from spanwise.ingest.receiver import JSON_THREAD_BYTES, LARGE_BYTES, LOOP_ITEMS, Receiver
from spanwise.ingest.records.record import Kind
from spanwise.model.accounts import Sender
from spanwise.model.errors import Invalid
from support.commit import SENDER, FakeStore, running
from support.otlp import make_logs, make_metrics, make_span, make_traces
from support.polling import until

EXPORTS = {
    Kind.TRACES: make_traces([make_span(a=1, b=[1, "x"])]),
    Kind.LOGS: make_logs(),
    Kind.METRICS: make_metrics(),
}


@pytest.fixture(scope="module")
async def receiver(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Receiver]:
    async with running(tmp_path_factory.mktemp("journal"), FakeStore()) as pipeline:
        yield Receiver(pipeline, IngestCounters())


async def problem_of(receiver: Receiver, kind: Kind, body: bytes, *, is_json: bool) -> str:
    """Return why a body is refused, or an empty string when it is accepted."""
    try:
        await receiver.receive_otlp(SENDER, kind, body, is_json=is_json)
    except Invalid as refusal:
        return refusal.message or "refused without a reason"
    return ""


@pytest.mark.parametrize("seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 3))])
@pytest.mark.parametrize("is_json", [False, True])
async def test_a_corrupt_body_is_accepted_or_refused_with_a_reason(
    receiver: Receiver, seed: int, *, is_json: bool
) -> None:
    dice, problems = random.Random(seed), set()
    for _ in range(300):
        kind, path = dice.choice(list(EXPORTS)), dice.choice(list(EXPORTS))
        body = bytearray(
            json_format.MessageToJson(EXPORTS[kind], indent=None).encode()
            if is_json
            else EXPORTS[kind].SerializeToString()
        )
        for _ in range(dice.randint(1, 2 if is_json else 8)):
            body[dice.randrange(len(body))] = (
                dice.randrange(32, 127) if is_json else dice.randrange(256)
            )
        problems.add(await problem_of(receiver, path, bytes(body), is_json=is_json))
    assert len(problems) > 10
    assert "refused without a reason" not in problems
    assert "" in problems, "nothing was accepted"


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b'"text"',
        b'{"resourceSpans": [null]}',
        b'{"resourceSpans": [NaN]}',
        b'{"resourceSpans": {"a": 1}}',
        b'{"resourceSpans": [{"scopeSpans": "x"}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [null]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": 5}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": "x"}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": -1}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"key": 1}]}]}]}]}',
    ],
)
async def test_wrong_types_in_json_are_refused_with_a_reason(
    receiver: Receiver, body: bytes
) -> None:
    assert await problem_of(receiver, Kind.TRACES, body, is_json=True)


async def test_null_instead_of_a_list_in_json_is_an_empty_export(receiver: Receiver) -> None:
    body = b'{"resourceSpans": null}'
    assert await problem_of(receiver, Kind.TRACES, body, is_json=True) == ""


@pytest.mark.parametrize("kind", EXPORTS)
async def test_an_empty_export_is_accepted(receiver: Receiver, kind: Kind) -> None:
    assert await problem_of(receiver, kind, b"", is_json=False) == ""
    assert await problem_of(receiver, kind, b"{}", is_json=True) == ""


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        (Kind.LOGS, Kind.TRACES),
        (Kind.METRICS, Kind.TRACES),
        (Kind.TRACES, Kind.LOGS),
        (Kind.TRACES, Kind.METRICS),
    ],
)
async def test_an_export_to_the_path_of_another_kind_names_the_right_path(
    receiver: Receiver, sent: Kind, path: Kind
) -> None:
    body = EXPORTS[sent].SerializeToString()
    said = await problem_of(receiver, path, body, is_json=False)
    assert f"send it to /v1/{sent.name.lower()}" in said


async def test_logs_with_trace_ids_sent_as_traces_get_the_right_path_too(
    receiver: Receiver,
) -> None:
    body = make_logs(trace_id=b"\x01" * 16).SerializeToString()
    said = await problem_of(receiver, Kind.TRACES, body, is_json=False)
    assert "send it to /v1/logs" in said


async def test_json_logs_sent_as_traces_are_not_an_empty_export(receiver: Receiver) -> None:
    body = json_format.MessageToJson(make_logs()).encode()
    said = await problem_of(receiver, Kind.TRACES, body, is_json=True)
    assert "send it to /v1/logs" in said


async def test_of_large_bodies_two_are_handled_at_once(receiver: Receiver) -> None:
    """One per workspace, and smaller ones do not wait for them."""
    may_end, begun = threading.Event(), list[str]()
    body = b"[" + b" " * LARGE_BYTES + b"]"

    def send(name: str) -> asyncio.Task[None]:
        def parse(_: object) -> None:
            begun.append(name)
            assert may_end.wait(20)

        return asyncio.create_task(receiver.read_json(Sender(name, "key"), body, parse))

    async def two_have_begun() -> bool:
        return len(begun) == 2

    large = [send(name) for name in ("a", "a", "b", "c")]
    try:
        await until(two_have_begun)
        for workspace in ("a", "d"):
            async with asyncio.timeout(10):
                small = b"[" + b" " * JSON_THREAD_BYTES + b"]"
                assert await receiver.read_json(Sender(workspace, "key"), small, str) == "[]"
        assert sorted(begun) == ["a", "b"]
    finally:
        may_end.set()
    await asyncio.gather(*large)
    assert sorted(begun) == ["a", "a", "b", "c"]


async def test_many_small_spans_are_not_prepared_on_the_event_loop(receiver: Receiver) -> None:
    spans = [make_span() for _ in range(LOOP_ITEMS + 1)]
    bodies = [make_traces(some).SerializeToString() for some in (spans, spans[1:])]
    stored = asyncio.Event()
    assert [
        receiver.enqueue_otlp(SENDER, Kind.TRACES, body, lambda _: stored.set()) for body in bodies
    ] == [False, True]
    async with asyncio.timeout(20):
        await stored.wait()
