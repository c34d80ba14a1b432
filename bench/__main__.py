"""`make bench`: measures the service, prints tables beside the baselines and stores the figures.

BENCH_QUICK=1 measures less. BENCH_PARTS=writes,alerts runs only those parts. `--save-baseline`
replaces the baselines of the parts that ran. BENCH_SPANS=1000000,100000000 sets the sizes of the
stores, and BENCH_FOLDER=path keeps them: an interrupted run continues to grow them. BENCH_REPEATS=5
repeats each read only that often.
"""

import argparse
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from bench.analytics import measure_analytics
from bench.assign import measure_assign
from bench.baseline_files import describe_baseline, load_baseline, save_baseline
from bench.environment import describe_environment
from bench.growth import measure_growth
from bench.masking import measure_masking
from bench.metrics import measure_metrics
from bench.peers.measure import measure_peers
from bench.reads import measure_reads
from bench.report import TABULATE
from bench.scale import FULL, QUICK, Scale
from bench.service import run_module
from bench.start import measure_start
from bench.steady import measure_steady
from bench.writes import measure_writes

RESULTS = Path(__file__).parent / "results"
MEASURE: dict[str, Callable[[Path, Scale], Any]] = {
    "start": lambda folder, _: measure_start(folder),
    "writes": measure_writes,
    "growth": measure_growth,
    "reads": measure_reads,
    "steady": measure_steady,
    "analytics": measure_analytics,
    "assign": measure_assign,
    "alerts": lambda folder, _: run_module("bench.alerts", str(folder / "alerts")),
    "results": lambda folder, scale: run_module(
        "bench.experiment_results", str(folder / "results"), str(scale.experiment_units)
    ),
    "metrics": measure_metrics,
    "masking": measure_masking,
    "peeking": lambda _, scale: run_module("bench.peeking", str(scale.peeking_runs)),
    "peers": measure_peers,
}
# Installs other products, so it runs only when it is named.
ON_REQUEST = ("peers",)
console = Console(width=160)


def main() -> None:
    is_quick = bool(os.environ.get("BENCH_QUICK"))
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--save-baseline", action="store_true", help="replace the baselines")
    save = parser.parse_args().save_baseline
    if save and is_quick:
        parser.error("a quick run cannot be a baseline")
    parts = (os.environ.get("BENCH_PARTS") or ",".join(find_default_parts())).split(",")
    if unknown := set(parts) - MEASURE.keys():
        parser.error(f"unknown parts: {', '.join(sorted(unknown))}; there are {', '.join(MEASURE)}")
    environment = describe_environment()
    figures: dict[str, Any] = {}
    with open_folder() as folder:
        for part in (part for part in MEASURE if part in parts):
            figures[part] = MEASURE[part](folder, choose_scale(is_quick=is_quick))
            show_part(part, environment, figures[part])
    for part in figures if save else ():
        console.print(f"baseline stored in {save_baseline(part, environment, figures[part])}")
    store_run({**environment, "is_quick": is_quick, "figures": figures})


@contextmanager
def open_folder() -> Iterator[Path]:
    """Return the folder for the stores: a temporary one, or one that is kept."""
    if kept := os.environ.get("BENCH_FOLDER"):
        Path(kept).mkdir(parents=True, exist_ok=True)
        yield Path(kept)
        return
    with tempfile.TemporaryDirectory(prefix="spanwise-bench-") as folder:
        yield Path(folder)


def choose_scale(*, is_quick: bool) -> Scale:
    scale = QUICK if is_quick else FULL
    if sizes := os.environ.get("BENCH_SPANS"):
        spans = tuple(int(size) for size in sizes.split(","))
        scale = replace(scale, store_spans=spans, growth_spans=spans)
    if repeats := os.environ.get("BENCH_REPEATS"):
        scale = replace(scale, read_repeats=int(repeats))
    return scale


def find_default_parts() -> list[str]:
    return [part for part in MEASURE if part not in ON_REQUEST]


def show_part(part: str, environment: dict[str, Any], figures: object) -> None:
    """Print the tables of a part, with the changes since its baseline in parentheses."""
    baseline = load_baseline(part)
    old_tables = TABULATE[part](baseline["figures"]) if baseline else []
    by_title = {table.title: table for table in old_tables}
    for table in TABULATE[part](figures):
        console.print(table.to_console(by_title.get(table.title)))
    console.print(f"this run: {describe_baseline(environment)}")
    console.print(f"baseline: {describe_baseline(baseline) if baseline else 'none'}\n")


def store_run(run: dict[str, Any]) -> None:
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{datetime.now(UTC):%Y%m%d-%H%M%S}{'-quick' if run['is_quick'] else ''}.json"
    path.write_text(json.dumps(run, indent=2) + "\n")
    console.print(f"stored in {path}")


if __name__ == "__main__":
    main()
