"""`spanwise import`: reads files written by `spanwise export` into a workspace."""

from pathlib import Path
from typing import Annotated

import typer

from spanwise.cli.flags import new_command
from spanwise.cli.transfer import run_transfer
from spanwise.services.telemetry.transfer import Transfer

app = new_command()


@app.command("import")
def import_(
    folder: Annotated[Path, typer.Argument(help="Folder written by `spanwise export`.")],
    email: Annotated[str, typer.Option(help="Account whose workspace to import into.")],
    workspace: Annotated[
        str | None, typer.Option(help="Id of another workspace of the account (wsp_…).")
    ] = None,
) -> None:
    """Import an export into a workspace. Importing twice changes nothing.

    Only one process can use the embedded engine: stop `spanwise serve` first.
    """
    run_transfer("importing", Transfer.import_folder, folder, email, workspace)
