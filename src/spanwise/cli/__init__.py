"""The `spanwise` command."""

import sys

import typer

from spanwise import __version__
from spanwise.cli import doctor, serve, user
from spanwise.model.errors import SpanwiseError

app = typer.Typer(
    name="spanwise",
    help="Observability and analytics for AI applications.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("serve")(serve.serve)
app.command("doctor")(doctor.doctor)
app.command("migrate")(doctor.migrate)
app.add_typer(user.app, name="user")


@app.command("version")
def version() -> None:
    """Print the version."""
    print(__version__)


def main() -> None:
    """Run the command; what an operator did wrong is one sentence, not a traceback."""
    try:
        app()
    except SpanwiseError as error:
        print(f"spanwise: {error.message}", file=sys.stderr)
        sys.exit(1)
