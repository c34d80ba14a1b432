"""Masks rows of the telemetry tables in Parquet files, before they are imported."""

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from google.protobuf.message import DecodeError
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValueList
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.masking import content
from spanwise.ingest.masking.masker import Masker
from spanwise.ingest.otlp.from_rest import to_any_value
from spanwise.model.errors import Invalid
from spanwise.model.telemetry.conventions import FIELDS, USER_EMAIL
from spanwise.storage.telemetry.extraction.span_extraction import PREVIEW_CHARACTERS
from spanwise.storage.telemetry.rows.decoding import to_plain_value

# Ids, times, numbers and names.
_KEPT = {
    "spans": "hour trace_id span_id version parent_span_id is_root name kind start duration_ns "
    "status error_type input_tokens output_tokens cached_tokens cache_write_tokens "
    "reasoning_tokens audio_input_tokens audio_output_tokens images given_cost cost is_priced "
    "unpriced_tokens tool_cost",
    "logs": "time id version trace_id span_id severity event_name",
    "signals": "name value time created trace_id span_id version is_deleted",
    "metric_points": "name time series start version type temporality is_monotonic scope "
    "value count sum min max bounds counts quantile_values",
}
_TEXTS = {
    "spans": "service_name agent_name workflow_name provider model response_id tool_name "
    "session_id user_id environment experiment_id variant trace_name",
    "logs": "agent_name",
    "signals": "agent_name session_id user_id experiment_id variant",
    "metric_points": "service_name",
}
_PREVIEWS = {"input_preview": "input", "output_preview": "output"}
_USER_IDS = [
    name
    for field in FIELDS
    if field.name == "user_id"
    for name in field.attributes
    if name != USER_EMAIL
]
_ARRAY, _MAP = 5, 6

Cell = Callable[[Any], Any]


def known_columns(table: str) -> set[str]:
    """Return the columns that an import keeps or masks; others are left out."""
    previews = _PREVIEWS if table == "spans" else {}
    return {*_KEPT[table].split(), *_TEXTS[table].split(), *_SPECIAL[table], *previews}


def mask_parquet(masker: Masker, table: str, data: bytes) -> bytes:
    """Mask a file of one table."""
    rows = _Rows(masker)
    cells: dict[str, Cell] = dict.fromkeys(_TEXTS[table].split(), rows.mask_text)
    cells |= {name: partial(mask, rows) for name, mask in _SPECIAL[table].items()}
    try:
        source = pq.read_table(io.BytesIO(data))
        given = set(source.column_names)
        columns = {name: source.column(name) for name in _KEPT[table].split() if name in given}
        for name in cells.keys() & given:
            columns[name] = _map_column(source.column(name), cells[name])
        for name, whole in _PREVIEWS.items():
            if name in given and whole in columns:
                columns[name] = _cut_previews(source.column(name), columns[whole])
        if {"user_id", "attributes"} <= columns.keys():
            columns["user_id"] = _remove_addresses(
                source.column("user_id"), source.column("attributes"), columns
            )
        masked = io.BytesIO()
        pq.write_table(pa.table(columns), masked)
    except (pa.ArrowException, DecodeError, AttributeError, TypeError, ValueError) as error:
        raise Invalid(f"its rows cannot be masked: {error}") from error
    return masked.getvalue()


def _map_column(column: Any, mask: Cell) -> Any:  # noqa: ANN401 -- pyarrow has no types
    """Apply a function to all values; texts are bytes, because stored ones may not be UTF-8."""
    kind = column.type
    if pa.types.is_map(kind):
        target = pa.map_(pa.binary(), pa.binary())
    elif pa.types.is_list(kind):
        target = pa.list_(pa.binary())
    else:
        target = pa.binary()
    return pa.chunked_array([pa.array(map(mask, column.cast(target).to_pylist()), target)])


def _cut_previews(column: Any, masked: Any) -> Any:  # noqa: ANN401
    """Cut previews from masked texts: a value that a preview cuts would not be found in it."""
    old = column.cast(pa.binary()).to_pylist()
    whole = masked.to_pylist()
    return pa.array(
        [
            text.decode(errors="replace")[:PREVIEW_CHARACTERS].encode() if preview else b""
            for preview, text in zip(old, whole, strict=True)
        ],
        pa.binary(),
    )


def _remove_addresses(users: Any, attributes: Any, masked: dict[str, Any]) -> Any:  # noqa: ANN401
    """Replace user ids that are addresses which masking removed from the attributes."""
    columns = [
        users.cast(pa.binary()).to_pylist(),
        _find_attribute(attributes, USER_EMAIL),
        _find_attribute(masked["attributes"], USER_EMAIL),
        masked["user_id"].to_pylist(),
    ]
    others = [_find_attribute(masked["attributes"], name) for name in _USER_IDS]
    return pa.array(
        [
            next(filter(None, ids), b"") if email and user == email and not kept else masked_user
            for user, email, kept, masked_user, *ids in zip(*columns, *others, strict=True)
        ],
        pa.binary(),
    )


def _find_attribute(column: Any, name: str) -> list[bytes | None]:  # noqa: ANN401
    pairs = column.cast(pa.map_(pa.binary(), pa.binary()))
    values: list[bytes | None] = pc.map_lookup(pairs, name.encode(), "first").to_pylist()
    return values


class _Rows:
    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._messages = masker.messages

    def mask_text(self, raw: bytes) -> bytes:
        return self._masker.mask_text(_text(raw)).encode()

    def mask_signal_id(self, raw: bytes) -> bytes:
        return self._masker.mask_id(_text(raw)).encode()

    def mask_content(self, raw: bytes) -> bytes:
        return b"" if self._messages.is_metadata_only else self.mask_value(raw)

    def mask_error(self, raw: bytes) -> bytes:
        if self._messages.is_metadata_only:
            return content.keep_error_words(_text(raw)).encode()
        return self.mask_text(raw)

    def mask_unit(self, raw: bytes) -> bytes:
        return self._messages.mask_unit(_text(raw)).encode()

    def mask_prose(self, raw: bytes) -> bytes:
        return b"" if self._messages.is_metadata_only else self.mask_text(raw)

    def mask_message(self, raw: bytes) -> bytes:
        return raw if content.is_event_name(_text(raw)) else self.mask_content(raw)

    def mask_value(self, raw: bytes) -> bytes:
        """Mask a stored value; its first byte is the type unless it is a text."""
        value = _to_value(raw)
        self._messages.mask_value(value)
        return _to_raw(raw, value)

    def mask_attributes(self, pairs: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        attributes = KeyValueList()
        raws = {_text(key): raw for key, raw in pairs}
        for key, raw in raws.items():
            attributes.values.add(key=key, value=_to_value(raw))
        self._messages.mask_pairs(attributes.values)
        return [(a.key.encode(), _to_raw(raws[a.key], a.value)) for a in attributes.values]

    def mask_resource(self, raw: bytes) -> bytes:
        resource = KeyValueList()
        for key, value in orjson.loads(raw or b"{}").items():
            resource.values.add(key=key, value=to_any_value(value))
        self._messages.mask_pairs(resource.values)
        plain = {pair.key: to_plain_value(pair.value) for pair in resource.values}
        return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)

    def mask_events(self, raws: list[bytes]) -> list[bytes]:
        span = Span(events=[Span.Event.FromString(raw) for raw in raws])
        span.DiscardUnknownFields()
        self._messages.mask_events(span)
        return [event.SerializeToString() for event in span.events]

    def mask_links(self, raws: list[bytes]) -> list[bytes]:
        masked = []
        for raw in raws:
            link = Span.Link.FromString(raw)
            link.DiscardUnknownFields()
            self._messages.mask_link(link)
            masked.append(link.SerializeToString())
        return masked

    def mask_metadata(self, raw: bytes) -> bytes:
        if self._messages.is_metadata_only or not raw:
            return b""
        return orjson.dumps(self._masker.mask_json(orjson.loads(raw)))


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _to_value(raw: bytes) -> AnyValue:
    """Return the value of a stored attribute; numbers are not read."""
    match raw[0] if raw else None:
        case 2 | 3 | 4:
            return AnyValue(int_value=0)
        case 5:
            return AnyValue(array_value=ArrayValue.FromString(raw[1:]))
        case 6:
            return AnyValue(kvlist_value=KeyValueList.FromString(raw[1:]))
        case 7:
            return AnyValue(bytes_value=raw[1:])
    return AnyValue(string_value=_text(raw))


def _to_raw(raw: bytes, value: AnyValue) -> bytes:
    match value.WhichOneof("value"):
        case "array_value":
            return bytes([_ARRAY]) + value.array_value.SerializeToString()
        case "kvlist_value":
            return bytes([_MAP]) + value.kvlist_value.SerializeToString()
        case "string_value":
            return value.string_value.encode()
        case "int_value":
            return raw
    return b""


_SPECIAL: dict[str, dict[str, Callable[[_Rows, Any], Any]]] = {
    "spans": {
        "status_message": _Rows.mask_error,
        "attributes": _Rows.mask_attributes,
        "resource": _Rows.mask_resource,
        "events": _Rows.mask_events,
        "links": _Rows.mask_links,
        "input": _Rows.mask_content,
        "output": _Rows.mask_content,
    },
    "logs": {
        "message": _Rows.mask_message,
        "attributes": _Rows.mask_attributes,
        "resource": _Rows.mask_resource,
    },
    "signals": {
        "id": _Rows.mask_signal_id,
        "comment": _Rows.mask_content,
        "metadata": _Rows.mask_metadata,
    },
    "metric_points": {
        "unit": _Rows.mask_unit,
        "description": _Rows.mask_prose,
        "attributes": _Rows.mask_attributes,
        "resource": _Rows.mask_resource,
    },
}
