"""`spanwise prices`: shows the public price list, and replaces it by a file."""

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

import typer

from spanwise.cli.log_setup import configure_logs
from spanwise.model.errors import Invalid
from spanwise.model.telemetry.prices import PriceListInfo
from spanwise.services.telemetry.price_list import PriceList, read_price_list
from spanwise.settings import load_settings, prepare_data_dir

app = typer.Typer(
    help="Show the public price list, and replace it by a newer file.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.command("show")
def show() -> None:
    """Print the date, source and size of the list in use."""
    settings = load_settings()
    configure_logs(settings)
    info = PriceList(settings.price_list_path).info
    _print(info)
    if info.error:
        raise Invalid(info.error)


@app.command("refresh")
def refresh(
    file: Annotated[Path, typer.Argument(help="A list as genai-prices publishes it: data.json.")],
) -> None:
    """Check a file and use it as the price list; a running service reads it within a minute."""
    settings = load_settings()
    configure_logs(settings)
    _, info = read_price_list(file)
    prepare_data_dir(settings)
    target = settings.price_list_path
    with NamedTemporaryFile(dir=target.parent, prefix=".prices-", delete=False) as written:
        written.write(file.read_bytes())
    Path(written.name).replace(target)
    _print(info)


def _print(info: PriceListInfo) -> None:
    print(f"{info.source} price list of {info.date:%Y-%m-%d}, {info.models} models")
