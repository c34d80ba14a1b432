"""Removes the contents of old telemetry and keeps its numbers.

Names, models, times, status, tokens and costs stay, so analytics do not change.
"""

from datetime import datetime

from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.conditions import to_engine_time
from spanwise.storage.telemetry.engine.query import count_by_partition

# Table -> its time column, and the value that each column with contents gets.
_CONTENTS = {
    "spans": (
        "hour",
        {
            "status_message": "''",
            "input_preview": "''",
            "output_preview": "''",
            "attributes": "map()",
            "events": "[]",
            "links": "[]",
            "input": "''",
            "output": "''",
        },
    ),
    "traces": ("start", {"input_preview": "''", "output_preview": "''"}),
    "failures": ("hour", {"message": "''"}),
    "logs": ("time", {"message": "''", "attributes": "map()"}),
    "signals": ("time", {"comment": "''", "metadata": "''"}),
}


def remove_contents(client: Client, before: datetime, workspace: str) -> dict[str, int]:
    """Remove the contents of rows before a time; returns the number of rows by table."""
    removed = {}
    for table, (_, columns) in _CONTENTS.items():
        condition = _has_contents(table)
        parameters = {"before": to_engine_time(before), "workspace": workspace}
        counts = count_by_partition(client, table, condition, parameters)
        values = ", ".join(f"{column} = {value}" for column, value in columns.items())
        for partition in counts:
            sql = f"ALTER TABLE {table} UPDATE {values} IN PARTITION ID '{partition}' WHERE "
            client.command(sql + condition, parameters=parameters)
        if counts:
            removed[table] = sum(counts.values())
    return removed


def count_contents(client: Client, before: datetime, workspace: str) -> int:
    """Count the spans whose contents a cutoff would remove."""
    parameters = {"before": to_engine_time(before), "workspace": workspace}
    return sum(count_by_partition(client, "spans", _has_contents("spans"), parameters).values())


def _has_contents(table: str) -> str:
    time, columns = _CONTENTS[table]
    filled = " OR ".join(f"notEmpty({column})" for column in columns)
    return (
        f"workspace = {{workspace:String}} AND {time} < {{before:DateTime64(9, 'UTC')}} "
        f"AND ({filled})"
    )
