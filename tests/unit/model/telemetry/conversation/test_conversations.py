"""Messages of every SDK have one form."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spanwise.model.telemetry.conversation.conversations import normalize_messages

ASK, ANSWER = "Weather in Paris?", "It is 21 degrees."
CITY = {"city": "Paris"}
TEXT = orjson.dumps(CITY).decode()


def says(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "text": text}]}


def thinks(text: str) -> dict[str, Any]:
    return {"type": "reasoning", "text": text}


def calls(call_id: str | None = "c1") -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": "get_weather", "arguments": CITY}


def returns(result: Any, call_id: str | None = "c1", name: str | None = "get_weather") -> Any:
    return {"type": "toolResult", "id": call_id, "name": name, "result": result}


TURNS = [
    says("system", "Be brief."),
    says("user", ASK),
    {"role": "assistant", "parts": [calls()]},
    {"role": "tool", "parts": [returns("21 degrees")]},
    says("assistant", ANSWER),
]
OPENAI = [
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": ASK}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "function": {"name": "get_weather", "arguments": TEXT}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "21 degrees"},
    {"role": "assistant", "content": ANSWER},
]
OTEL = [
    {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
    {"role": "user", "parts": [{"type": "text", "content": ASK}]},
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "get_weather", "arguments": CITY}],
    },
    {
        "role": "tool",
        "parts": [{"type": "tool_call_response", "id": "c1", "response": "21 degrees"}],
    },
    {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]},
]
RESPONSES = {
    "model": "gpt-4o-mini",
    "instructions": "Be brief.",
    "input": [
        {"role": "user", "content": ASK},
        {"type": "function_call", "id": "f", "call_id": "c1", "name": "get_weather",
         "arguments": TEXT},
        {"type": "function_call_output", "call_id": "c1", "output": "21 degrees"},
        {"type": "message", "role": "assistant",
         "content": [{"type": "output_text", "text": ANSWER}]},
    ],
}  # fmt: skip
LANGCHAIN_DATA = [
    {"type": "system", "data": {"content": "Be brief.", "type": "system"}},
    {"type": "human", "data": {"content": ASK, "type": "human"}},
    {"type": "ai", "data": {"content": "", "tool_calls": [
        {"name": "get_weather", "args": CITY, "id": "c1", "type": "tool_call"}]}},
    {"type": "tool", "data": {"content": "21 degrees", "tool_call_id": "c1"}},
    {"type": "AIMessageChunk", "data": {"content": ANSWER}},
]  # fmt: skip
LANGCHAIN_KWARGS = {
    "messages": [[
        {"lc": 1, "type": "constructor", "kwargs": {"content": "Be brief.", "type": "system"}},
        {"lc": 1, "type": "constructor", "kwargs": {"content": ASK, "type": "human"}},
        {"lc": 1, "type": "constructor", "kwargs": {"content": "", "type": "ai", "tool_calls": [
            {"name": "get_weather", "args": CITY, "id": "c1"}]}},
        {"lc": 1, "type": "constructor", "kwargs": {
            "content": "21 degrees", "type": "tool", "tool_call_id": "c1"}},
        {"lc": 1, "type": "constructor", "kwargs": {"content": ANSWER, "type": "ai"}},
    ]],
}  # fmt: skip
BEDROCK: dict[str, list[Any]] = {
    "system": [{"text": "Be brief."}],
    "messages": [
        {"role": "user", "content": [{"text": ASK}]},
        {"role": "assistant", "content": [
            {"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": CITY}}]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "c1", "content": [{"text": "21 degrees"}]}}]},
        {"role": "assistant", "content": [{"text": ANSWER}]},
    ],
}  # fmt: skip
# Strands sends the same blocks as text.
STRANDS = [
    {"role": "system", "content": '[{"text": "Be brief."}]'},
    *({**m, "content": orjson.dumps(m["content"]).decode()} for m in BEDROCK["messages"]),
]
GEMINI = {
    "config": {"system_instruction": "Be brief."},
    "contents": [
        {"role": "user", "parts": [{"text": ASK}]},
        {"role": "model", "parts": [
            {"functionCall": {"id": "c1", "name": "get_weather", "args": CITY}}]},
        {"role": "tool", "parts": [{"functionResponse": {
            "id": "c1", "name": "get_weather", "response": "21 degrees"}}]},
        {"role": "model", "parts": [{"text": ANSWER}]},
    ],
}  # fmt: skip
GENKIT = {
    "messages": [
        {"role": "system", "content": [{"text": "Be brief."}]},
        {"role": "user", "content": [{"text": ASK}]},
        {"role": "model", "content": [
            {"toolRequest": {"ref": "c1", "name": "get_weather", "input": CITY}}]},
        {"role": "tool", "content": [
            {"toolResponse": {"ref": "c1", "name": "get_weather", "output": "21 degrees"}}]},
        {"role": "model", "content": [{"text": ANSWER}]},
    ],
}  # fmt: skip
VERCEL = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": ASK}]},
    {"role": "assistant", "content": [
        {"type": "tool-call", "toolCallId": "c1", "toolName": "get_weather", "input": CITY}]},
    {"role": "tool", "content": [
        {"type": "tool-result", "toolCallId": "c1", "toolName": "get_weather",
         "output": {"type": "text", "value": "21 degrees"}}]},
    {"role": "assistant", "content": [{"type": "text", "text": ANSWER}]},
]  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(OPENAI, id="openai"),
        pytest.param({"model": "gpt-4o", "messages": OPENAI}, id="openai request"),
        pytest.param(orjson.dumps(OPENAI).decode(), id="text"),
        pytest.param(OTEL, id="opentelemetry"),
        pytest.param(RESPONSES, id="responses"),
        pytest.param({"messages": LANGCHAIN_DATA}, id="langchain data"),
        pytest.param(LANGCHAIN_KWARGS, id="langchain kwargs"),
        pytest.param(BEDROCK, id="bedrock"),
        pytest.param(STRANDS, id="strands"),
        pytest.param(GEMINI, id="gemini"),
        pytest.param(GENKIT, id="genkit"),
        pytest.param(VERCEL, id="vercel"),
    ],
)
def test_a_conversation_has_the_same_messages_in_every_format(content: Any) -> None:
    assert normalize_messages(content, "user") == TURNS


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Hello", "Hello"),
        ('"Hello"', "Hello"),
        ({"system": "", "prompt": "Hello"}, "Hello"),
        ({"prompt": "Hello"}, "Hello"),
        ({"model": "gpt-4o", "input": "Hello"}, "Hello"),
        ([["user", "Hello"]], "Hello"),
        ({"messages": [["human", "Hello"]]}, "Hello"),
        ('"broken', '"broken'),
    ],
)
def test_a_question_may_be_plain_text(content: Any, text: str) -> None:
    assert normalize_messages(content, "user") == [says("user", text)]


def test_instructions_come_first() -> None:
    expected = [says("system", "Be brief."), says("user", ASK)]
    assert normalize_messages({"system": "Be brief.", "prompt": ASK}, "user") == expected
    assert normalize_messages({"instructions": "Be brief.", "input": ASK}, "user") == expected


RESPONSE_ITEMS = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}], "content": None},
    {"type": "function_call", "call_id": "c1", "name": "get_weather", "arguments": TEXT},
]


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ({"choices": [{"message": {"role": "assistant", "content": ANSWER}}]}, [ANSWER]),
        ({"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}}]}, [ANSWER]),
        ([{"candidates": [{"content": {"role": "model", "parts": [{"text": ANSWER}]}}]}], [ANSWER]),
        ({"content": {"role": "model", "parts": [{"text": ANSWER}]}}, [ANSWER]),
        ({"id": "m", "role": "assistant", "content": [{"type": "text", "text": ANSWER}]}, [ANSWER]),
        ({"output": {"message": {"role": "assistant", "content": [{"text": ANSWER}]}}}, [ANSWER]),
        ({"message": {"role": "model", "content": [{"text": ANSWER}]}}, [ANSWER]),
        (
            {"generations": [[{"text": "x", "message": {"kwargs": {
                "type": "ai", "content": ANSWER}}}]]},
            [ANSWER],
        ),
        (RESPONSE_ITEMS, [thinks("Hm."), calls()]),
        ({"object": "response", "model": "m", "output": RESPONSE_ITEMS}, [thinks("Hm."), calls()]),
        ([{"toolCallId": "c1", "toolName": "get_weather", "input": TEXT}], [calls()]),
        ([{"update": {"messages": [{"type": "ai", "data": {"content": ANSWER}}]}}], [ANSWER]),
        (
            [{"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}],
            [thinks("Hm.")],
        ),
        (
            {"role": "assistant", "content": [
                {"type": "reasoning", "summary": [{"text": "Hm."}]}, {"type": "text",
                "text": ANSWER}]},
            [thinks("Hm."), ANSWER],
        ),
        (
            {"role": "assistant", "parts": [{"text": "Hm.", "thought": True}, {"text": ANSWER}]},
            [thinks("Hm."), ANSWER],
        ),
        (
            {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm."}}}]},
            [thinks("Hm.")],
        ),
        ({"role": "assistant", "content": '{"answer": 21}'}, ['{"answer": 21}']),
        (
            {"type": "ai", "content": [{"type": "tool_use", "id": "c1", "name": "get_weather",
                "input": CITY}], "tool_calls": [{"id": "c1", "name": "get_weather", "args": CITY}]},
            [calls()],
        ),
    ],
)  # fmt: skip
def test_an_answer_is_found_in_every_format(content: Any, parts: list[Any]) -> None:
    expected = [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]
    assert normalize_messages(content, "assistant") == [{"role": "assistant", "parts": expected}]


def test_tool_calls_that_vercel_sends_beside_the_text_are_added() -> None:
    beside = {"ai.response.toolCalls": orjson.dumps(
        [{"toolCallId": "c1", "toolName": "get_weather", "input": TEXT}]).decode()}  # fmt: skip
    [message] = normalize_messages("Let me look.", "assistant", beside) or []
    assert message["parts"] == [{"type": "text", "text": "Let me look."}, calls()]


@pytest.mark.parametrize(
    ("block", "media_type", "url"),
    [
        ({"type": "image_url", "image_url": {"url": "https://x/1.png"}}, "image", "https://x/1.png"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,A"}}, "image/png", None),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A"}},
            "image/png",
            None,
        ),
        ({"type": "image", "image": {"image": {"url": "https://x/1.png"}}}, "image", "https://x/1.png"),
        ({"type": "uri", "modality": "video", "uri": "gs://x"}, "video", "gs://x"),
        ({"inlineData": {"mimeType": "audio/wav", "data": "A"}}, "audio/wav", None),
        ({"media": {"url": "https://x/1.png", "contentType": "image/png"}}, "image/png",
         "https://x/1.png"),
    ],
)  # fmt: skip
def test_media_is_described_without_its_bytes(
    block: dict[str, Any], media_type: str, url: str | None
) -> None:
    [message] = normalize_messages([{"role": "user", "content": [block]}], "user") or []
    [part] = message["parts"]
    assert (part["type"], part["mediaType"], part["url"]) == ("media", media_type, url)


def test_an_unknown_part_stays_as_data() -> None:
    block = {"type": "holo", "value": 3}
    [message] = normalize_messages([{"role": "user", "content": [block]}], "user") or []
    assert message["parts"] == [{"type": "data", "value": block}]


def test_an_answer_of_mastra_has_its_text_and_its_calls() -> None:
    call = {"toolCallId": "c1", "toolName": "get_weather", "args": CITY}
    [message] = normalize_messages({"text": ANSWER, "toolCalls": [call]}, "assistant") or []
    assert message == {"role": "assistant", "parts": [*says("assistant", ANSWER)["parts"], calls()]}


def test_langchain_js_names_the_class_of_a_message() -> None:
    path = ["langchain_core", "messages", "HumanMessage"]
    sent = {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": ASK}}
    assert normalize_messages({"messages": [sent]}, "assistant") == [says("user", ASK)]


def test_results_of_autogen_are_json_in_a_list() -> None:
    result = {"name": "get_weather", "content": "21 degrees", "call_id": "c1"}
    sent = {"role": "function", "function": [orjson.dumps(result).decode()]}
    expected = [{"role": "tool", "parts": [returns("21 degrees")]}]
    assert normalize_messages([sent], "user") == expected


def test_what_smolagents_calls_its_roles_is_known() -> None:
    sent = [
        {"role": "tool-call", "contents": [{"type": "text", "text": "Calling tools"}]},
        {"role": "tool-response", "contents": [{"type": "text", "text": "21 degrees"}]},
    ]
    expected = [says("assistant", "Calling tools"), says("tool", "21 degrees")]
    assert normalize_messages(sent, "user") == expected


@pytest.mark.parametrize(
    "content",
    [None, "", [], {}, 3, True, [1, 2], {"invoice": 3}, CITY, {"input": "Paris"}, {"output": "x"}],
)
def test_other_content_is_no_conversation(content: Any) -> None:
    assert normalize_messages(content, "user") is None


_NAMES = st.sampled_from(
    ["role", "content", "parts", "type", "message", "messages", "output", "input", "tool_calls",
     "data", "kwargs", "toolUse", "image", "source", "function", "summary", "text", "generations"]
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers()
    | st.sampled_from(["", "user", "tool", "{", '[{"a":1}]', "reasoning", "tool_call", "image"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(_VALUES)
def test_any_json_is_taken(content: Any) -> None:
    for message in normalize_messages(content, "user") or []:
        assert isinstance(message["role"], str)
        assert all(part["type"] for part in message["parts"])
        orjson.dumps(message)


def test_deep_json_is_taken() -> None:
    content: Any = "x"
    for _ in range(500):
        content = {"output": [content]}
    assert normalize_messages(content, "user") is None
