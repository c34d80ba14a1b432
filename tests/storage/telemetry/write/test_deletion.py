"""Deletions of traces, and how many statements they leave for reads to apply."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.ingest.records.versions import next_version
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.rows.batch_rows import BatchRows
from spanwise.storage.telemetry.rows.locations import find_location
from spanwise.storage.telemetry.traces.trace_queries import is_known_trace
from spanwise.storage.telemetry.write.deletion import _MAX_DELETIONS, TraceDeletion
from spanwise.storage.telemetry.write.writer import Batch
from support.spans import span
from support.store import WorkspaceStore

# Tests of both engines are in one worker, which starts the server once.
pytestmark = pytest.mark.xdist_group("telemetry server")

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def delete(store: WorkspaceStore, *trace_ids: str) -> None:
    """Delete traces in one batch."""
    deletions = [TraceDeletion(store.workspace, trace, next_version()) for trace in trace_ids]
    rows = BatchRows(deletions[0].version, deletions[-1].version)
    store.writer.write(Batch(rows, deletions=deletions))


def select(store: WorkspaceStore, sql: str) -> list[dict[str, Any]]:
    with store.engine.client() as client:
        return query_rows(client, sql, {"workspace": store.workspace})


def stored_spans(store: WorkspaceStore) -> set[str]:
    """Return the names of the spans that are stored."""
    rows = select(store, "SELECT name FROM spans FINAL WHERE workspace = {workspace:String}")
    return {row["name"] for row in rows}


def listed_traces(store: WorkspaceStore) -> set[str]:
    rows = select(store, "SELECT name FROM traces FINAL WHERE workspace = {workspace:String}")
    return {row["name"] for row in rows}


@pytest.mark.both_engines
def test_the_deletions_of_a_batch_are_one_statement_per_month(store: WorkspaceStore) -> None:
    roots = [span(name=f"root {n}", start=NOON + timedelta(days=n % 2 * 30)) for n in range(40)]
    store.send(*roots)
    delete(store, *(root["traceId"] for root in roots[:-2]))
    assert stored_spans(store) == listed_traces(store) == {"root 38", "root 39"}
    mutations = select(
        store,
        """SELECT table FROM system.mutations
        WHERE database = currentDatabase() AND command LIKE concat('%', {workspace:String}, '%')""",
    )
    assert [row["table"] for row in mutations] == ["spans", "spans"]


def test_a_batch_may_delete_more_traces_than_a_statement_lists(store: WorkspaceStore) -> None:
    roots = [span(name=f"root {n}", start=NOON) for n in range(_MAX_DELETIONS + 10)]
    store.send(*roots)
    delete(store, *(root["traceId"] for root in roots[1:]))
    assert stored_spans(store) == listed_traces(store) == {"root 0"}


def test_a_trace_sent_again_in_the_batch_of_its_deletion_is_new(store: WorkspaceStore) -> None:
    first, other = span(name="first", start=NOON), span(name="other", start=NOON)
    store.send(first, other)
    deletions = [
        TraceDeletion(store.workspace, root["traceId"], next_version()) for root in (first, other)
    ]
    again = store.batch(span(first["traceId"], name="again", start=NOON))
    rows = BatchRows(
        deletions[0].version,
        again.rows.last_version,
        again.rows.workspaces,
        again.rows.hours,
    )
    store.writer.write(Batch(rows, spans=again.spans, deletions=deletions))
    assert stored_spans(store) == listed_traces(store) == {"again"}


async def test_a_deleted_trace_is_unknown_until_it_is_sent_again(store: WorkspaceStore) -> None:
    root = span(start=NOON)
    trace_id = root["traceId"]

    async def is_known() -> bool:
        known = await is_known_trace(store.engine, store.workspace, trace_id)
        location = await find_location(store.engine, store.workspace, trace_id)
        assert known == (location is not None)
        return known

    store.send(root)
    assert await is_known()
    delete(store, trace_id)
    assert not await is_known()
    delete(store, trace_id)
    store.send(span(trace_id, start=NOON + timedelta(hours=3)))
    assert await is_known()
