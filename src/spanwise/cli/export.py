"""`spanwise export`: one workspace's telemetry as Parquet files."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from spanwise.actions.accounts import normalize_email
from spanwise.app import open_transfer
from spanwise.cli.flags import new_command
from spanwise.cli.logs import configure_logs
from spanwise.cli.progress import show_progress
from spanwise.settings import Settings, load_settings

app = new_command()


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Where to write; made, or empty.")],
    email: Annotated[str, typer.Option(help="Whose workspace.")],
) -> None:
    """Write one workspace's spans, logs, signals and metrics as Parquet files.

    The embedded engine belongs to one process: stop `spanwise serve` first.
    """
    settings = load_settings()
    configure_logs(settings)
    asyncio.run(_export(settings, folder, normalize_email(email)))


async def _export(settings: Settings, folder: Path, email: str) -> None:
    async with open_transfer(settings) as transfer:
        workspace = await transfer.find_workspace(email)
        with show_progress("exporting") as progress:
            rows = await transfer.export(workspace, folder, progress)
    print(f"{folder}: " + ", ".join(f"{count:,} {table}" for table, count in rows.items()))
