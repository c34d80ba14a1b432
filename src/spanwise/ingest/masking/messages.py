"""Masks decoded OTLP messages in place."""

import re
from collections.abc import Iterable
from fnmatch import translate
from hashlib import blake2b
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import ScopeSpans, Span

from spanwise.ingest.masking import content
from spanwise.ingest.masking.text import TextMasker
from spanwise.ingest.otlp.embedded_values import (
    extract_embedded_values,
    may_have_embedded_values,
)
from spanwise.model.masking import MaskingMode, MaskingRules
from spanwise.model.telemetry.conventions import USER_EMAIL
from spanwise.model.telemetry.metrics import MASKED_SERIES

_NUMBERS = {"int_value", "double_value", "bool_value"}
_UNIT = re.compile(r"[!-~]{0,63}")
_POINTS = ("gauge", "sum", "histogram", "exponential_histogram", "summary")


class MessageMasker:
    def __init__(self, rules: MaskingRules, texts: TextMasker) -> None:
        self._mask = texts.mask
        self.is_metadata_only = rules.mode is MaskingMode.METADATA_ONLY
        globs = rules.drop_attributes
        self._dropped = re.compile("|".join(map(translate, globs))) if globs else None

    def mask_traces(self, request: ExportTraceServiceRequest) -> None:
        for resource in request.resource_spans:
            self.mask_pairs(resource.resource.attributes)
            for scope in resource.scope_spans:
                if self.is_metadata_only:
                    _extract_usage(scope)
                self.mask_pairs(scope.scope.attributes)
                for span in scope.spans:
                    self._mask_span(span)

    def mask_logs(self, request: ExportLogsServiceRequest) -> None:
        for resource in request.resource_logs:
            self.mask_pairs(resource.resource.attributes)
            for scope in resource.scope_logs:
                self.mask_pairs(scope.scope.attributes)
                if self.is_metadata_only:
                    _remove(scope.log_records, map(_is_message, scope.log_records))
                for record in scope.log_records:
                    self._mask_record(record)

    def mask_metrics(self, request: ExportMetricsServiceRequest) -> None:
        for resource in request.resource_metrics:
            self.mask_pairs(resource.resource.attributes)
            for scope in resource.scope_metrics:
                self.mask_pairs(scope.scope.attributes)
                for metric in scope.metrics:
                    self.mask_metric(metric)

    def _mask_span(self, span: Span) -> None:
        if self.is_metadata_only:
            span.ClearField("trace_state")
            span.status.message = content.keep_error_words(span.status.message)
        elif span.status.message:
            span.status.message = self._mask(span.status.message)
        if span.trace_state:
            span.trace_state = self._mask(span.trace_state)
        self.mask_pairs(span.attributes)
        if span.events:
            self.mask_events(span)
        for link in span.links:
            self.mask_link(link)

    def mask_events(self, span: Span) -> None:
        if self.is_metadata_only:
            _remove(span.events, [e.name in content.MESSAGE_EVENTS for e in span.events])
        for event in span.events:
            self.mask_pairs(event.attributes)

    def mask_link(self, link: Span.Link) -> None:
        link.trace_state = "" if self.is_metadata_only else self._mask(link.trace_state)
        self.mask_pairs(link.attributes)

    def _mask_record(self, record: LogRecord) -> None:
        if self.is_metadata_only and not content.is_event_name(record.body.string_value):
            record.ClearField("body")
        self.mask_value(record.body)
        self.mask_pairs(record.attributes)

    def mask_metric(self, metric: Metric) -> None:
        # The name stays: it says what is measured, as the name of a span does.
        metric.unit = self.mask_unit(metric.unit)
        metric.description = "" if self.is_metadata_only else self._mask(metric.description)
        self.mask_pairs(metric.metadata)
        kind = metric.WhichOneof("data")
        if kind in _POINTS:
            for point in getattr(metric, kind).data_points:
                self._mask_point(point)
                for exemplar in getattr(point, "exemplars", ()):
                    self.mask_pairs(exemplar.filtered_attributes)

    def mask_unit(self, unit: str) -> str:
        """Mask a unit. It is a code such as `By`, `ms` or `{token}`; prose is content."""
        masked = self._mask(unit)
        return masked if _UNIT.fullmatch(masked) or not self.is_metadata_only else ""

    def _mask_point(self, point: Any) -> None:  # noqa: ANN401 -- a point of any type
        """Mask a point; what made its series another one is kept as a hash.

        Without it, points of two series that differ only in masked values would be the same point.
        """
        before = [pair.SerializeToString(deterministic=True) for pair in point.attributes]
        self.mask_pairs(point.attributes)
        after = [pair.SerializeToString(deterministic=True) for pair in point.attributes]
        if before != after:
            digest = blake2b(b"\0".join(sorted(before)), digest_size=8).hexdigest()
            point.attributes.add(key=MASKED_SERIES).value.string_value = digest

    def mask_pairs(self, pairs: Any) -> None:  # noqa: ANN401 -- repeated KeyValue
        """Mask attributes; remove those that the rules drop."""
        if self._dropped is not None:
            _remove(pairs, [self._dropped.match(pair.key) is not None for pair in pairs])
        if self.is_metadata_only:
            _remove(pairs, [_is_content(pair.key, pair.value) for pair in pairs])
        mask = self._mask
        for pair in pairs:
            value = pair.value
            # A value of any other type has an empty text.
            text = value.string_value
            if text:
                masked = mask(text)
                if masked != text:
                    if pair.key == USER_EMAIL:
                        # All users would be `[email]`. Without it, the id of the account is used.
                        value.ClearField("string_value")
                    else:
                        value.string_value = masked
            else:
                self._mask_nested(value)

    def mask_value(self, value: AnyValue) -> None:
        if value.string_value:
            value.string_value = self._mask(value.string_value)
        else:
            self._mask_nested(value)

    def _mask_nested(self, value: AnyValue) -> None:
        match value.WhichOneof("value"):
            case "array_value":
                for item in value.array_value.values:
                    self.mask_value(item)
            case "kvlist_value":
                for pair in value.kvlist_value.values:
                    # Keys of an object are part of the content, unlike names of attributes.
                    pair.key = self._mask(pair.key)
                    self.mask_value(pair.value)
            case "bytes_value":
                # They cannot be searched.
                value.ClearField("bytes_value")


def _extract_usage(scope: ScopeSpans) -> None:
    """Add the usage and the model as attributes where they are part of a document, as ingest does.

    The document is content, and will be removed.
    """
    if may_have_embedded_values(scope.scope.name, scope.SerializeToString().__contains__):
        for span in scope.spans:
            extract_embedded_values(span)


def _is_message(record: LogRecord) -> bool:
    names = [pair.value.string_value for pair in record.attributes if pair.key == "event.name"]
    return not content.MESSAGE_EVENTS.isdisjoint((record.event_name, *names))


def _is_content(key: str, value: AnyValue) -> bool:
    if value.WhichOneof("value") in _NUMBERS:
        return not content.keeps_number(key)
    if content.must_exist(key) or content.is_error_message(key):
        words = content.keep_error_words(value.string_value)
        value.string_value = words or (content.REMOVED if content.must_exist(key) else "")
        return not value.string_value
    return not content.keeps_text(key)


def _remove(items: Any, is_removed: Iterable[bool]) -> None:  # noqa: ANN401 -- a repeated field
    flags = [*is_removed]
    if any(flags):
        # Removing one moves all after it: doing so for each would take quadratic time.
        kept = [item for item, removed in zip(items, flags, strict=True) if not removed]
        del items[:]
        items.extend(kept)
