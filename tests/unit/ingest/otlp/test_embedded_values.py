"""Embedded values become attributes."""

import orjson
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.otlp.embedded_values import extract_embedded_values, may_have_embedded_values
from spanwise.ingest.records.frames import Scope


def span_with(attributes: dict[str, str]) -> Span:
    span = Span()
    for key, text in attributes.items():
        span.attributes.add(key=key).value.string_value = text
    return span


def texts(span: Span) -> dict[str, str]:
    return {a.key: a.value.string_value for a in span.attributes}


def added(attributes: dict[str, str]) -> dict[str, str]:
    span = span_with(attributes)
    extract_embedded_values(span)
    return {k: v for k, v in texts(span).items() if k.startswith("spanwise.")}


def test_disjoint_token_counts_are_summed() -> None:
    usage = orjson.dumps({"input": 56, "input_cached_tokens": 64, "output": 18}).decode()
    found = added({"langfuse.observation.usage_details": usage})
    assert found["spanwise.langfuse.observation.usage_details.input"] == "120"
    assert found["spanwise.langfuse.observation.usage_details.input_cached_tokens"] == "64"
    assert found["spanwise.langfuse.observation.usage_details.output"] == "18"


@pytest.mark.parametrize(
    ("costs", "found"),
    [
        # What the wrapper in JavaScript writes when it does not know the cost.
        ({"input": 0, "output": 0, "total": 0}, {}),
        ({"input": 0.5, "output": 0, "total": 0.5}, {"total": "0.5", "*": "1.0"}),
    ],
)
def test_a_cost_of_0_that_means_unknown_is_left_out(
    costs: dict[str, float], found: dict[str, str]
) -> None:
    document = "langfuse.observation.cost_details"
    expected = {f"spanwise.{document}.{name}": value for name, value in found.items()}
    assert added({document: orjson.dumps(costs).decode()}) == expected


def test_a_nested_member_is_found() -> None:
    output = orjson.dumps({"usage": {"inputTokens": 7}}).decode()
    assert added({"genkit:output": output}) == {"spanwise.genkit:output.usage.inputTokens": "7"}


@pytest.mark.parametrize("text", ["{broken", "[]", '"text"', "null", '{"input_tokens": true}'])
def test_a_document_without_the_member_adds_nothing(text: str) -> None:
    assert added({"mlflow.chat.tokenUsage": text}) == {}


def test_a_document_of_too_many_values_is_not_parsed() -> None:
    output = '{"usage": {"inputTokens": 7}, "a": [%s0]}'
    assert added({"genkit:output": output % ("0," * 1000)}) != {}
    assert added({"genkit:output": output % ("0," * 100_000)}) == {}


def test_a_name_applies_only_with_the_matching_attribute() -> None:
    model = added({"genkit:name": "gpt", "genkit:metadata:subtype": "model"})
    assert model == {"spanwise.genkit:name.model": "gpt"}
    assert added({"genkit:name": "main", "genkit:metadata:subtype": "flow"}) == {}


def test_pieces_are_joined_in_order_and_removed() -> None:
    span = span_with(
        {
            "gen_ai.prompt.10.content": "eleventh",
            "gen_ai.prompt.2.content": "third",
            "gen_ai.prompt.2.role": "user",
            "kept": "yes",
        }
    )
    assert extract_embedded_values(span)
    found = texts(span)
    assert orjson.loads(found.pop("spanwise.pieces.input")) == [
        {"content": "third", "role": "user"},
        {"content": "eleventh"},
    ]
    assert found == {"kept": "yes"}


def test_tool_calls_in_pieces_become_lists() -> None:
    call = "llm.output_messages.0.message.tool_calls.0.tool_call"
    found = added({f"{call}.id": "c1", f"{call}.function.name": "search"})
    assert orjson.loads(found["spanwise.pieces.output"]) == [
        {"tool_calls": [{"id": "c1", "function": {"name": "search"}}]}
    ]


@pytest.mark.parametrize(
    ("whole", "pieces"),
    [
        ("gen_ai.input.messages", {"role": "user", "content": "Hi"}),
        ("input.value", {"role": "user"}),
    ],
)
def test_pieces_of_a_complete_content_are_dropped(whole: str, pieces: dict[str, str]) -> None:
    named = {f"llm.input_messages.0.message.{name}": text for name, text in pieces.items()}
    span = span_with({whole: "whole", **named})
    assert extract_embedded_values(span)
    assert texts(span) == {whole: "whole"}


def test_pieces_replace_the_value_that_repeats_them() -> None:
    piece = {"llm.input_messages.0.message.content": "Hi"}
    span = span_with({"input.value": "ChatMessage(content='Hi')", **piece})
    assert extract_embedded_values(span)
    assert texts(span) == {"spanwise.pieces.input": '[{"content":"Hi"}]'}


@pytest.mark.parametrize("name", ["0." * 5000, "9" * 5000], ids=["deep", "long number"])
def test_a_piece_may_have_any_name(name: str) -> None:
    found = added({f"gen_ai.prompt.{name}": "text", "gen_ai.prompt.0.content": "hello"})
    assert "text" in found["spanwise.pieces.input"]
    assert "hello" in found["spanwise.pieces.input"]


def test_only_scopes_with_a_marker_are_searched() -> None:
    folded = Scope.of(span_with({"mlflow.chat.tokenUsage": "{}"}).SerializeToString())
    assert may_have_embedded_values("anything", folded.has)
    assert not may_have_embedded_values("anything", folded._replace(end=5).has)
