"""Parts that were inserted without a text index get one."""

from collections.abc import AsyncIterator

import pytest

from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.text_index import TextIndex
from spanwise.storage.telemetry.write import writer as writer_module
from support.polling import until
from support.spans import span
from support.store import WorkspaceStore

_UNINDEXED = """
SELECT table FROM system.parts WHERE database = currentDatabase() AND active
AND table IN ('spans', 'logs') AND secondary_indices_compressed_bytes = 0 ORDER BY table"""
# Without a word, so that its index is empty.
_EMPTY_LOG = """
INSERT INTO logs (workspace, message) SETTINGS materialize_skip_indexes_on_insert = 0
VALUES ('wsp_text_index', '')"""


_RUNNING = """
SELECT count() AS running FROM system.mutations
WHERE database = currentDatabase() AND NOT is_done AND table IN ('spans', 'logs')"""


async def unindexed_tables(store: WorkspaceStore) -> set[str]:
    rows = await store.engine.run(lambda client: query_rows(client, _UNINDEXED, {}))
    return {row["table"] for row in rows}


async def count_mutations(store: WorkspaceStore) -> int:
    (row,) = await store.engine.run(lambda client: query_rows(client, _RUNNING, {}))
    return int(row["running"])


@pytest.fixture
async def unmerged(store: WorkspaceStore) -> AsyncIterator[WorkspaceStore]:
    """A store whose parts of spans and logs are neither merged nor changed during a test."""

    async def is_quiet() -> bool:
        return await count_mutations(store) == 0

    # Deletions of earlier tests would be pending for as long as merges are stopped.
    await until(is_quiet)
    with store.engine.client() as client:
        for table in ("spans", "logs"):
            client.command(f"SYSTEM STOP MERGES {table}")
    try:
        yield store
    finally:
        start_merges(store)


def start_merges(store: WorkspaceStore) -> None:
    with store.engine.client() as client:
        for table in ("spans", "logs"):
            client.command(f"SYSTEM START MERGES {table}")


async def test_parts_without_an_index_are_indexed(
    unmerged: WorkspaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = unmerged
    monkeypatch.setattr(writer_module, "_UNINDEXED_BYTES", 0)
    store.send(span(input="quixotry"), span(name="-"))
    with store.engine.client() as client:
        client.command(_EMPTY_LOG)
    assert await unindexed_tables(store) == {"spans", "logs"}
    index = TextIndex(store.engine, store.writer.changes)
    await index.update(age_seconds=3600)
    assert await count_mutations(store) == 0
    await index.update(age_seconds=-5)
    assert await count_mutations(store) == 2
    # Not again while the first ones are running.
    await index.update(age_seconds=-5)
    assert await count_mutations(store) == 2
    start_merges(store)

    async def is_indexed() -> bool:
        return not await unindexed_tables(store)

    await until(is_indexed)
