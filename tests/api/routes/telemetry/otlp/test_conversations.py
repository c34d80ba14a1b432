"""Conversations are shown in one form, from attributes, events and log records."""

from typing import Any

import orjson
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from support.otlp import SECOND, Exporter, make_span, make_traces, pairs
from support.service import Person, Service


def says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "text": text}]}


def make_records(span: Span, *events: tuple[str, dict[str, Any]]) -> ExportLogsServiceRequest:
    """Return log records of a span, all of the same time."""
    request = ExportLogsServiceRequest()
    scope = request.resource_logs.add().scope_logs.add()
    for event, values in events:
        scope.log_records.add(
            time_unix_nano=span.start_time_unix_nano + SECOND // 4,
            trace_id=span.trace_id,
            span_id=span.span_id,
            event_name=event,
            attributes=pairs(values),
        )
    return request


def attributes_of_a_message() -> dict[str, Any]:
    content = "llm.input_messages.0.message.contents.0.message_content"
    return {
        "openinference.span.kind": "LLM",
        "input.value": '{"messages": ["ChatMessage(role=<MessageRole.USER>)"]}',
        "llm.input_messages.0.message.role": "user",
        f"{content}.type": "text",
        f"{content}.text": "Weather?",
    }


RAW = [{"role": "user", "content": "Weather?"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
CHOICE = {"finish_reason": "tool_calls", "index": 0, "message": {"tool_calls": [CALL]}}
TEXTS = [f"message {number}" for number in range(20)]

SPANS = {
    "raw": make_span(
        gen_ai__operation__name="chat", langfuse__observation__input=orjson.dumps(RAW).decode()
    ),
    "tool": make_span(
        gen_ai__tool__name="weather", gen_ai__tool__call__arguments='{"city": "Oslo"}'
    ),
    "printed": make_span(**attributes_of_a_message()),
    "choice": make_span(gen_ai__operation__name="chat"),
    "many": make_span(gen_ai__operation__name="chat"),
    "claude": make_span(
        name="claude_code.llm_request", gen_ai__request__model="m", request_id="r1"
    ),
    "tool event": make_span(name="claude_code.tool", tool_name="Bash"),
}
SPANS["tool event"].events.add(
    name="tool.output", attributes=pairs({"bash_command": "echo hello", "output": "hello"})
)
RECORDS = [
    make_records(SPANS["choice"], ("gen_ai.choice", CHOICE)),
    make_records(SPANS["many"], *(("gen_ai.user.message", {"content": t}) for t in TEXTS)),
    make_records(
        SPANS["claude"],
        ("", {"event.name": "user_prompt", "prompt": "Fix it"}),
        ("", {"event.name": "assistant_response", "response": "Done", "request_id": "r1"}),
        ("", {"event.name": "assistant_response", "response": "Other", "request_id": "r2"}),
    ),
]


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    """A person who has sent all spans in one request, and then all records in another."""
    person = await shared_service.sign_up()
    exporter = Exporter(shared_service.http, (await person.new_key(scopes=["ingest"]))["key"])
    spans = make_traces([])
    for span in SPANS.values():
        spans.MergeFrom(make_traces([span]))
    records = ExportLogsServiceRequest()
    for some in RECORDS:
        records.MergeFrom(some)
    assert (await exporter.post(spans)).status_code == 200
    assert (await exporter.post(records, "/v1/logs")).status_code == 200
    return person


async def show(person: Person, name: str) -> dict[str, Any]:
    """Return the span in its trace, which has the same messages as the span alone."""
    path = f"/spans/traces/{SPANS[name].trace_id.hex()}"
    [shown] = (await person.data("GET", path))["spans"]
    alone = await person.data("GET", f"{path}/spans/{shown['spanId']}")
    assert alone["messages"] == shown["messages"]
    found: dict[str, Any] = shown
    return found


async def test_a_span_has_its_raw_content_and_its_messages(ada: Person) -> None:
    span = await show(ada, "raw")
    assert span["input"] == RAW
    assert span["messages"] == {"input": [says("user", "Weather?")], "output": None}


async def test_a_tool_has_arguments_and_no_messages(ada: Person) -> None:
    shown = await show(ada, "tool")
    assert shown["input"] == {"city": "Oslo"}
    assert shown["messages"] == {"input": None, "output": None}


async def test_messages_outrank_what_the_framework_printed(ada: Person) -> None:
    shown = await show(ada, "printed")
    assert shown["messages"]["input"] == [says("user", "Weather?")]
    assert "input.value" not in shown["attributes"]


async def test_a_choice_with_only_tool_calls_is_a_message(ada: Person) -> None:
    part = {"type": "toolCall", "id": "c1", "name": "weather", "arguments": {}}
    output = (await show(ada, "choice"))["messages"]["output"]
    assert output == [{"role": "assistant", "parts": [part]}]


async def test_messages_of_the_same_time_keep_their_order(ada: Person) -> None:
    found = (await show(ada, "many"))["messages"]["input"]
    assert found == [says("user", text) for text in TEXTS]


async def test_the_prompt_and_the_answer_of_claude_code_are_shown(ada: Person) -> None:
    assert (await show(ada, "claude"))["messages"] == {
        "input": [says("user", "Fix it")],
        "output": [says("assistant", "Done")],
    }


async def test_the_output_of_a_tool_event_is_shown(ada: Person) -> None:
    shown = await show(ada, "tool event")
    assert (shown["input"], shown["output"]) == ("echo hello", "hello")
