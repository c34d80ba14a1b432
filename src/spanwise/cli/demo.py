"""`spanwise demo`: runs the service with simulated agents and live traffic."""

import shutil
from pathlib import Path
from typing import Annotated

import typer
import uvloop
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from spanwise.api.services import Services
from spanwise.cli.flags import new_command, with_settings
from spanwise.cli.log_setup import configure_logs
from spanwise.cli.serve import listen, run_service
from spanwise.demo.alerts import ReplayClock
from spanwise.demo.setup import EMAIL, MARKER, PASSWORD, DemoState, continue_traffic, prepare_demo
from spanwise.ingest.commit.journal import hold_journal
from spanwise.model.errors import StartError
from spanwise.settings import Settings
from spanwise.wiring.stores import journal_folder

FOLDER = Path("spanwise-demo")

app = new_command()


@app.command()
@with_settings
def demo(
    settings: Settings,
    *,
    seed: Annotated[int, typer.Option(help="Seed of the generated data.")] = 7,
    scale: Annotated[
        float, typer.Option(min=0.01, max=20, help="Amount of traffic; 1 = about 23,000 traces.")
    ] = 1.0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Delete the data of an earlier demo first.")
    ] = False,
) -> None:
    """Start the service with a month of simulated agents, and keep sending live traffic.

    Data is kept in the folder `spanwise-demo`, unless a data folder is set.
    """
    settings = _with_defaults(settings)
    configure_logs(settings)
    if fresh:
        _clear(settings)
    listener = listen(settings.host, settings.port)
    settings = settings.model_copy(update={"port": listener.getsockname()[1]})
    clock, console = ReplayClock(), Console(stderr=True)

    async def run_demo(services: Services) -> None:
        state = await _prepare(services, clock, seed, scale, console)
        print(f"\n  Open {settings.public_address}\n  sign in as {EMAIL}, password: {PASSWORD}\n")
        print("  Sending live traffic; press Ctrl-C to stop.", flush=True)
        await continue_traffic(services, state)

    uvloop.run(run_service(settings, listener, clock=clock, background=run_demo))


def _with_defaults(settings: Settings) -> Settings:
    """Default to a separate data folder and to fewer log lines."""
    given = settings.model_fields_set
    changes: dict[str, object] = {}
    if "data_dir" not in given:
        changes["data_dir"] = FOLDER
    if "log_level" not in given:
        changes["log_level"] = "warning"
    return settings.model_copy(update=changes)


def _clear(settings: Settings) -> None:
    """Delete the folder of an earlier demo, but no other folder and not that of a running demo."""
    folder = settings.data_dir
    if not folder.exists():
        return
    if not (folder / MARKER).exists() and folder != FOLDER:
        raise StartError(f"{folder} is not a demo folder; it was not deleted")
    with hold_journal(journal_folder(settings)):
        shutil.rmtree(folder)


async def _prepare(
    services: Services, clock: ReplayClock, seed: int, scale: float, console: Console
) -> DemoState:
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as bar:
        tasks = {}

        def show(step: str, share: float) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(f"{step:<20}", total=1.0)
            bar.update(tasks[step], completed=share)

        return await prepare_demo(services, clock, seed, scale, show)
