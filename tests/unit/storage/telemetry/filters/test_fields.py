"""Every field that a filter may name has a column."""

from spanwise.model.telemetry.filters import (
    FAILURE,
    LOG_FIELDS,
    NUMBER_FIELDS,
    SIGNAL_FIELDS,
    TEXT_FIELDS,
)
from spanwise.storage.telemetry.filters.fields import (
    INHERITED,
    LOG_COLUMNS,
    SIGNAL_COLUMNS,
    SPAN_COLUMNS,
    TRACE_COLUMNS,
)


def test_spans_have_a_column_for_every_field_of_traces_and_spans() -> None:
    fields = {*NUMBER_FIELDS, *TEXT_FIELDS} - {FAILURE}
    assert fields == SPAN_COLUMNS.keys() | INHERITED.keys()
    assert TRACE_COLUMNS.keys() <= fields


def test_logs_and_signals_have_a_column_for_every_field() -> None:
    assert {*LOG_FIELDS} == LOG_COLUMNS.keys()
    assert {*SIGNAL_FIELDS} == SIGNAL_COLUMNS.keys() | (INHERITED.keys() & {*SIGNAL_FIELDS})
