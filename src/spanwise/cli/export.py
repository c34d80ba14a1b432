"""`spanwise export`: one workspace's telemetry as Parquet files."""

from pathlib import Path
from typing import Annotated

import typer

from spanwise.cli.flags import new_command
from spanwise.cli.transfer import run_transfer
from spanwise.services.telemetry.transfer import Transfer

app = new_command()


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Where to write; made, or empty.")],
    email: Annotated[str, typer.Option(help="Whose workspace.")],
) -> None:
    """Write one workspace's spans, logs, signals and metrics as Parquet files.

    The embedded engine belongs to one process: stop `spanwise serve` first.
    """
    run_transfer("exporting", Transfer.export, folder, email)
