"""Evaluation results of every form are converted to signals."""

from typing import Any

import pytest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.otlp.evaluations import find_in_records, find_in_span
from support.otlp import pairs

MOMENT = 1_700_000_000_000_000_000
TRACE, SPAN = b"t" * 16, b"s" * 8
RESULT = {
    "gen_ai.evaluation.name": "relevance",
    "gen_ai.evaluation.score.value": 0.5,
    "gen_ai.evaluation.explanation": "half of it",
    "gen_ai.evaluation.score.label": "fair",
}


def span_with_event(values: dict[str, Any]) -> Span:
    span = Span(trace_id=TRACE, span_id=SPAN)
    span.events.add(
        name="gen_ai.evaluation.result", time_unix_nano=MOMENT, attributes=pairs(values)
    )
    return span


def span_with(values: dict[str, Any], *links: Span.Link) -> Span:
    return Span(
        trace_id=TRACE,
        span_id=SPAN,
        start_time_unix_nano=MOMENT,
        attributes=pairs(values),
        links=links,
    )


def feedback(prefix: str, **fields: Any) -> dict[str, Any]:
    kind = prefix.rsplit(".", maxsplit=1)[-1].removesuffix("s")
    return {f"{prefix}.0.{kind}.{field}": value for field, value in fields.items()}


def test_an_event_is_a_signal_with_a_stable_id() -> None:
    first, again = (find_in_span(span_with_event(RESULT)) for _ in range(2))
    assert first == again
    [signal] = first
    assert (signal.signal_name, signal.value) == ("relevance", 0.5)
    assert (signal.comment, signal.metadata) == ("half of it", {"label": "fair"})
    assert (signal.trace_id, signal.span_id) == (TRACE.hex(), SPAN.hex())


@pytest.mark.parametrize("score", [1e16, -1e308, 2**60, float("nan"), float("inf"), True, "1"])
def test_a_result_with_an_unusable_score_is_no_signal(score: Any) -> None:
    values = {"gen_ai.evaluation.name": "relevance", "gen_ai.evaluation.score.value": score}
    assert find_in_span(span_with_event(values)) == []


@pytest.mark.parametrize(
    ("label", "values"), [("Pass", [1]), ("failed", [0]), ("fair", []), (None, [])]
)
def test_a_label_without_a_score_counts_if_it_is_plain(label: Any, values: list[int]) -> None:
    given = {"gen_ai.evaluation.name": "relevance"}
    given |= {"gen_ai.evaluation.score.label": label} if label else {}
    assert [signal.value for signal in find_in_span(span_with_event(given))] == values


def make_record(in_body: bool, **fields: Any) -> LogRecord:
    record = LogRecord(time_unix_nano=MOMENT, **fields)
    if in_body:
        record.body.kvlist_value.values.extend(pairs(RESULT))
        record.attributes.extend(pairs({"event.name": "gen_ai.evaluation.result"}))
    else:
        record.event_name = "gen_ai.evaluation.result"
        record.attributes.extend(pairs(RESULT))
    return record


@pytest.mark.parametrize("in_body", [False, True])
def test_a_log_record_is_a_signal(in_body: bool) -> None:
    record = make_record(in_body, trace_id=TRACE, span_id=SPAN)
    [signal] = find_in_records([record])
    assert [signal] == find_in_records([record])
    assert (signal.signal_name, signal.value, signal.comment) == ("relevance", 0.5, "half of it")
    assert (signal.trace_id, signal.span_id) == (TRACE.hex(), SPAN.hex())
    assert signal.timestamp is not None
    assert signal.timestamp.timestamp() == MOMENT / 1e9


def test_other_records_and_bad_ids_are_ignored() -> None:
    other = LogRecord(time_unix_nano=MOMENT, event_name="other", attributes=pairs(RESULT))
    [signal] = find_in_records([other, make_record(in_body=False, trace_id=b"x", span_id=b"y")])
    assert (signal.trace_id, signal.span_id) == (None, None)


def test_an_annotation_is_about_the_span_that_has_it() -> None:
    values = feedback(
        "annotations",
        name="hallucination",
        score=1,
        label="hallucinated",
        explanation="no source",
        annotator_kind="LLM",
        metadata='{"judge": "v2", "nested": {"dropped": 1}}',
    )
    [signal] = find_in_span(span_with(values, Span.Link(trace_id=b"o" * 16, span_id=b"p" * 8)))
    assert (signal.signal_name, signal.value, signal.comment) == ("hallucination", 1, "no source")
    assert (signal.trace_id, signal.span_id) == (TRACE.hex(), SPAN.hex())
    assert signal.metadata == {"judge": "v2", "label": "hallucinated", "annotatorKind": "LLM"}


def test_an_evaluation_is_about_the_linked_span() -> None:
    link = Span.Link(trace_id=b"o" * 16, span_id=b"p" * 8)
    values = feedback("evaluations", name="correct", score=0.25)
    [signal] = find_in_span(span_with(values, link))
    assert (signal.trace_id, signal.span_id) == ((b"o" * 16).hex(), (b"p" * 8).hex())
    for links in ([], [link, link], [Span.Link(trace_id=b"o")]):
        [signal] = find_in_span(span_with(values, *links))
        assert (signal.trace_id, signal.span_id) == (TRACE.hex(), SPAN.hex())


def test_a_scope_widens_the_target() -> None:
    [signal] = find_in_span(span_with(feedback("trace.annotations", name="n", score=1)))
    assert (signal.trace_id, signal.span_id, signal.session_id) == (TRACE.hex(), None, None)
    session = {"session.id": "s1", **feedback("session.evaluations", name="n", score=1)}
    [signal] = find_in_span(span_with(session))
    assert (signal.trace_id, signal.span_id, signal.session_id) == (None, None, "s1")


def test_an_identifier_makes_a_later_result_replace_the_earlier() -> None:
    link = Span.Link(trace_id=b"o" * 16, span_id=b"p" * 8)

    def judge(span_id: bytes, **fields: Any) -> str | None:
        values = feedback("evaluations", name="correct", score=0, **fields)
        span = span_with(values, link)
        span.span_id = span_id
        [signal] = find_in_span(span)
        return signal.id

    assert judge(b"1" * 8) != judge(b"2" * 8)
    assert judge(b"1" * 8, identifier="v2") == judge(b"2" * 8, identifier="v2")
    assert judge(b"1" * 8, identifier="v2") != judge(b"1" * 8, identifier="v3")
