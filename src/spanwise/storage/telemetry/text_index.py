"""Builds the text index of parts that were inserted without one.

Large inserts leave the index to the merge of their parts. The last parts of a load are merged only
when more is written; until then every search would read all their texts.
"""

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.rollup.maintenance.idle import IdleCheck
from spanwise.storage.telemetry.rollup.recent_changes import RecentChanges

# Longer than parts wait for their merge under a steady load.
UNINDEXED_SECONDS = 30
_PARTITIONS = """
SELECT table, partition_id FROM system.parts
WHERE database = currentDatabase() AND active AND table IN ('spans', 'logs')
    AND secondary_indices_compressed_bytes = 0
    AND modification_time < now() - {age:Float64}
    AND table NOT IN (
        SELECT table FROM system.mutations WHERE database = currentDatabase() AND NOT is_done)
GROUP BY table, partition_id ORDER BY table, partition_id DESC"""


class TextIndex:
    """`changes` are those of `rollup.maintenance.runs.Maintenance`."""

    def __init__(self, engine: Engine, changes: RecentChanges | None) -> None:
        self._engine = engine
        self._idle = IdleCheck(changes, UNINDEXED_SECONDS)

    async def update(self, age_seconds: float = UNINDEXED_SECONDS) -> None:
        """Start to index parts that are older than this, unless nothing was written."""
        if not self._idle.has_work():
            return
        with self._idle.completing() as completion:
            started = await self._engine.run(lambda client: _index_parts(client, age_seconds))
            completion.is_complete = not started


def _index_parts(client: Client, age_seconds: float) -> int:
    """Start to index parts in the background; returns the number of partitions."""
    partitions = query_rows(client, _PARTITIONS, {"age": age_seconds})
    for row in partitions:
        partition = f"IN PARTITION ID '{row['partition_id']}'"
        client.command(f"ALTER TABLE {row['table']} MATERIALIZE INDEX words {partition}")
    return len(partitions)
