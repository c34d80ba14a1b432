"""Runs an export or an import, for `spanwise export` and `spanwise import`."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from spanwise.cli.log_setup import configure_logs
from spanwise.cli.progress import show_progress
from spanwise.services.accounts.emails import normalize_email
from spanwise.services.telemetry.transfer import Progress, Transfer
from spanwise.settings import Settings, load_settings
from spanwise.wiring.commands import open_transfer

Run = Callable[[Transfer, str, Path, Progress], Awaitable[Mapping[str, int]]]


def run_transfer(what: str, run: Run, folder: Path, email: str, workspace: str | None) -> None:
    """Export or import one workspace's telemetry and print the row counts."""
    settings = load_settings()
    configure_logs(settings)
    rows = asyncio.run(_transfer(settings, what, run, folder, (normalize_email(email), workspace)))
    print(
        f"{folder}: " + ", ".join(f"{n:,} {table.replace('_', ' ')}" for table, n in rows.items())
    )


async def _transfer(
    settings: Settings, what: str, run: Run, folder: Path, of: tuple[str, str | None]
) -> Mapping[str, int]:
    async with open_transfer(settings) as transfer:
        workspace = await transfer.find_workspace(*of)
        with show_progress(what) as progress:
            return await run(transfer, workspace, folder, progress)
