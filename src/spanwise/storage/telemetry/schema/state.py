"""Reports whether the telemetry schema is up to date, without changing it."""

from spanwise.storage.schema_state import SchemaState
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.schema.migrate import schema_file_names


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
    is_current = schema_file_names() <= {row["name"] for row in rows}
    return SchemaState.CURRENT if is_current else SchemaState.OUTDATED
