"""Measures rows and bytes per table across all workspaces, for operators."""

from dataclasses import dataclass

from spanwise.storage.telemetry.engine.client_pool import Engine

# What applications send; the other tables are derived from it or copied from the catalog.
_RECEIVED = frozenset({"spans", "logs", "signals", "metric_points", "exposures"})


@dataclass(frozen=True)
class TableSize:
    """Rows as stored: a resent span counts twice until the engine merges."""

    table: str
    rows: int
    size_bytes: int


async def measure_tables(engine: Engine) -> list[TableSize]:
    rows = await engine.fetch(
        """SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS size FROM system.parts
        WHERE database = currentDatabase() AND active GROUP BY table ORDER BY table""",
        {},
        tag="measure_tables",
    )
    return [TableSize(row["table"], int(row["rows"]), int(row["size"])) for row in rows]


async def holds_telemetry(engine: Engine) -> bool:
    """Return whether any application has sent something that is still stored."""
    return any(table.rows for table in await measure_tables(engine) if table.table in _RECEIVED)
