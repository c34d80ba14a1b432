"""Removes all telemetry of a deleted workspace."""

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.query import delete_where, query_rows

# The engine names the tables, so that none is forgotten.
_TABLES = """
SELECT DISTINCT table FROM system.columns
WHERE database = currentDatabase() AND name = 'workspace' AND table IN (
    SELECT name FROM system.tables
    WHERE database = currentDatabase() AND engine LIKE '%MergeTree')"""


def remove_workspace(client: Client, workspace: str) -> dict[str, int]:
    """Remove the rows of a workspace from every table; returns their number by table."""
    removed = {}
    for row in query_rows(client, _TABLES, {}):
        condition = "workspace = {workspace:String}"
        rows = delete_where(client, row["table"], condition, {"workspace": workspace})
        if rows:
            removed[str(row["table"])] = rows
    return removed
