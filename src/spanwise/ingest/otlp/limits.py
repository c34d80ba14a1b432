"""Limits of OTLP exports: sizes of ids, and the accepted range of times."""

from spanwise.model.times import EARLIEST_STORED, LATEST_STORED, MAX_AHEAD, to_unix_nano

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
EARLIEST_NANO = to_unix_nano(EARLIEST_STORED)
LATEST_NANO = to_unix_nano(LATEST_STORED)
# Clocks of senders may be ahead by this much.
MAX_AHEAD_NANO = int(MAX_AHEAD.total_seconds()) * 10**9
