"""Frames are the received bytes, in which only changed spans are re-encoded."""

import io
from collections.abc import Mapping

import pytest
from google.protobuf.empty_pb2 import Empty
from google.protobuf.proto import parse_length_prefixed
from google.protobuf.unknown_fields import UnknownFieldSet
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from spanwise.ingest.protobuf_wire import varint
from spanwise.ingest.records.frames import (
    Scope,
    frame,
    make_head,
    rewrite_frames,
    set_version,
    split_scopes,
)
from spanwise.model.errors import Invalid
from support.otlp import make_span, pairs

spans = st.lists(
    st.builds(
        Span, name=st.text(max_size=300) | st.just("long" * 9000), span_id=st.binary(max_size=8)
    )
)
scopes = st.lists(st.builds(ScopeSpans, spans=spans, schema_url=st.text(max_size=3)), max_size=3)


def join(scope: Scope, changes: Mapping[int, bytes | None] | None = None) -> bytes:
    return b"".join(scope.parts(changes or {}))


@given(st.lists(scopes, max_size=3))
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_an_export_is_split_by_scope(resources: list[list[ScopeSpans]]) -> None:
    request = ExportTraceServiceRequest()
    for resource in resources:
        request.resource_spans.add(schema_url="s").scope_spans.extend(resource)
    cut = [ScopeSpans.FromString(join(raw)) for raw in split_scopes(request.SerializeToString())]
    assert cut == [scope for resource in resources for scope in resource]


@given(spans, st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_spans_are_replaced_and_removed_in_place(items: list[Span], data: st.DataObject) -> None:
    scope = ScopeSpans(spans=items, schema_url="url")
    scope.scope.name = "name"
    indexes = st.integers(0, max(len(items) - 1, 0))
    chosen = data.draw(st.dictionaries(indexes, st.sampled_from([None, Span(name="new")])))
    chosen = {index: new for index, new in chosen.items() if index < len(items)}
    changes = {i: None if new is None else new.SerializeToString() for i, new in chosen.items()}
    got = ScopeSpans.FromString(join(Scope.of(scope.SerializeToString()), changes))
    expected = [chosen.get(index, item) for index, item in enumerate(items)]
    assert list(got.spans) == [item for item in expected if item is not None]
    assert (got.scope.name, got.schema_url) == ("name", "url")


def test_overlong_varint_lengths_are_split_correctly() -> None:
    one = Span(name="one").SerializeToString()
    padded = b"\x12" + bytes([len(one) | 0x80, 0x00]) + one
    data = padded + b"\x12" + varint(len(one)) + one
    assert len(ScopeSpans.FromString(data).spans) == 2
    scope = Scope.of(data)
    assert join(scope, {1: None}) == padded
    assert join(scope, {0: None}) == data[len(padded) :]
    assert scope.items()[0] == (0, 3, len(padded))


def test_a_group_is_refused() -> None:
    with pytest.raises(Invalid):
        split_scopes(b"\x0b\x0c")


@given(st.lists(spans, max_size=3), st.integers(0, 2**63 - 1), st.integers(0, 2**63 - 1))
def test_every_frame_of_a_record_gets_the_version(
    items: list[list[Span]], first: int, second: int
) -> None:
    head = make_head("wsp_1", Resource())
    raw = [ScopeSpans(spans=some).SerializeToString() for some in items]
    frames = bytearray().join(part for scope in raw for part in frame([scope], head))
    # A record that could not be journaled may be retried with another version.
    for version in (first, second):
        set_version(frames, version)
        stream = io.BytesIO(frames)
        for some in items:
            message = parse_length_prefixed(ScopeSpans, stream)
            assert list(message.spans) == some
            fields = UnknownFieldSet(Empty.FromString(UnknownFieldSet(message)[0].data))
            last = fields[len(fields) - 1]
            assert (last.field_number, last.data) == (2, version)
        assert stream.read() == b""


def test_rewritten_frames_keep_all_but_unknown_fields() -> None:
    head = make_head("wsp_1", Resource(attributes=pairs({"service.name": "shop"})))
    span = make_span(a=1)
    clean = ScopeSpans(spans=[span]).SerializeToString()
    span.attributes[0].MergeFromString(b"\x0b\x0c")
    odd = ScopeSpans(spans=[span]).SerializeToString()
    frames = b"".join(map(bytes, [*frame([odd], head), *frame([clean], head)]))
    expected = b"".join(map(bytes, [*frame([clean], head)] * 2))
    assert rewrite_frames(frames, ScopeSpans) == expected
