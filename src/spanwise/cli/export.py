"""`spanwise export`: writes one workspace's telemetry as Parquet files."""

from pathlib import Path
from typing import Annotated

import typer

from spanwise.cli.flags import new_command
from spanwise.cli.transfer import run_transfer
from spanwise.services.telemetry.transfer import Transfer

app = new_command()


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Target folder; must be new or empty.")],
    email: Annotated[str, typer.Option(help="Account whose workspace to export.")],
    workspace: Annotated[
        str | None, typer.Option(help="Id of another workspace of the account (wsp_…).")
    ] = None,
) -> None:
    """Write one workspace's spans, logs, signals and metrics as Parquet files.

    Only one process can use the embedded engine: stop `spanwise serve` first.
    """
    run_transfer("exporting", Transfer.export, folder, email, workspace)
