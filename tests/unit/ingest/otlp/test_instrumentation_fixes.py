"""Spans are corrected by their instrumentation."""

import math
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.otlp.instrumentation_fixes import find_corrections
from support.otlp import make_span


def corrected(span: Span, scope: str) -> dict[str, str]:
    for correct in find_corrections(scope, b""):
        correct(span)
    return {a.key: a.value.string_value for a in span.attributes if a.key.startswith("spanwise.")}


def test_a_codex_function_with_a_model_is_no_model_call() -> None:
    span = make_span(parent=b"p" * 8, name="get_model_info", model="gpt-5-codex")
    assert corrected(span, "codex_exec") == {"spanwise.kind": "other"}


@pytest.mark.parametrize(
    ("name", "is_internal"),
    [("auth", True), ("fs.read_file", True), ("thread/start", True), ("turn/start", False)],
)
def test_a_codex_root_outside_of_prompts_is_no_trace(name: str, is_internal: bool) -> None:
    assert ("spanwise.internal" in corrected(make_span(name=name), "codex_cli_rs")) is is_internal


@pytest.mark.parametrize("counts", [{"input_tokens": 7}, {"input_tokens": "x"}, {}])
def test_an_input_without_cached_tokens_stays(counts: dict[str, Any]) -> None:
    span = make_span(name="claude_code.llm_request", **counts)
    assert "spanwise.input_tokens" not in corrected(span, "com.anthropic.claude_code.tracing")


def test_counts_may_be_text_or_numbers() -> None:
    counts: dict[str, Any] = {"input_tokens": "5", "cache_read_tokens": 3.0}
    span = make_span(name="claude_code.llm_request", **counts)
    found = corrected(span, "com.anthropic.claude_code.tracing")
    assert found["spanwise.input_tokens"] == "8"


@pytest.mark.parametrize("count", ["9" * 5000, math.inf, math.nan])
def test_a_count_that_is_no_number_of_tokens_is_not_added(count: Any) -> None:
    span = make_span(name="claude_code.llm_request", input_tokens="5", cache_read_tokens=count)
    assert "spanwise.input_tokens" not in corrected(span, "com.anthropic.claude_code.tracing")


def test_other_scopes_are_not_corrected() -> None:
    assert find_corrections("openinference.instrumentation.openai", b"") == []
