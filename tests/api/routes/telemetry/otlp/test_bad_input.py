"""Malformed and absurd exports get a clear error and store nothing; odd values are stored safely.

What is refused and why is tested on the functions: `tests/unit/ingest`.
"""

import gzip
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from google.rpc import code_pb2
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.compression import MAX_BODY_BYTES
from spanwise.ingest.protobuf_wire import bytes_field
from support.otlp import (
    JSON,
    PROTOBUF,
    SECOND,
    Exporter,
    make_span,
    make_traces,
    pairs,
    status_of,
)
from support.service import Person, Service, assert_error
from support.spans import span as rest_span

DAY = 86_400 * SECOND


def ended(end: int) -> Span:
    span = make_span()
    span.end_time_unix_nano = end
    return span


def chat(**attributes: Any) -> Span:
    return make_span(gen_ai__operation__name="chat", **attributes)


def with_odd_attributes() -> Span:
    span = make_span(name="a\x00b", text="c\x00d")
    span.attributes.add(key="empty")
    span.attributes.extend(pairs({"": "no key"}))
    return span


def with_many_attributes() -> Span:
    span = chat(gen_ai__request__model="gpt-4o")
    span.attributes.extend(pairs({f"key.{n}": n for n in range(10_000)}))
    return span


def with_cost(cost: float) -> Span:
    return chat(
        gen_ai__request__model="gpt-4o-mini",
        gen_ai__provider__name="openai",
        gen_ai__usage__input_tokens=1_000_000,
        gen_ai__usage__cost=cost,
    )


COSTS = [1e30, 1e6, -5.0, float("nan"), float("inf")]
ENDS = [0, 1, 2**64 - 1]
SPANS = {
    **{f"cost {cost}": with_cost(cost) for cost in COSTS},
    **{f"end {end}": ended(end) for end in ENDS},
    "many attributes": with_many_attributes(),
    "odd attributes": with_odd_attributes(),
    "cached tokens": chat(
        gen_ai__usage__cache_read__input_tokens=2**32 - 1,
        gen_ai__usage__cache_creation__input_tokens=2**32 - 1,
    ),
    "not finite": chat(
        gen_ai__usage__input_tokens=float("nan"),
        gen_ai__usage__output_tokens=float("inf"),
        gen_ai__usage__cost=float("-inf"),
        temperature=float("nan"),
    ),
    "negative and huge": chat(gen_ai__usage__input_tokens=-5, gen_ai__usage__output_tokens=2**62),
    "long": make_span(input__value="ü" * 2**20),
}
REJECTED = [make_span(start=SECOND), make_span(span_id=b"")]


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    """A person who has sent all of these spans, and two that are rejected, in one request."""
    person = await shared_service.sign_up()
    exporter = Exporter(shared_service.http, (await person.new_key(scopes=["ingest"]))["key"])
    response = await exporter.post(make_traces([*SPANS.values(), *REJECTED]))
    assert response.status_code == 200
    answer = ExportTraceServiceResponse.FromString(response.content)
    assert answer.partial_success.rejected_spans == len(REJECTED)
    assert "start time" in answer.partial_success.error_message
    return person


async def find(person: Person, name: str) -> dict[str, Any]:
    trace: dict[str, Any] = await person.data("GET", f"/spans/traces/{SPANS[name].trace_id.hex()}")
    return trace


@pytest.mark.parametrize("cost", COSTS)
async def test_an_unusable_cost_is_ignored_and_its_attribute_kept(ada: Person, cost: float) -> None:
    trace = await find(ada, f"cost {cost}")
    assert trace["cost"] == pytest.approx(0.15)
    assert "gen_ai.usage.cost" in trace["spans"][0]["attributes"]


@pytest.mark.parametrize("end", ENDS)
async def test_an_extreme_end_time_gives_no_duration(ada: Person, end: int) -> None:
    assert (await find(ada, f"end {end}"))["durationMs"] == 0


async def test_cached_tokens_do_not_overflow(ada: Person) -> None:
    assert (await find(ada, "cached tokens"))["inputTokens"] == 2**32 - 1


async def test_nan_and_infinity_are_kept_as_attributes_and_not_summed(ada: Person) -> None:
    trace = await find(ada, "not finite")
    assert (trace["inputTokens"], trace["outputTokens"], trace["cost"]) == (0, 0, 0)
    assert trace["spans"][0]["attributes"]["temperature"] == "nan"


async def test_negative_and_huge_token_counts_do_not_distort_sums(ada: Person) -> None:
    trace = await find(ada, "negative and huge")
    assert trace["inputTokens"] >= 0
    assert trace["totalTokens"] >= 0


async def test_fields_are_found_among_ten_thousand_attributes(ada: Person) -> None:
    span = SPANS["many attributes"]
    path = f"/spans/traces/{span.trace_id.hex()}/spans/{span.span_id.hex()}"
    found = await ada.data("GET", path)
    assert found["model"] == "gpt-4o"
    assert found["attributes"]["key.9999"] == 9999


async def test_an_input_over_a_mebibyte_is_cut_with_a_marker(ada: Person) -> None:
    span = SPANS["long"]
    path = f"/spans/traces/{span.trace_id.hex()}/spans/{span.span_id.hex()}"
    text = (await ada.data("GET", path))["input"]
    assert text.endswith("[cut at 1 MiB]")
    assert len(text.encode()) < 2**20 + 50


async def test_null_characters_and_empty_names_and_values_are_kept(ada: Person) -> None:
    attributes = (await find(ada, "odd attributes"))["spans"][0]["attributes"]
    assert attributes["text"] == "c\x00d"
    assert attributes[""] == "no key"


async def test_the_valid_spans_of_an_export_are_stored_and_the_rejected_ones_are_not(
    ada: Person,
) -> None:
    listed = await ada.data("GET", "/spans/traces", params={"limit": 100})
    ids = {trace["traceId"] for trace in listed}
    assert ids == {span.trace_id.hex() for span in SPANS.values()}


def bad_json_id() -> bytes:
    spans = [{"traceId": "zz" * 16, "spanId": "ab" * 8, "name": "x"}]
    return orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})


BODY = make_traces([make_span(), make_span()]).SerializeToString()
REFUSED: dict[str, tuple[bytes, dict[str, str], int, str]] = {
    "bomb": (gzip.compress(bytes(64 * 2**20)), {"content_encoding": "gzip"}, 413, "larger than"),
    "too large": (bytes(MAX_BODY_BYTES + 1), {}, 413, "larger than"),
    "cut gzip": (gzip.compress(BODY)[:-4], {"content_encoding": "gzip"}, 400, "too early"),
    "unknown encoding": (b"x", {"content_encoding": "br"}, 400, "Content-Encoding"),
    "cut message": (BODY[:-9], {}, 400, "ExportTraceServiceRequest"),
    "bad ids alone": (
        make_traces([make_span(span_id=b"")]).SerializeToString(),
        {},
        400,
        "traceId (16 bytes)",
    ),
    "JSON with a bad id": (bad_json_id(), {"content_type": JSON}, 400, "must be 32 hex digits"),
    "JSON of another type": (b"[]", {"content_type": JSON}, 400, "must be a JSON object"),
}


async def test_a_bad_body_is_refused_with_its_problem_and_stores_nothing(
    exporter: Exporter, person: Person
) -> None:
    for name, (body, headers, status, words) in REFUSED.items():
        response = await exporter.post(body, **headers)
        assert response.status_code == status, name
        is_json = response.headers["content-type"] == JSON
        assert is_json == (headers.get("content_type") == JSON), name
        refusal = response.json() if is_json else None
        code = refusal["code"] if refusal else status_of(response).code
        message = refusal["message"] if refusal else status_of(response).message
        assert code == code_pb2.INVALID_ARGUMENT, name
        assert words in message, name
    now = datetime.now(UTC)
    rows = [rest_span(start=now - timedelta(days=31 * number)) for number in range(30)]
    answer = await person.call("POST", "/spans", json={"spans": rows})
    assert_error(answer, 400)
    assert "at most 13" in answer.text
    assert await person.data("GET", "/spans/traces") == []


async def test_internal_fields_in_a_body_do_not_change_its_workspace(
    service: Service, exporter: Exporter, person: Person
) -> None:
    victim = await service.sign_up()
    workspace = victim.user["defaultWorkspaceId"].encode()
    # The field that ingest itself adds to a scope, as a client could send it in two forms.
    for planted in (bytes_field(100, workspace), bytes_field(100, bytes_field(1, workspace))):
        data = bytes_field(2, make_span().SerializeToString()) + planted
        response = await exporter.post(bytes_field(1, bytes_field(2, data)))
        assert response.status_code in {200, 400}
    assert await victim.data("GET", "/spans/traces") == []
    assert len(await person.data("GET", "/spans/traces")) == 2


async def test_a_clock_that_is_a_day_off_is_accepted(person: Person, exporter: Exporter) -> None:
    spans = [make_span(start=time.time_ns() + offset) for offset in (-DAY, DAY)]
    assert (await exporter.post(make_traces(spans), content_type=PROTOBUF)).status_code == 200
    for span in spans:
        trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
        assert trace["spanCount"] == 1
