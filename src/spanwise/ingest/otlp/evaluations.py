"""Converts evaluation results to signals, with the label in the metadata and the explanation as
comment.

They are sent as the event `gen_ai.evaluation.result`, of a span or as a log record, or as
OpenInference's attributes `annotations.N.annotation.*` of the judged span and
`evaluations.N.evaluation.*` of an evaluator, which links the judged span. A result without a usable
score stays what it is, an event or attribute. Ids depend on the content only, so that a result that
is sent again counts once.
"""

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from spanwise.ingest.otlp.embedded_values import parse_document
from spanwise.ingest.otlp.limits import (
    EARLIEST_NANO,
    MAX_AHEAD_NANO,
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
)
from spanwise.ingest.rest_bodies import (
    MAX_LABEL_CHARACTERS,
    MAX_SIGNAL_ID_CHARACTERS,
    MAX_SIGNAL_NAME_CHARACTERS,
    MAX_TEXT_CHARACTERS,
    NewSignal,
)
from spanwise.model.telemetry.conversation.messages import EVALUATION_EVENT
from spanwise.model.telemetry.signals import MAX_SIGNAL
from spanwise.storage.telemetry.rows.decoding import to_plain_value

_MARKERS = (b"annotation.name", b"evaluation.name")
_FEEDBACK = re.compile(
    r"(?:(trace|session)\.)?(annotation|evaluation)s\.(\d+)\.\2\.(name|score|label|explanation"
    r"|annotator_kind|identifier|metadata)"
)
_EVENT_FIELDS = {
    "name": "gen_ai.evaluation.name",
    "score": "gen_ai.evaluation.score.value",
    "label": "gen_ai.evaluation.score.label",
    "explanation": "gen_ai.evaluation.explanation",
}
# Scores of results that have a label only.
_LABELS = {
    **dict.fromkeys(("pass", "passed", "true", "yes", "correct"), 1),
    **dict.fromkeys(("fail", "failed", "false", "no", "incorrect"), 0),
}


@dataclass(frozen=True)
class _Target:
    """What a result is about."""

    trace_id: bytes = b""
    span_id: bytes = b""
    session_id: str | None = None


def may_be_in(has: Callable[[bytes], bool]) -> bool:
    """Return whether a scope may contain results; `has` searches its bytes."""
    return any(has(marker) for marker in _MARKERS)


def find_in_span(span: Span) -> list[NewSignal]:
    """Return the results in a span's events and attributes."""
    own = _Target(span.trace_id, span.span_id)
    signals = []
    for event in span.events:
        if event.name == EVALUATION_EVENT:
            at = _plausible(event.time_unix_nano) or span.start_time_unix_nano
            fields = _event_fields(_plain(event.attributes))
            signals.append(_to_signal(fields, own, at, f"{span.span_id.hex()}{at:x}"))
    signals += _find_feedback(span)
    return [signal for signal in signals if signal is not None]


def find_in_records(records: Iterable[LogRecord]) -> list[NewSignal]:
    """Return the results that are sent as log records."""
    signals = []
    for record in records:
        values = _plain(record.attributes)
        if (record.event_name or values.get("event.name")) != EVALUATION_EVENT:
            continue
        body = to_plain_value(record.body)
        fields = _event_fields({**body, **values} if isinstance(body, dict) else values)
        at = _plausible(record.time_unix_nano) or _plausible(record.observed_time_unix_nano)
        if at:
            target = _Target(
                record.trace_id if len(record.trace_id) == TRACE_ID_BYTES else b"",
                record.span_id if len(record.span_id) == SPAN_ID_BYTES else b"",
            )
            origin = _hash(repr((target, at, sorted(fields.items()))))
            signals.append(_to_signal(fields, target, at, origin))
    return [signal for signal in signals if signal is not None]


def _find_feedback(span: Span) -> list[NewSignal | None]:
    """Return OpenInference's annotations and evaluations."""
    results: dict[tuple[str, str, str], dict[str, Any]] = defaultdict(dict)
    session: str | None = None
    for attribute in span.attributes:
        if match := _FEEDBACK.fullmatch(attribute.key):
            scope, kind, index, field = match.groups(default="")
            results[scope, kind, index][field] = to_plain_value(attribute.value)
        elif attribute.key == "session.id":
            session = attribute.value.string_value[:MAX_LABEL_CHARACTERS]
    signals = []
    for (scope, kind, index), fields in results.items():
        judged = _find_judged(span) if kind == "evaluation" else span
        match scope:
            case "session":
                target = _Target(session_id=session)
            case "trace":
                target = _Target(judged.trace_id)
            case _:
                target = _Target(judged.trace_id, judged.span_id)
        # With an identifier, a later result replaces the earlier one.
        identifier = fields.get("identifier")
        origin = (target, identifier) if identifier else (span.span_id, scope, kind, index)
        signals.append(_to_signal(fields, target, span.start_time_unix_nano, _hash(repr(origin))))
    return signals


def _find_judged(evaluator: Span) -> Span | Span.Link:
    """Return the linked span, or the evaluator itself if it does not link exactly one."""
    match list(evaluator.links):
        case [link] if len(link.trace_id) == TRACE_ID_BYTES and len(link.span_id) == SPAN_ID_BYTES:
            return link
    return evaluator


def _to_signal(
    fields: Mapping[str, Any], target: _Target, time_unix_nano: int, origin: str
) -> NewSignal | None:
    """Convert a result; None if it has no name or no finite score."""
    name, label, explanation = (fields.get(key) for key in ("name", "label", "explanation"))
    score = fields.get("score", _LABELS.get(str(label).strip().lower()))
    if not isinstance(name, str) or not name or isinstance(score, bool):
        return None
    # NaN fails this comparison too.
    if not isinstance(score, int | float) or not abs(score) <= MAX_SIGNAL:
        return None
    return NewSignal(
        id=f"sig_{origin}{name}"[:MAX_SIGNAL_ID_CHARACTERS],
        signal_name=name[:MAX_SIGNAL_NAME_CHARACTERS],
        value=score,
        trace_id=target.trace_id.hex() or None,
        span_id=target.span_id.hex() or None,
        session_id=target.session_id,
        comment=str(explanation)[:MAX_TEXT_CHARACTERS] if explanation is not None else None,
        metadata=_metadata(fields),
        timestamp=datetime.fromtimestamp(time_unix_nano / 1e9, UTC) if time_unix_nano else None,
    )


def _hash(text: str) -> str:
    return blake2b(text.encode(), digest_size=12).hexdigest()


def _metadata(fields: Mapping[str, Any]) -> dict[str, Any]:
    given = {"label": fields.get("label"), "annotatorKind": fields.get("annotator_kind")}
    return {**_parse_object(fields.get("metadata")), **{k: v for k, v in given.items() if v}}


def _parse_object(text: Any) -> dict[str, str | int | float | bool]:  # noqa: ANN401 -- any value
    """Return the plain values of a JSON object, or nothing."""
    parsed = parse_document(text) if isinstance(text, str) else None
    if not isinstance(parsed, dict):
        return {}
    return {k: v for k, v in parsed.items() if isinstance(v, str | int | float | bool)}


def _event_fields(values: Mapping[str, Any]) -> dict[str, Any]:
    return {field: values[name] for field, name in _EVENT_FIELDS.items() if name in values}


def _plain(attributes: Iterable[KeyValue]) -> dict[str, Any]:
    return {a.key: to_plain_value(a.value) for a in attributes}


def _plausible(time_unix_nano: int) -> int:
    """Return the time, or 0 if it is implausible.

    Never the current time: a result that is sent again must get the same.
    """
    is_plausible = EARLIEST_NANO <= time_unix_nano <= time.time_ns() + MAX_AHEAD_NANO
    return time_unix_nano if is_plausible else 0
