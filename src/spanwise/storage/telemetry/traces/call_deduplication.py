"""Counts a call once when several spans of a trace report it.

Two instrumentations may see the same call: a framework's and the SDK's own. The rule:

1. An `llm` span directly under another reports the same call, unless both have response ids and
   these differ. The outer span counts, unless the inner ones together report more tokens.
2. Of the remaining spans with the same response id, the one with the most tokens counts, then the
   one with the most cached and reasoning tokens, then the earliest. An outer span without a
   response id has that of its inner ones.

Larger traces than `MAX_COMPARED` calls are not compared: the engine copies the calls of a trace for
each call that it compares.

Planning the SQL of this rule takes the engine 80 ms, so it is used only where `MAY_REPEAT` finds
spans to compare. Otherwise all spans count, and `PLAIN_USAGE` sums them.

The rule is here twice: in SQL for the aggregates of traces, and in Python for the spans of one
trace, which say where they are counted. A test compares both.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from spanwise.model.telemetry.conventions import USAGE_KINDS

# 200 calls, all reported twice, take the engine about 1 MB.
MAX_COMPARED = 200

# SQL for the members of a span. Each is an array of its own until the traces are grouped: arrays of
# tuples take twice as long. Response ids are hashed for the same reason.
_MEMBERS = {
    "id": "reinterpretAsUInt64(s.span_id)",
    "parent": "reinterpretAsUInt64(s.parent_span_id)",
    "is_llm": "s.kind = 'llm'",
    "response": "if(empty(s.response_id), 0, cityHash64(s.response_id))",
    "tokens": "toInt64(s.input_tokens) + s.output_tokens",
    "details": "toInt64(s.cached_tokens) + s.cache_write_tokens + s.reasoning_tokens",
    "start": "s.start",
    "model": "toString(s.model)",
    "input": "toUInt64(s.input_tokens)",
    "output": "toUInt64(s.output_tokens)",
    "cost": "s.cost",
    # The tokens without a price; -1 when all usage has one.
    "unpriced": "if(s.is_priced, -1, toInt64(s.unpriced_tokens))",
}
_NUMBERS = {name: number for number, name in enumerate(_MEMBERS, 1)}
_USAGE = f"kind IN {USAGE_KINDS}"
HAS_USAGE = f"s.{_USAGE}"
# SQL for the id of a span in `uncounted` of a trace.
CALL_ID = "reinterpretAsUInt64(span_id)"
# SQL for whether spans, of any traces, include some that may report the same call.
MAY_REPEAT = f"""(
    uniqExactIf((workspace, trace_id, response_id), response_id != '' AND {_USAGE})
        < countIf(response_id != '' AND {_USAGE})
    OR notEmpty(arrayIntersect(groupArrayIf(cityHash64(workspace, trace_id, span_id), {_USAGE}),
        groupArrayIf(cityHash64(workspace, trace_id, parent_span_id), {_USAGE}))))"""
# SQL for the usage of a trace in which every span counts, with the columns of `counted_usage`.
PLAIN_USAGE = f"""sumIf(toUInt64(s.input_tokens), {HAS_USAGE}) AS total_input,
        sumIf(toUInt64(s.output_tokens), {HAS_USAGE}) AS total_output,
        sumIf(s.cost, {HAS_USAGE}) AS total_cost,
        sumIf(toUInt64(s.unpriced_tokens), {HAS_USAGE} AND NOT s.is_priced) AS total_unpriced,
        sumMapIf([toString(s.model)], [toUInt64(1)], [toUInt64(s.input_tokens)],
            [toUInt64(s.output_tokens)], [s.cost],
            [toUInt64(if(s.is_priced, 0, s.unpriced_tokens))], {HAS_USAGE} AND s.model != '')
            AS by_model,
        groupUniqArrayIf(toString(s.model), {HAS_USAGE} AND NOT s.is_priced AND s.model != '')
            AS models_unpriced,
        CAST([], 'Array(UInt64)') AS uncounted"""
# SQL for all spans of a trace that report usage.
CALLS = f"""arrayZip({
    ", ".join(f"groupArrayIf({value}, {HAS_USAGE})" for value in _MEMBERS.values())
})"""


def _of(call: str, member: str) -> str:
    return f"{call}.{_NUMBERS[member]}"


def counted_usage(source: str) -> str:
    """SQL that replaces the `calls` of traces by the usage of those that count.

    `uncounted` are the ids of the others.
    """
    c_id, c_parent, c_response = _of("c", "id"), _of("c", "parent"), _of("c", "response")
    outer_id, outer_response = _of("f.1", "id"), _of("f.1", "response")
    its = _of("f.2", "response")
    is_same = f"({c_response} = 0 OR {its} = 0 OR {c_response} = {its})"
    covers = f"{_of('f.1', 'tokens')} >= arraySum(c -> {_of('c', 'tokens')}, f.2)"
    order = f"(-{_of('c', 'tokens')}, -{_of('c', 'details')}, {_of('c', 'start')})"
    responses = f"arrayFilter(r -> r != 0, arrayMap(c -> {c_response}, calls))"
    # The first members, which the layers below refer to.
    compared = ", ".join(f"c.{number}" for number in range(1, _NUMBERS["tokens"] + 1))
    layers = (
        # Most traces have neither: then all spans count, and the rest of this is not computed.
        f"""SELECT *, arrayIntersect(arrayMap(c -> {c_id}, calls), arrayMap(c -> {c_parent}, calls))
            AS outers, length(calls) <= {MAX_COMPARED} AND (notEmpty(outers)
            OR NOT arrayAll(n -> n = 1, arrayEnumerateUniq({responses}))) AS may_repeat""",
        f"""SELECT *, if(may_repeat, calls, []) AS suspects,
            arrayMap(c -> ({compared}), arrayFilter(c -> {_of("c", "is_llm")}, suspects))
            AS llms""",
        # Of each outer span: itself and its inner spans.
        f"""SELECT *, arrayMap(f -> (f.2, arrayFilter(c -> {c_parent} = f.1 AND {c_id} != f.1
                AND {is_same}, llms)),
            arrayMap(o -> (o, arrayFirst(c -> {c_id} = o, llms)),
                arrayFilter(o -> has(arrayMap(c -> {c_id}, llms), o), outers))) AS families""",
        f"""SELECT *,
            arrayFlatten(arrayMap(f -> multiIf(empty(f.2), [], {covers},
                arrayMap(c -> {c_id}, f.2), [{outer_id}]), families)) AS lost,
            arrayMap(f -> ({outer_id}, arrayFirst(r -> r != 0, arrayMap(c -> {c_response}, f.2))),
                arrayFilter(f -> {outer_response} = 0, families)) AS heirs""",
        f"""SELECT *, arraySort(c -> {order}, arrayFilter(c -> NOT has(lost, {c_id}), suspects))
            AS kept,
            arrayMap(c -> if({c_response} = 0, arrayFirst(h -> h.1 = {c_id}, heirs).2,
                {c_response}), kept) AS responses""",
        """SELECT * EXCEPT (calls, suspects, llms, outers, families, lost, heirs, kept, responses),
            if(may_repeat, arrayFilter((c, r, n) -> r = 0 OR n = 1, kept, responses,
                arrayEnumerateUniq(responses)), calls) AS counted,
            arrayFilter(i -> NOT has(arrayMap(c -> c.1, counted), i),
                arrayMap(c -> c.1, suspects)) AS uncounted""",
        f"""SELECT * EXCEPT counted, {_sum_of(_of("c", "input"))} AS total_input,
            {_sum_of(_of("c", "output"))} AS total_output,
            {_sum_of(_of("c", "cost"))} AS total_cost,
            {_sum_of(_UNPRICED_TOKENS)} AS total_unpriced, {_by_model_sql()} AS by_model,
            {_unpriced_models_sql()} AS models_unpriced""",
    )
    sql = source
    for layer in layers:
        sql = f"({layer} FROM {sql})"
    return sql


_UNPRICED_TOKENS = f"toUInt64(greatest({_of('c', 'unpriced')}, 0))"


def _sum_of(value: str) -> str:
    """SQL for the sum of a value over the calls that count."""
    return f"arraySum(c -> {value}, counted)"


def _unpriced_models_sql() -> str:
    """SQL for the models of the calls that count and lack a price."""
    model = _of("c", "model")
    lacks_price = f"{_of('c', 'unpriced')} >= 0 AND notEmpty({model})"
    return f"arrayDistinct(arrayMap(c -> {model}, arrayFilter(c -> {lacks_price}, counted)))"


def _by_model_sql() -> str:
    """SQL for models, and of the calls of each that count: number, tokens, costs, tokens without
    a price."""
    named = f"arrayFilter(c -> notEmpty({_of('c', 'model')}), counted)"
    values = (
        "toUInt64(1)",
        *(_of("c", member) for member in ("input", "output", "cost")),
        _UNPRICED_TOKENS,
    )
    columns = (f"arrayMap(c -> [{value}], {named})" for value in (_of("c", "model"), *values))
    return f"arrayReduce('sumMap', {', '.join(columns)})"


class Call(NamedTuple):
    """A span that reports usage."""

    id: str
    parent: str
    is_llm: bool
    response: str
    tokens: int
    details: int
    start: datetime

    def may_report(self, other: "Call") -> bool:
        """Return whether this span may report the same call as the one above it."""
        is_same = not self.response or not other.response or self.response == other.response
        return self.is_llm and other.is_llm and is_same


def find_counted_in(calls: Iterable[Call]) -> dict[str, str]:
    """Return, for spans that do not count, the span in which their call is counted."""
    by_id = {call.id: call for call in calls}
    if len(by_id) > MAX_COMPARED:
        return {}
    inner: dict[str, list[Call]] = {}
    for call in by_id.values():
        outer = by_id.get(call.parent)
        if outer is not None and outer is not call and call.may_report(outer):
            inner.setdefault(outer.id, []).append(call)
    counted_in: dict[str, str] = {}
    responses = {call.id: call.response for call in by_id.values()}
    for outer_id, children in inner.items():
        outer = by_id[outer_id]
        responses[outer_id] = outer.response or next(
            (c.response for c in children if c.response), ""
        )
        if outer.tokens >= sum(child.tokens for child in children):
            counted_in |= {child.id: outer_id for child in children}
        else:
            counted_in[outer_id] = max(children, key=lambda child: child.tokens).id
    kept = [call for call in by_id.values() if call.id not in counted_in]
    first: dict[str, str] = {}
    for call in sorted(kept, key=lambda c: (-c.tokens, -c.details, c.start)):
        if response := responses[call.id]:
            winner = first.setdefault(response, call.id)
            if winner != call.id:
                counted_in[call.id] = winner
    return _resolve(counted_in)


def _resolve(counted_in: Mapping[str, str]) -> dict[str, str]:
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
