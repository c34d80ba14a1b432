"""Ids of traces and spans that end in a zero byte, like one of 256 real ids.

The engine strips trailing zero bytes when it converts an id to text, so a query that compares ids
as text misses such rows. With these ids it misses all of them, and a test fails.
"""

import secrets


def new_trace_id() -> str:
    return secrets.token_hex(15) + "00"


def new_span_id() -> str:
    return secrets.token_hex(7) + "00"
