"""Malformed, oversized and absurd exports get a clear error and store nothing."""

import gzip
import os
import struct
import time
from datetime import UTC, datetime
from typing import Any

import httpx
import orjson
import pytest
import zstandard
from google.protobuf import json_format
from google.rpc import code_pb2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.proto.common.v1.common_pb2 import AnyValue

from spanwise.ingest.compression import MAX_BODY_BYTES
from support.otlp import (
    JSON,
    SECOND,
    Exporter,
    make_logs,
    make_metrics,
    make_span,
    make_traces,
    pairs,
    status_of,
)
from support.service import Person, Service, assert_error
from support.spans import span

DAY = 86_400 * SECOND


async def stored_traces(person: Person) -> int:
    response = await person.call("GET", "/spans/traces")
    total: int = response.json()["pagination"]["total"]
    return total


def assert_refused(response: httpx.Response, status: int, words: str) -> None:
    assert response.status_code == status, response.content
    refusal = status_of(response)
    assert refusal.code == code_pb2.INVALID_ARGUMENT
    assert words in refusal.message


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
async def test_a_decompression_bomb_is_413_and_stores_nothing(
    exporter: Exporter, person: Person, pack: Any
) -> None:
    encoding = "gzip" if pack is gzip.compress else "zstd"
    bomb = pack(bytes(200 * 2**20))
    assert_refused(await exporter.post(bomb, content_encoding=encoding), 413, "larger than")
    assert await stored_traces(person) == 0


async def test_a_body_over_the_limit_is_413(exporter: Exporter) -> None:
    assert_refused(await exporter.post(bytes(MAX_BODY_BYTES + 1)), 413, "larger than")


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "zstd"])
async def test_garbage_compression_is_400(exporter: Exporter, encoding: str) -> None:
    response = await exporter.post(b"not packed", content_encoding=encoding)
    assert_refused(response, 400, f"not valid {encoding}")


async def test_a_truncated_gzip_body_is_400(exporter: Exporter, person: Person) -> None:
    packed = gzip.compress(make_traces([make_span()]).SerializeToString())
    assert_refused(await exporter.post(packed[:-4], content_encoding="gzip"), 400, "too early")
    assert await stored_traces(person) == 0


async def test_an_unknown_encoding_is_400(exporter: Exporter) -> None:
    assert_refused(await exporter.post(b"x", content_encoding="br"), 400, "Content-Encoding")


async def test_a_truncated_message_is_400(exporter: Exporter, person: Person) -> None:
    body = make_traces([make_span(), make_span()]).SerializeToString()
    assert_refused(await exporter.post(body[:-9]), 400, "ExportTraceServiceRequest")
    assert await stored_traces(person) == 0


@pytest.mark.parametrize("count", [10_000, 10_001])
async def test_ten_thousand_spans_are_accepted_and_one_more_is_not(
    exporter: Exporter, person: Person, count: int
) -> None:
    trace_id, start = os.urandom(16), time.time_ns()
    spans = [
        make_span(trace_id, struct.pack(">Q", n + 1), name="s", start=start) for n in range(count)
    ]
    response = await exporter.post(make_traces(spans))
    if count > 10_000:
        assert_refused(response, 400, "at most 10,000")
        assert await stored_traces(person) == 0
    else:
        assert response.status_code == 200
        assert await stored_traces(person) == 1


@pytest.mark.parametrize(
    "ids",
    [
        {"trace_id": b""},
        {"trace_id": b"x" * 15},
        {"trace_id": b"x" * 20},
        {"span_id": b""},
        {"span_id": b"x" * 9},
    ],
)
async def test_spans_with_invalid_ids_alone_are_400(
    exporter: Exporter, person: Person, ids: dict[str, Any]
) -> None:
    response = await exporter.post(make_traces([make_span(**ids)]))
    assert_refused(response, 400, "traceId (16 bytes)")
    assert await stored_traces(person) == 0


async def test_a_json_id_that_is_not_hex_is_400(exporter: Exporter) -> None:
    spans = [{"traceId": "zz" * 16, "spanId": "ab" * 8, "name": "x"}]
    body = orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    response = await exporter.post(body, content_type=JSON)
    assert response.status_code == 400
    assert "traceId: must be 32 hex digits" in response.json()["message"]


async def test_invalid_utf8_is_400(exporter: Exporter, person: Person) -> None:
    body = make_traces([make_span(name="NAME")]).SerializeToString()
    response = await exporter.post(body.replace(b"NAME", b"\xff\xfe\xfd\xfc"))
    assert_refused(response, 400, "ExportTraceServiceRequest")
    assert await stored_traces(person) == 0


@pytest.mark.parametrize("year", [1970, 1999, 2201])
async def test_impossible_times_are_refused_with_a_clear_message(
    exporter: Exporter, person: Person, year: int
) -> None:
    start = (year - 1970) * 31_556_952 * SECOND + 1
    assert_refused(await exporter.post(make_traces([make_span(start=start)])), 400, "start time")
    assert await stored_traces(person) == 0


@pytest.mark.parametrize("offset", [-DAY, DAY])
async def test_a_clock_that_is_a_day_off_is_accepted(
    exporter: Exporter, person: Person, offset: int
) -> None:
    span = make_span(start=time.time_ns() + offset)
    assert (await exporter.post(make_traces([span]))).status_code == 200
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    assert trace["spanCount"] == 1


@pytest.mark.parametrize("end", [0, 1, 2**64 - 1])
async def test_an_extreme_end_time_gives_no_negative_duration(
    exporter: Exporter, person: Person, end: int
) -> None:
    span = make_span()
    span.end_time_unix_nano = end
    assert (await exporter.post(make_traces([span]))).status_code == 200
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    assert trace["durationMs"] >= 0
    listed = await person.data("GET", "/spans/traces")
    assert [found["traceId"] for found in listed] == [span.trace_id.hex()]


async def test_an_impossible_end_time_gives_no_duration(exporter: Exporter, person: Person) -> None:
    for end in (2**64 - 1, time.time_ns() + 3 * DAY):
        span = make_span()
        span.end_time_unix_nano = end
        assert (await exporter.post(make_traces([span]))).status_code == 200
        trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
        assert trace["durationMs"] == 0


async def test_partial_success_names_rejected_spans_and_reasons(
    exporter: Exporter, person: Person
) -> None:
    old, nameless = make_span(start=SECOND), make_span(span_id=b"")
    request = make_traces([make_span(), old, old])
    request.MergeFrom(make_traces([nameless, make_span()]))
    response = await exporter.post(request)
    assert response.status_code == 200
    partial = ExportTraceServiceResponse.FromString(response.content).partial_success
    assert partial.rejected_spans == 3
    assert partial.error_message == (
        "the start time must lie after 1999 and at most two days ahead: 2 of the spans, the first "
        "at index 1; spanId must be 8 bytes and not all zeros: 1 of the spans, the first at index 3"
    )
    assert await stored_traces(person) == 2


@pytest.mark.parametrize("cost", [1e30, 1e6, -5.0, float("nan"), float("inf")])
async def test_an_unusable_cost_is_ignored_and_its_attribute_kept(
    exporter: Exporter, person: Person, cost: float
) -> None:
    span = make_span(
        gen_ai__operation__name="chat",
        gen_ai__request__model="gpt-4o-mini",
        gen_ai__provider__name="openai",
        gen_ai__usage__input_tokens=1_000_000,
        gen_ai__usage__cost=cost,
    )
    assert (await exporter.post(make_traces([span]))).status_code == 200
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    assert trace["cost"] == pytest.approx(0.15)
    assert "gen_ai.usage.cost" in trace["spans"][0]["attributes"]


async def test_cached_tokens_do_not_overflow(exporter: Exporter, person: Person) -> None:
    span = make_span(
        gen_ai__operation__name="chat",
        gen_ai__usage__cache_read__input_tokens=2**32 - 1,
        gen_ai__usage__cache_creation__input_tokens=2**32 - 1,
    )
    assert (await exporter.post(make_traces([span]))).status_code == 200
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    assert trace["inputTokens"] == 2**32 - 1


async def test_nan_and_infinity_are_kept_as_attributes_and_not_summed(
    exporter: Exporter, person: Person
) -> None:
    span = make_span(
        gen_ai__operation__name="chat",
        gen_ai__usage__input_tokens=float("nan"),
        gen_ai__usage__output_tokens=float("inf"),
        gen_ai__usage__cost=float("-inf"),
        temperature=float("nan"),
    )
    assert (await exporter.post(make_traces([span]))).status_code == 200
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    assert (trace["inputTokens"], trace["outputTokens"], trace["cost"]) == (0, 0, 0)
    assert trace["spans"][0]["attributes"]["temperature"] == "nan"


async def test_nan_in_json_is_not_json(exporter: Exporter) -> None:
    response = await exporter.post(b'{"resourceSpans": [NaN]}', content_type=JSON)
    assert response.status_code == 400


async def test_negative_and_huge_token_counts_do_not_distort_sums(
    exporter: Exporter, person: Person
) -> None:
    span = make_span(
        gen_ai__operation__name="chat",
        gen_ai__usage__input_tokens=-5,
        gen_ai__usage__output_tokens=2**62,
    )
    assert (await exporter.post(make_traces([span]))).status_code == 200
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    assert trace["inputTokens"] >= 0
    assert trace["totalTokens"] >= 0


async def test_fields_are_found_among_ten_thousand_attributes(
    exporter: Exporter, person: Person
) -> None:
    span = make_span(gen_ai__operation__name="chat", gen_ai__request__model="gpt-4o")
    span.attributes.extend(pairs({f"key.{n}": n for n in range(10_000)}))
    assert (await exporter.post(make_traces([span]))).status_code == 200
    path = f"/spans/traces/{span.trace_id.hex()}/spans/{span.span_id.hex()}"
    found = await person.data("GET", path)
    assert found["model"] == "gpt-4o"
    assert found["attributes"]["key.9999"] == 9999


async def test_values_over_a_mebibyte_are_cut_with_a_marker(
    exporter: Exporter, person: Person
) -> None:
    long = "ü" * 2**20
    span = make_span(notes=long, nested={"list": [long]}, input__value=long)
    span.events.add(name="note", time_unix_nano=time.time_ns(), attributes=pairs({"text": long}))
    assert (await exporter.post(make_traces([span]))).status_code == 200
    path = f"/spans/traces/{span.trace_id.hex()}/spans/{span.span_id.hex()}"
    found = await person.data("GET", path)
    kept = {
        "attribute": found["attributes"]["notes"],
        "nested": found["attributes"]["nested"]["list"][0],
        "input": found["input"],
        "event": found["events"][0]["attributes"]["text"],
    }
    for place, text in kept.items():
        assert text.endswith("[cut at 1 MiB]"), place
        assert len(text.encode()) < 2**20 + 50, place


async def test_long_log_messages_are_cut_with_a_marker(exporter: Exporter, person: Person) -> None:
    response = await exporter.post(make_logs("x" * (2**20 + 10)), "/v1/logs")
    assert response.status_code == 200
    (found,) = await person.data("GET", "/logs")
    assert found["message"].endswith("[cut at 1 MiB]")


@pytest.mark.parametrize("zero", ["trace_id", "span_id"])
async def test_an_id_of_zeros_is_no_id(exporter: Exporter, zero: str) -> None:
    ids: dict[str, Any] = {zero: bytes(16 if zero == "trace_id" else 8)}
    assert_refused(await exporter.post(make_traces([make_span(**ids)])), 400, "traceId")


async def test_internal_fields_in_a_body_do_not_change_its_workspace(
    service: Service, exporter: Exporter, person: Person
) -> None:
    victim = await service.sign_up()
    workspace = victim.user["defaultWorkspaceId"].encode()
    span = make_span()
    # Fields that ingest itself adds to a scope, sent by a client.
    flat = b"\xa2\x06" + _varint(len(workspace)) + workspace
    head = b"\x0a" + _varint(len(workspace)) + workspace
    inside = b"\xa2\x06" + _varint(len(head)) + head
    for planted in (flat, inside):
        data = b"\x12" + _varint(len(span.SerializeToString())) + span.SerializeToString()
        scope = b"\x12" + _varint(len(data + planted)) + data + planted
        response = await exporter.post(b"\x0a" + _varint(len(scope)) + scope)
        assert response.status_code in {200, 400}
    assert await stored_traces(victim) == 0
    assert await stored_traces(person) == 1


def nested(depth: int) -> Any:
    value: Any = "leaf"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [1, 20, 40])
async def test_nested_values_are_returned_unchanged(
    exporter: Exporter, person: Person, depth: int
) -> None:
    span = make_span(deep=nested(depth))
    assert (await exporter.post(make_traces([span]))).status_code == 200
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    assert trace["spans"][0]["attributes"]["deep"] == nested(depth)


@pytest.mark.parametrize("depth", [100, 3_000])
async def test_values_nested_too_deep_are_400(
    exporter: Exporter, person: Person, depth: int
) -> None:
    # Encoded by hand, because the library does not support this depth either.
    value = AnyValue(string_value="leaf").SerializeToString()
    for _ in range(depth):
        inner = b"\x0a" + _varint(len(value)) + value
        value = b"\x2a" + _varint(len(inner)) + inner
    pair = b"\x0a\x04deep\x12" + _varint(len(value)) + value
    span = make_span().SerializeToString() + b"\x4a" + _varint(len(pair)) + pair
    scope = b"\x12" + _varint(len(span)) + span
    resource = b"\x12" + _varint(len(scope)) + scope
    response = await exporter.post(b"\x0a" + _varint(len(resource)) + resource)
    assert_refused(response, 400, "ExportTraceServiceRequest")
    assert await stored_traces(person) == 0


@pytest.mark.parametrize("depth", [100, 200_000])
async def test_json_nested_too_deep_is_400(exporter: Exporter, depth: int) -> None:
    value = b'{"arrayValue":{"values":[' * depth + b"{}" + b"]}}" * depth
    body = (
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"' + b"ab" * 16
        + b'","spanId":"' + b"cd" * 8 + b'","startTimeUnixNano":"1700000000000000000",'
        b'"attributes":[{"key":"deep","value":' + value + b"}]}]}]}]}"
    )  # fmt: skip
    response = await exporter.post(body, content_type=JSON)
    assert response.status_code == 400
    assert response.json()["code"] == code_pb2.INVALID_ARGUMENT


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"[]",
        b'"text"',
        b'{"resourceSpans": null}',
        b'{"resourceSpans": [null]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [null]}]}]}',
        b'{"resourceSpans": {"a": 1}}',
        b'{"resourceSpans": [{"scopeSpans": "x"}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": 5}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": "x"}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"startTimeUnixNano": -1}]}]}]}',
        b'{"resourceSpans": [{"scopeSpans": [{"spans": [{"attributes": [{"key": 1}]}]}]}]}',
    ],
)
async def test_nulls_and_wrong_types_in_json_are_no_server_error(
    exporter: Exporter, body: bytes
) -> None:
    response = await exporter.post(body, content_type=JSON)
    assert response.status_code in {200, 400}, response.text
    if response.status_code == 400:
        assert response.json()["message"]


async def test_null_characters_in_texts_are_kept(exporter: Exporter, person: Person) -> None:
    span = make_span(name="a\x00b", text="c\x00d")
    assert (await exporter.post(make_traces([span]))).status_code == 200
    trace = await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")
    assert trace["spans"][0]["attributes"]["text"] == "c\x00d"


async def test_an_empty_value_and_an_empty_key_are_no_server_error(
    exporter: Exporter, person: Person
) -> None:
    span = make_span()
    span.attributes.add(key="empty")
    span.attributes.extend(pairs({"": "no key"}))
    assert (await exporter.post(make_traces([span]))).status_code == 200
    await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")


@pytest.mark.parametrize(
    "values",
    [
        {"gen_ai.evaluation.name": "good", "gen_ai.evaluation.score.value": float("nan")},
        {"gen_ai.evaluation.name": "", "gen_ai.evaluation.score.value": 1.0},
        {"gen_ai.evaluation.name": "x" * 5000, "gen_ai.evaluation.score.value": 1.0},
        {
            "gen_ai.evaluation.name": "good",
            "gen_ai.evaluation.score.value": 1.0,
            "gen_ai.evaluation.explanation": 5,
        },
        {
            "gen_ai.evaluation.name": "good",
            "gen_ai.evaluation.score.value": 1.0,
            "gen_ai.evaluation.explanation": "x" * 100_000,
        },
    ],
)
@pytest.mark.parametrize("moment", [0, 1, 2**64 - 1])
async def test_an_invalid_evaluation_event_does_not_reject_the_span(
    exporter: Exporter, person: Person, values: dict[str, Any], moment: int
) -> None:
    span = make_span()
    span.events.add(
        name="gen_ai.evaluation.result", time_unix_nano=moment, attributes=pairs(values)
    )
    response = await exporter.post(make_traces([span]))
    assert response.status_code == 200, response.content
    await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")


async def test_a_log_with_an_odd_trace_id_is_kept_without_it(exporter: Exporter) -> None:
    response = await exporter.post(make_logs(trace_id=b"odd"), "/v1/logs")
    assert (response.status_code, response.content) == (200, b"")


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
async def test_a_corrupt_body_is_never_a_server_error(
    exporter: Exporter, data: st.DataObject
) -> None:
    request = data.draw(
        st.sampled_from([make_traces([make_span(a=1, b=[1, "x"])]), make_logs(), make_metrics()])
    )
    as_json = data.draw(st.booleans())
    body = bytearray(
        json_format.MessageToJson(request).encode() if as_json else request.SerializeToString()
    )
    for _ in range(data.draw(st.integers(1, 8))):
        position = data.draw(st.integers(0, len(body) - 1))
        body[position] = data.draw(st.integers(0, 255))
    path = data.draw(st.sampled_from(["/v1/traces", "/v1/logs", "/v1/metrics"]))
    content_type = JSON if as_json else "application/x-protobuf"
    response = await exporter.post(bytes(body), path, content_type)
    assert response.status_code in {200, 400}, response.content


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


async def test_items_of_more_than_13_months_in_one_request_are_refused(
    exporter: Exporter, person: Person
) -> None:
    def months(count: int) -> list[int]:
        return [time.time_ns() - 31 * DAY * number for number in range(count)]

    # Spans with an impossible start time are rejected as usual, and belong to no month.
    good = make_traces([*(make_span(start=start) for start in months(13)), make_span(start=1)])
    assert (await exporter.post(good)).status_code == 200
    assert await stored_traces(person) == 13
    many = make_traces([make_span(start=start) for start in months(300)])
    assert_refused(await exporter.post(many), 400, "300 months; at most 13")
    logs = make_logs()
    for start in months(300):
        logs.resource_logs[0].scope_logs[0].log_records.add(time_unix_nano=start)
    assert_refused(await exporter.post(logs, "/api/otlp/v1/logs"), 400, "at most 13")
    times = [datetime.fromtimestamp(start / SECOND, UTC) for start in months(30)]
    answer = await person.call("POST", "/spans", json={"spans": [span(start=at) for at in times]})
    assert_error(answer, 400)
    assert await stored_traces(person) == 13
