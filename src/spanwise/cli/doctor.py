"""`spanwise doctor`: checks settings, disk and stores; rebuilds the rollup on request."""

import asyncio
import os
import platform
import shutil
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spanwise import __version__
from spanwise.cli.flags import new_command, with_settings
from spanwise.ingest.commit.journal import is_journal_held
from spanwise.model.errors import SpanwiseError, StartError
from spanwise.settings import ENV_PREFIX, Settings, load_secret_key, secret_file, show_setting
from spanwise.storage.catalog import Catalog
from spanwise.storage.schema_state import SchemaState
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.table_sizes import measure_tables
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.schema.state import inspect_schema
from spanwise.wiring.stores import (
    check_not_lost,
    journal_folder,
    open_counters,
    open_stores,
    telemetry_address,
)

LOW_DISK_BYTES = 2 * 2**30
PIPED_WIDTH = 160


app = new_command()


@app.command()
@with_settings
def doctor(
    settings: Settings,
    *,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Recompute the analytics rollup, then exit.")
    ] = False,
) -> None:
    """Show settings (secrets hidden), versions, disk, and whether every store works.

    Reports what is missing or outdated, and changes nothing. Exits with 1 if anything is wrong; a
    service that runs is not. An embedded telemetry store is then not opened.
    """
    console = Console() if sys.stdout.isatty() else Console(width=PIPED_WIDTH)
    if rebuild:
        console.print(asyncio.run(_rebuild_rollup(settings)))
        return
    console.print(f"Spanwise {__version__}, Python {platform.python_version()}\n")
    console.print(_settings_table(settings))
    is_healthy = asyncio.run(_check_all(settings, console))
    if not is_healthy:
        sys.exit(1)


def _settings_table(settings: Settings) -> Table:
    table = Table(title="Settings", title_justify="left")
    table.add_column("setting", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("meaning")
    for name, field in Settings.model_fields.items():
        value = escape(show_setting(getattr(settings, name)))
        table.add_row(f"{ENV_PREFIX}{name.upper()}", value, escape(field.description or ""))
    return table


async def _check_all(settings: Settings, console: Console) -> bool:
    checks: dict[str, Callable[[Settings], Awaitable[str]]] = {
        "secret": _check_secret,
        "disk": _check_disk,
        "catalog": _check_catalog,
        "counters": _check_counters,
        "telemetry": _check_telemetry,
    }
    is_healthy = True
    console.print()
    for name, check in checks.items():
        try:
            verdict = f"[green]ok[/]    {name}: {escape(await check(settings))}"
        except SpanwiseError as error:
            is_healthy = False
            verdict = f"[red]wrong[/] {name}: {escape(error.message)}"
        console.print(verdict, highlight=False, soft_wrap=True)
    return is_healthy


async def _rebuild_rollup(settings: Settings) -> str:
    """Recompute the rollup. The service must not run: it would read partial results."""
    async with open_stores(settings, beside_service=False) as (_, engine):
        days = await Rollup(engine).maintenance.rebuild()
    return f"Recomputed the rollup of {days} days."


async def _check_secret(settings: Settings) -> str:
    if settings.secret_key is not None:
        return "from the settings"
    if not secret_file(settings).exists():
        return "not created yet; the first start creates it"
    load_secret_key(settings)
    return "from the data folder"


async def _check_disk(settings: Settings) -> str:
    folders = (settings.data_dir, *settings.data_dir.absolute().parents)
    nearest = next(folder for folder in folders if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise StartError(f"cannot write to {nearest}")
    free = shutil.disk_usage(nearest).free
    if free < LOW_DISK_BYTES:
        raise StartError(f"only {free / 2**20:,.0f} MiB free in {settings.data_dir}")
    return f"{free / 2**30:,.1f} GiB free in {settings.data_dir}"


async def _check_catalog(settings: Settings) -> str:
    if not _service_holds_telemetry(settings):
        await check_not_lost(settings)
    return await Catalog.describe(settings.catalog_address)


async def _check_telemetry(settings: Settings) -> str:
    address = telemetry_address(settings)
    if address.folder is not None and not address.folder.exists():
        return SchemaState.ABSENT
    if _service_holds_telemetry(settings):
        return "a service is running and holds the store, so it was not opened; ask its /api/ready"
    engine = Engine.open(address, settings.memory_limit_mb, creates=False)
    try:
        tables = await measure_tables(engine)
        size = sum(table.size_bytes for table in tables)
        rows = ", ".join(f"{table.rows:,} {table.table}" for table in tables if table.rows)
        state = await inspect_schema(engine)
        version = await engine.version()
        return f"{version}, {state}, {size / 2**20:,.1f} MiB: {rows or 'empty'}"
    finally:
        engine.close()


def _service_holds_telemetry(settings: Settings) -> bool:
    is_embedded = telemetry_address(settings).folder is not None
    return is_embedded and is_journal_held(journal_folder(settings))


async def _check_counters(settings: Settings) -> str:
    url = settings.redis_url.get_secret_value() if settings.redis_url else None
    counters = await open_counters(url)
    await counters.close()
    return "in this process" if url is None else "Redis responds"
