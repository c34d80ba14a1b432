"""`spanwise migrate`: bring the schemas up to date without starting the service."""

import asyncio

from spanwise.cli.flags import new_command, with_settings
from spanwise.settings import Settings
from spanwise.storage.catalog import Catalog

app = new_command()


@app.command()
@with_settings
def migrate(settings: Settings) -> None:
    """Bring the stores' schemas up to date without starting the service."""
    print(asyncio.run(_migrate_catalog(settings)))


async def _migrate_catalog(settings: Settings) -> str:
    catalog = await Catalog.open(settings.catalog_address)
    try:
        return f"catalog: {await catalog.version()}, schema up to date"
    finally:
        await catalog.close()
