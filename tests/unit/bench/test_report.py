"""Tables of the benchmark: comparison with a baseline, Markdown, and the stored baselines."""

import json

import pytest
from bench.baseline_files import BASELINES, describe_baseline, load_baseline
from bench.environment import calibrate, describe_machine
from bench.report import TABULATE, render_baselines
from bench.tables import Column, FigureTable
from rich.console import Console

COLUMNS = (Column("requests/s"), Column("p50 ms", ".1f"))
STORED = sorted(path.stem for path in BASELINES.glob("*.json"))


def table(rows: dict[str, tuple[float | None, ...]]) -> FigureTable:
    return FigureTable("Title", "load", COLUMNS, rows)


def test_figures_are_followed_by_their_change_since_the_baseline() -> None:
    baseline = table({"small": (1000, 2.0)})
    console = Console(width=100)
    with console.capture() as printed:
        console.print(table({"small": (1100, 2.0), "large": (7, None)}).to_console(baseline))
    lines = printed.get().splitlines()
    assert any("1,100 (+10%)" in line and "2.0 " in line for line in lines)
    assert any("large" in line and "(" not in line for line in lines)


def test_a_table_is_rendered_as_markdown() -> None:
    assert table({"small": (1000, None)}).to_markdown() == (
        "**Title**\n\n| load | requests/s | p50 ms |\n|---|---:|---:|\n| small | 1,000 |  |"
    )


def test_every_stored_baseline_belongs_to_a_part() -> None:
    assert STORED
    assert set(STORED) <= TABULATE.keys()


@pytest.mark.parametrize("part", STORED)
def test_a_baseline_describes_where_it_was_measured(part: str) -> None:
    baseline = load_baseline(part)
    assert baseline is not None
    assert baseline["part"] == part
    assert {"at", "commit", "machine", "calibration", "figures"} <= baseline.keys()
    assert describe_baseline(baseline) in render_baselines()


def test_the_machine_is_recorded() -> None:
    machine = json.loads(json.dumps(describe_machine()))
    assert machine["cpu"]
    assert machine["cores"] >= 1
    assert machine["memory_gb"] > 0
    assert calibrate() > 0
