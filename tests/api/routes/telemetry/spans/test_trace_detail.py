"""The trace detail beside its spans: signals, log count, contents from logs."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from spanwise.model.telemetry.spans import TraceWithSpans
from support.ids import new_trace_id
from support.service import Person, Service
from support.spans import child_of, iso, new_span, send
from support.telemetry import make_span

GOLDEN = Path(__file__).parents[4] / "golden" / "otel-genai"


@pytest.fixture(scope="module")
async def ann(shared_service: Service) -> Person:
    return await shared_service.sign_up()


async def test_a_trace_shows_its_signals_and_counts_its_logs(service: Service, ann: Person) -> None:
    trace_id = new_trace_id()
    bob = await service.sign_up()
    span = make_span(trace_id, sessionId="with signals")
    signals = [
        {
            "id": f"r{n}",
            "signalName": "rating",
            "value": n,
            "traceId": trace_id,
            "timestamp": f"2026-03-10T12:00:0{n}Z",
        }
        for n in range(3)
    ]
    log = {"message": "x", "traceId": trace_id, "timestamp": "2026-03-10T12:00:00Z"}
    await asyncio.gather(
        ann.data("POST", "/spans", json=span),
        bob.data("POST", "/spans", json=span),
        ann.data("POST", "/signals/batch", json=signals),
        ann.data("POST", "/logs", json={"logs": [log, log, {**log, "message": "y"}]}),
    )
    trace = await ann.data("GET", f"/spans/traces/{trace_id}")
    assert [s["value"] for s in trace["signals"]] == [2, 1, 0]
    assert {s["sessionId"] for s in trace["signals"]} == {"with signals"}
    assert trace["logCount"] == 2
    other = await bob.data("GET", f"/spans/traces/{trace_id}")
    assert (other["signals"], other["logCount"]) == ([], 0)


async def test_a_failed_trace_has_the_name_of_its_first_exception(ann: Person) -> None:
    now = datetime.now(UTC) - timedelta(hours=4)
    raised = {"name": "exception", "attributes": {"exception.type": "openai.ContentFiltered"}}
    root = new_span(now, 7_200_000, status="error", sessionId="s")
    late = now + timedelta(hours=1)
    spans = [
        root,
        child_of(root, startTime=iso(late), endTime=iso(late), status="error", events=[raised]),
        child_of(root, attributes={"error.type": "fine"}),
        new_span(now, status="error", attributes={"error.type": "_OTHER"}),
        new_span(now, events=[raised]),
    ]
    await send(ann, *spans)
    assert {one["errorName"] for one in await ann.data("GET", "/spans/traces")} == {None}
    listed = await ann.data("GET", "/spans/traces?errorNames=true")
    traces = {one["traceId"]: one for one in listed}
    ids = root["traceId"], spans[3]["traceId"], spans[4]["traceId"]
    expected = ["openai.ContentFiltered", None, None]
    assert [traces[trace_id]["errorName"] for trace_id in ids] == expected
    details = [await ann.data("GET", f"/spans/traces/{trace_id}") for trace_id in ids]
    assert [one["errorName"] for one in details] == expected
    assert traces[root["traceId"]]["errorType"] == details[0]["errorType"] == "other"
    session = await ann.data("GET", "/spans/sessions/s")
    assert session["traces"][0]["errorName"] == "openai.ContentFiltered"


@pytest.mark.parametrize("parts", [["logs", "traces"], ["traces", "logs"]], ids="-".join)
async def test_messages_from_logs_are_the_contents_of_their_spans(
    person: Person, parts: list[str]
) -> None:
    expected = []
    for case in ("old-names-content", "new-names-event-content"):
        for part in parts:
            body = (GOLDEN / f"{case}.{part}.json").read_bytes()
            headers = {"Content-Type": "application/json"}
            sent = await person.call("POST", f"/otlp/v1/{part}", content=body, headers=headers)
            assert sent.status_code == 200, sent.text
        spans = json.loads((GOLDEN / f"{case}.expected.json").read_text())["spans"]
        wanted = [span for span in spans if span.get("contentFrom") == "logs"]
        assert wanted
        expected += wanted
    for trace_id in {span["traceId"] for span in expected}:
        trace = await person.data("GET", f"/spans/traces/{trace_id}")
        shown = {span["spanId"]: span for span in trace["spans"]}
        for span in expected:
            if span["traceId"] == trace_id:
                path = f"/spans/traces/{trace_id}/spans/{span['spanId']}"
                one = await person.data("GET", path)
                assert (one["input"], one["output"]) == tuple(
                    shown[span["spanId"]][name] for name in ("input", "output")
                )
                assert span["inputContains"] in _text(one["input"])
                assert span["outputContains"] in _text(one["output"])
                assert all(message["role"] for message in (*one["input"], *one["output"]))


def _text(content: Any) -> str:
    return json.dumps(content, ensure_ascii=False)


async def test_contents_of_a_span_take_precedence_over_those_of_logs(ann: Person) -> None:
    span = make_span(input="mine")
    ids = {"traceId": span["traceId"], "spanId": span["spanId"]}
    contents = (("gen_ai.user.message", "theirs"), ("gen_ai.choice", "x" * 70_000))
    logs = [
        {"message": "", "attributes": {"event.name": name, "content": text}, **ids}
        for name, text in contents
    ]
    await asyncio.gather(
        ann.data("POST", "/spans", json=span), ann.data("POST", "/logs", json={"logs": logs})
    )
    [shown] = (await ann.data("GET", f"/spans/traces/{span['traceId']}"))["spans"]
    assert shown["input"] == "mine"
    assert len(shown["output"]) < 66_000
    assert "cut at 64 KiB" in shown["output"]
    whole = await ann.data("GET", f"/spans/traces/{span['traceId']}/spans/{span['spanId']}")
    assert whole["output"][0]["content"] == "x" * 70_000


async def test_every_span_is_the_same_in_the_trace_and_alone(ann: Person) -> None:
    root = make_span(new_trace_id(), kind="agent", agentName="planner", sessionId="s")
    call = make_span(
        root["traceId"],
        parentSpanId=root["spanId"],
        kind="llm",
        agentName="planner",
        model="gpt-4o",
        provider="openai",
        inputTokens=10,
        outputTokens=1,
        status="error",
        statusMessage="429 slow down",
        input=[{"role": "user", "content": "H\u00e4llo \U0001f44b"}],
        attributes={"a": 1, "b": [1.5, None, {"c": True}], "temperature": 0.25},
        events=[{"name": "retry", "time": root["startTime"], "attributes": {"n": 2}}],
    )
    depth = 400
    deep = make_span(root["traceId"], parentSpanId=root["spanId"], agentName="planner")
    deep["input"] = "[" * depth + "]" * depth
    # In a separate part, which the engine would skip if the hour ended at a whole second.
    last_second = make_span(startTime="2024-05-10T12:59:59.500Z", input="a question")
    await ann.data("POST", "/spans", json={"spans": [root, call, deep, last_second]})
    found = await ann.data("GET", f"/spans/traces/{last_second['traceId']}")
    assert found["inputPreview"] == "a question"
    trace = await ann.data("GET", f"/spans/traces/{root['traceId']}")
    assert TraceWithSpans.model_validate(trace).model_dump(mode="json") == trace
    events = {s["spanId"]: len(s["events"]) for s in trace["spans"]}
    assert events == {root["spanId"]: 0, call["spanId"]: 1, deep["spanId"]: 0}
    for shown in trace["spans"]:
        path = f"/spans/traces/{root['traceId']}/spans/{shown['spanId']}"
        assert await ann.data("GET", path) == shown
    [at_nesting_limit] = [s for s in trace["spans"] if s["spanId"] == deep["spanId"]]
    assert at_nesting_limit["input"]
