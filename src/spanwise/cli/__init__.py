"""The `spanwise` command."""

import gc
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperGroup

from spanwise import __version__
from spanwise.model.errors import SpanwiseError

_MODULES = {
    "serve": "serve",
    "demo": "demo",
    "doctor": "doctor",
    "migrate": "migrate",
    "user": "user",
    "workspace": "workspace",
    "prices": "prices",
    "export": "export",
    "import": "import_",
}


class _LazyGroup(TyperGroup):
    """Imports a command on first use: `spanwise version` must not load the whole service."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 -- a private type of Typer
        return [*_MODULES, *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401
        if cmd_name not in _MODULES:
            return super().get_command(ctx, cmd_name)
        command = typer.main.get_command(_import_command(_MODULES[cmd_name]).app)
        command.name = cmd_name
        return command


def _import_command(name: str) -> ModuleType:
    """Import a command with garbage collection off, which would rescan all modules."""
    gc.disable()
    try:
        return import_module(f"spanwise.cli.{name}")
    finally:
        # Modules stay until the process exits, so later collections need not scan them.
        gc.freeze()
        gc.enable()


app = typer.Typer(
    name="spanwise",
    cls=_LazyGroup,
    help="Observability and analytics for AI applications.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


# Without a callback, Typer turns a single command into the whole program.
@app.callback()
def spanwise() -> None:
    pass


@app.command("version")
def version() -> None:
    """Print the version."""
    print(__version__)


def main() -> None:
    """Run the command; expected errors are printed as one line, without a traceback."""
    try:
        app()
    except SpanwiseError as error:
        print(f"spanwise: {error.message}", file=sys.stderr)
        sys.exit(1)
