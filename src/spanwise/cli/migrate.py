"""`spanwise migrate`: bring the schemas up to date without starting the service."""

import asyncio

from spanwise.app import telemetry_address
from spanwise.cli.flags import new_command, with_settings
from spanwise.settings import Settings
from spanwise.storage.catalog import Catalog
from spanwise.storage.telemetry.engine import Engine
from spanwise.storage.telemetry.schema import apply_schema

app = new_command()


@app.command()
@with_settings
def migrate(settings: Settings) -> None:
    """Bring the stores' schemas up to date without starting the service."""
    print(asyncio.run(_migrate_catalog(settings)))
    print(asyncio.run(_migrate_telemetry(settings)))


async def _migrate_catalog(settings: Settings) -> str:
    catalog = await Catalog.open(settings.catalog_address)
    try:
        return f"catalog: {await catalog.version()}, schema up to date"
    finally:
        await catalog.close()


async def _migrate_telemetry(settings: Settings) -> str:
    engine = Engine.open(telemetry_address(settings), settings.memory_limit_mb)
    try:
        await engine.run(lambda client: apply_schema(client, engine.address))
        return f"telemetry: {await engine.version()}, schema up to date"
    finally:
        engine.close()
