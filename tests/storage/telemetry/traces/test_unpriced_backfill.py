"""Traces that were stored before tokens without a price were counted."""

from datetime import UTC, datetime
from typing import Any

from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.traces.aggregates import _TRACE_COLUMNS
from spanwise.storage.telemetry.traces.unpriced_backfill import backfill_unpriced_tokens
from support.ids import new_trace_id
from support.spans import llm_call, span
from support.store import WorkspaceStore

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
ADDED = {"unpriced", "tool_costs"}


def trace_of(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    trace_id = new_trace_id()
    root = span(trace_id, kind="agent", start=START)
    return [root, *(call | {"traceId": trace_id, "parentSpanId": root["spanId"]} for call in calls)]


def forget_unpriced(store: WorkspaceStore) -> None:
    """Write the rows of the workspace's traces as the version before did."""
    names = ", ".join(n for n in _TRACE_COLUMNS.split(", ") if n not in ADDED)
    with store.engine.client() as client:
        client.command(
            f"""INSERT INTO traces ({names}) SELECT {names} FROM traces FINAL
            WHERE workspace = {{workspace:String}}""",
            parameters={"workspace": store.workspace},
        )


def find_unpriced(store: WorkspaceStore) -> list[list[int]]:
    sql = "SELECT unpriced FROM traces FINAL WHERE workspace = {workspace:String}"
    with store.engine.client() as client:
        rows = query_rows(client, sql, {"workspace": store.workspace})
    return [row["unpriced"] for row in rows]


def call(tokens: int, **fields: Any) -> dict[str, Any]:
    return llm_call("in-house", "acme", {"input": tokens, "output": 1}, start=START, **fields)


def test_rows_from_before_have_the_tokens_that_their_columns_tell(store: WorkspaceStore) -> None:
    nameless = span(None, kind="llm", start=START, inputTokens=7, outputTokens=1)
    priced = llm_call("gpt-4o", "openai", {"input": 500}, start=START)
    store.send(*trace_of(call(10), call(20), nameless, priced))
    exact = find_unpriced(store)
    assert exact[0][0] == 11 + 21 + 8
    forget_unpriced(store)
    assert find_unpriced(store) == exact


def test_a_trace_with_calls_of_both_kinds_is_recomputed(store: WorkspaceStore) -> None:
    store.send(*trace_of(call(10), call(1000, cost=0.5)))
    forget_unpriced(store)
    assert find_unpriced(store) == [[1012, 1012]]
    with store.engine.client() as client:
        backfill_unpriced_tokens(client)
    assert find_unpriced(store) == [[11, 11]]
