"""`spanwise migrate`: migrates the schemas without starting the service."""

import asyncio

from spanwise.cli.flags import new_command, with_settings
from spanwise.settings import Settings
from spanwise.wiring.stores import open_stores

app = new_command()


@app.command()
@with_settings
def migrate(settings: Settings) -> None:
    """Migrate the schemas of the stores without starting the service."""
    asyncio.run(_migrate(settings))


async def _migrate(settings: Settings) -> None:
    async with open_stores(settings, beside_service=True) as (catalog, engine):
        print(f"catalog: {await catalog.version()}, schema up to date")
        print(f"telemetry: {await engine.version()}, schema up to date")
