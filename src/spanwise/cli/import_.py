"""`spanwise import`: telemetry that `spanwise export` wrote, into a workspace."""

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


@app.command("import")
def import_(
    folder: Annotated[Path, typer.Argument(help="What `spanwise export` wrote.")],
    email: Annotated[str, typer.Option(help="Into whose workspace.")],
) -> None:
    """Read an export into a workspace. Doing so twice changes nothing.

    The embedded engine belongs to one process: stop `spanwise serve` first.
    """
    settings = load_settings()
    configure_logs(settings)
    asyncio.run(_import(settings, folder, normalize_email(email)))


async def _import(settings: Settings, folder: Path, email: str) -> None:
    async with open_transfer(settings) as transfer:
        workspace = await transfer.find_workspace(email)
        with show_progress("importing") as progress:
            rows = await transfer.take_in(workspace, folder, progress)
    print(f"{folder}: " + ", ".join(f"{count:,} {table}" for table, count in rows.items()))
