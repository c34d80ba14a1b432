"""Counts a call once when several spans of a trace report it.

Two instrumentations may see the same call: a framework's and the SDK's own. The rule:

1. An `llm` span directly under another reports the same call, unless both have response ids and
   these differ. The outer span counts, unless the inner ones together report more tokens.
2. Of the remaining spans with the same response id, the one with the most tokens counts, then the
   one with the most cached and reasoning tokens, then the earliest. An outer span without a
   response id has that of its inner ones.

The result does not depend on the order in which the spans are given. Larger traces than
`MAX_COMPARED` calls are not compared.
"""

from collections.abc import Collection, Mapping
from typing import Generic, NamedTuple, TypeVar

from spanwise.model.telemetry.conventions import USAGE_KINDS

MAX_COMPARED = 200

# SQL for whether a span reports usage.
HAS_USAGE = f"kind IN {USAGE_KINDS}"
# SQL for the id of a span in `uncounted` of a trace.
CALL_ID = "reinterpretAsUInt64(span_id)"

# An id, as bytes or in hexadecimal digits: both have the same order.
Text = TypeVar("Text", bytes, str)


class Call(NamedTuple, Generic[Text]):
    """A span that reports usage."""

    id: Text
    parent: Text
    is_llm: bool
    response: Text
    tokens: int
    details: int
    # In nanoseconds since 1970.
    start: int


def to_call_id(span_id: bytes) -> int:
    """Return the id of a span in `uncounted` of a trace."""
    return int.from_bytes(span_id, "little")


def find_counted_in(calls: Collection[Call[Text]]) -> dict[Text, Text]:
    """Return, for spans that do not count, the span in which their call is counted."""
    if len(calls) < 2:  # noqa: PLR2004 -- one call repeats no other
        return {}
    by_id = {call.id: call for call in calls}
    if len(by_id) > MAX_COMPARED or not _may_repeat(by_id):
        return {}
    in_order = sorted(by_id.values(), key=lambda call: (call.start, call.id))
    inner: dict[Text, list[Call[Text]]] = {}
    for call in in_order:
        outer = by_id.get(call.parent)
        if outer is not None and outer is not call and _may_report(call, outer):
            inner.setdefault(outer.id, []).append(call)
    counted_in: dict[Text, Text] = {}
    responses = {call.id: call.response for call in in_order}
    for outer_id, children in inner.items():
        outer = by_id[outer_id]
        responses[outer_id] = outer.response or next(
            (c.response for c in children if c.response), outer.response
        )
        if outer.tokens >= sum(child.tokens for child in children):
            counted_in |= {child.id: outer_id for child in children}
        else:
            counted_in[outer_id] = max(children, key=lambda child: child.tokens).id
    kept = [call for call in in_order if call.id not in counted_in]
    first: dict[Text, Text] = {}
    for call in sorted(kept, key=lambda c: (-c.tokens, -c.details)):
        if response := responses[call.id]:
            winner = first.setdefault(response, call.id)
            if winner != call.id:
                counted_in[call.id] = winner
    return _resolve(counted_in)


def _may_repeat(calls: Mapping[Text, Call[Text]]) -> bool:
    """Return whether there is anything to compare, which most traces do not have."""
    responses = [call.response for call in calls.values() if call.response]
    return len(set(responses)) < len(responses) or any(
        call.parent in calls for call in calls.values()
    )


def _may_report(inner: Call[Text], outer: Call[Text]) -> bool:
    """Return whether a span may report the same call as the one above it."""
    is_same = not inner.response or not outer.response or inner.response == outer.response
    return inner.is_llm and outer.is_llm and is_same


def _resolve(counted_in: Mapping[Text, Text]) -> dict[Text, Text]:
    """Follow chains to the span that counts."""
    resolved = {}
    for span_id in counted_in:
        seen = {span_id}
        at = counted_in[span_id]
        while at in counted_in and at not in seen:
            seen.add(at)
            at = counted_in[at]
        resolved[span_id] = at
    return resolved
