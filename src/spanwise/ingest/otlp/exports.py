"""Decodes the body of an export, whose parts are counted first."""

from google.protobuf.message import DecodeError

from spanwise.ingest.counts import REQUESTS, Export, Limits, TooMany, decode_export, encode_export
from spanwise.ingest.otlp.deep_values import flatten_deep_values
from spanwise.ingest.otlp.json_format import decode_json
from spanwise.ingest.otlp.limits import TRACE_ID_BYTES
from spanwise.ingest.records.record import Kind
from spanwise.model.errors import Invalid

_JSON_FIELDS = {
    Kind.TRACES: (b'"resourceSpans"', b'"resource_spans"'),
    Kind.LOGS: (b'"resourceLogs"', b'"resource_logs"'),
    Kind.METRICS: (b'"resourceMetrics"', b'"resource_metrics"'),
}


def read_export(kind: Kind, body: bytes, limits: Limits, *, is_json: bool) -> Export:
    """Decode a body. Raises Invalid with the right path when it is an export of another kind."""
    try:
        if not is_json:
            return _decode_deep(kind, body, limits)
        message = decode_json(kind, body, limits)
        if not message.ByteSize():
            refuse_other_kind(kind, body, limits, is_json=True)
        return encode_export(kind, message, limits)
    except TooMany:
        raise
    except Invalid:
        refuse_other_kind(kind, body, limits, is_json=is_json)
        raise


def _decode_deep(kind: Kind, body: bytes, limits: Limits) -> Export:
    """Decode a body, with values that are nested too deeply as text."""
    message = REQUESTS[kind]
    try:
        return decode_export(kind, body, limits)
    except DecodeError as error:
        try:
            return decode_export(kind, flatten_deep_values(message, body), limits)
        except DecodeError:
            name = message.DESCRIPTOR.name
            raise Invalid(f"the body is not a valid {name}: {error}") from None


def refuse_other_kind(kind: Kind, body: bytes, limits: Limits, *, is_json: bool) -> None:
    """Raise Invalid with the right path when the body is an export of another kind."""
    for other in REQUESTS:
        if other is kind:
            continue
        if is_json:
            is_other = any(field in body for field in _JSON_FIELDS[other])
        else:
            is_other = _decodes_as(other, body, limits)
        if is_other:
            sent = other.name.lower()
            raise Invalid(
                f"this is an export of {sent}, sent to the path for {kind.name.lower()}; "
                f"send it to /v1/{sent}"
            )


def _decodes_as(kind: Kind, body: bytes, limits: Limits) -> bool:
    """Return whether the bytes are plausible as an export of this kind."""
    try:
        request = decode_export(kind, body, limits).message
    except (Invalid, DecodeError):
        return False
    match kind:
        case Kind.TRACES:
            items = (s for r in request.resource_spans for p in r.scope_spans for s in p.spans)
            return any(len(s.trace_id) == TRACE_ID_BYTES for s in items)
        case Kind.LOGS:
            items = (x for r in request.resource_logs for s in r.scope_logs for x in s.log_records)
            return any(x.time_unix_nano or x.observed_time_unix_nano for x in items)
        case _:
            items = (
                m for r in request.resource_metrics for s in r.scope_metrics for m in s.metrics
            )
            return any(m.name and m.WhichOneof("data") for m in items)
