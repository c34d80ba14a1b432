"""Whether the telemetry schema is up to date, found out without changing it."""

from importlib.resources import files

from spanwise.storage.schema_state import SchemaState
from spanwise.storage.telemetry import schema
from spanwise.storage.telemetry.engine.engine import Engine


async def inspect_schema(engine: Engine) -> SchemaState:
    tables = await engine.fetch(
        "SELECT name FROM system.tables "
        "WHERE database = currentDatabase() AND name = 'schema_versions'",
        {},
        tag="inspect_schema",
    )
    if not tables:
        return SchemaState.ABSENT
    rows = await engine.fetch("SELECT name FROM schema_versions", {}, tag="inspect_schema")
    wanted = {file.name for file in files(schema).iterdir() if file.name.endswith(".sql")}
    is_current = wanted <= {row["name"] for row in rows}
    return SchemaState.CURRENT if is_current else SchemaState.OUTDATED
