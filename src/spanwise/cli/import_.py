"""`spanwise import`: telemetry that `spanwise export` wrote, into a workspace."""

from pathlib import Path
from typing import Annotated

import typer

from spanwise.cli.flags import new_command
from spanwise.cli.transfer import run_transfer
from spanwise.services.telemetry.transfer import Transfer

app = new_command()


@app.command("import")
def import_(
    folder: Annotated[Path, typer.Argument(help="What `spanwise export` wrote.")],
    email: Annotated[str, typer.Option(help="Into whose workspace.")],
) -> None:
    """Read an export into a workspace. Doing so twice changes nothing.

    The embedded engine belongs to one process: stop `spanwise serve` first.
    """
    run_transfer("importing", Transfer.import_folder, folder, email)
