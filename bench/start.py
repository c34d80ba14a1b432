"""Measures how long commands take to start, on an empty store and on the one that it left."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from bench.service import free_port, run_service

STARTS = 5
Costs = list[tuple[float, float]]


def measure_start(folder: Path) -> dict[str, dict[str, float]]:
    folders = [folder / f"start-{number}" for number in range(STARTS)]
    for data in folders:
        data.mkdir()
    return {
        "spanwise version": _summarize(_start_version()),
        "spanwise serve until ready, first start": _summarize(_start_service(folders)),
        "spanwise serve until ready, later starts": _summarize(_start_service(folders)),
    }


def _summarize(costs: Costs) -> dict[str, float]:
    seconds, cpu_seconds = zip(*costs, strict=True)
    return {
        "median_seconds": median(seconds),
        "max_seconds": max(seconds),
        "cpu_seconds": median(cpu_seconds),
    }


def _start_version() -> Costs:
    costs = []
    for _ in range(STARTS):
        started, cpu = time.perf_counter(), _children_cpu_seconds()
        command = [sys.executable, "-m", "spanwise", "version"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        costs.append((time.perf_counter() - started, _children_cpu_seconds() - cpu))
    return costs


def _start_service(folders: Sequence[Path]) -> Costs:
    """Start the service on each folder, until `/ready` answers 200."""
    costs = []
    for data in folders:
        with run_service(data, free_port()) as service:
            costs.append((service.start_seconds, service.start_cpu_seconds))
    return costs


def _children_cpu_seconds() -> float:
    used = os.times()
    return used.children_user + used.children_system
