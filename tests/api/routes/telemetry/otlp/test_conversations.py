"""Conversations are shown in one form, from attributes, events and log records."""

from typing import Any

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from support.otlp import PROTOBUF, SECOND, make_span, make_traces, pairs
from support.service import Person, Service


async def export(person: Person, kind: str, body: bytes) -> None:
    headers = {"Content-Type": PROTOBUF}
    response = await person.call("POST", f"/otlp/v1/{kind}", content=body, headers=headers)
    assert response.status_code == 200, response.text


async def show(
    person: Person, span: Span, records: ExportLogsServiceRequest | None = None
) -> dict[str, Any]:
    await export(person, "traces", make_traces([span]).SerializeToString())
    if records is not None:
        await export(person, "logs", records.SerializeToString())
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    shown: dict[str, Any] = trace["spans"][0]
    path = f"/spans/traces/{span.trace_id.hex()}/spans/{span.span_id.hex()}"
    assert (await person.data("GET", path))["messages"] == shown["messages"]
    return shown


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


async def test_a_span_has_its_raw_content_and_its_messages(service: Service) -> None:
    raw = [{"role": "user", "content": "Weather?"}]
    asked = orjson.dumps(raw).decode()
    made = make_span(gen_ai__operation__name="chat", langfuse__observation__input=asked)
    span = await show(await service.sign_up(), made)
    assert span["input"] == raw
    assert span["messages"] == {"input": [says("user", "Weather?")], "output": None}


async def test_a_tool_has_arguments_and_no_messages(service: Service) -> None:
    span = make_span(gen_ai__tool__name="weather", gen_ai__tool__call__arguments='{"city": "Oslo"}')
    shown = await show(await service.sign_up(), span)
    assert shown["input"] == {"city": "Oslo"}
    assert shown["messages"] == {"input": None, "output": None}


async def test_messages_outrank_what_the_framework_printed(service: Service) -> None:
    attributes: dict[str, Any] = {
        "openinference.span.kind": "LLM",
        "input.value": '{"messages": ["ChatMessage(role=<MessageRole.USER>)"]}',
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.contents.0.message_content.text": "Weather?",
    }
    shown = await show(await service.sign_up(), make_span(**attributes))
    assert shown["messages"]["input"] == [says("user", "Weather?")]
    assert "input.value" not in shown["attributes"]


async def test_a_choice_with_only_tool_calls_is_a_message(service: Service) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    span = make_span(gen_ai__operation__name="chat")
    choice = {"finish_reason": "tool_calls", "index": 0, "message": {"tool_calls": [call]}}
    shown = await show(await service.sign_up(), span, make_records(span, ("gen_ai.choice", choice)))
    part = {"type": "toolCall", "id": "c1", "name": "weather", "arguments": {}}
    assert shown["messages"]["output"] == [{"role": "assistant", "parts": [part]}]


async def test_messages_of_the_same_time_keep_their_order(service: Service) -> None:
    span = make_span(gen_ai__operation__name="chat")
    texts = [f"message {number}" for number in range(20)]
    events = [("gen_ai.user.message", {"content": text}) for text in texts]
    shown = await show(await service.sign_up(), span, make_records(span, *events))
    assert shown["messages"]["input"] == [says("user", text) for text in texts]


async def test_the_prompt_and_the_answer_of_claude_code_are_shown(service: Service) -> None:
    span = make_span(name="claude_code.llm_request", gen_ai__request__model="m", request_id="r1")
    records = make_records(
        span,
        ("", {"event.name": "user_prompt", "prompt": "Fix it"}),
        ("", {"event.name": "assistant_response", "response": "Done", "request_id": "r1"}),
        ("", {"event.name": "assistant_response", "response": "Other", "request_id": "r2"}),
    )
    shown = await show(await service.sign_up(), span, records)
    assert shown["messages"] == {
        "input": [says("user", "Fix it")],
        "output": [says("assistant", "Done")],
    }


async def test_the_output_of_a_tool_event_is_shown(service: Service) -> None:
    span = make_span(name="claude_code.tool", tool_name="Bash")
    values = pairs({"bash_command": "echo hello", "output": "hello"})
    span.events.add(name="tool.output", attributes=values)
    shown = await show(await service.sign_up(), span)
    assert (shown["input"], shown["output"]) == ("echo hello", "hello")
