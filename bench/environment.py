"""Describes where a benchmark runs: commit, machine and the time of a fixed calibration loop."""

import os
import platform
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
# Times of different loops cannot be compared, so a changed loop needs a new name.
CALIBRATION_LOOP = "squares-5m"
_CALIBRATION_STEPS = 5_000_000
_CALIBRATION_RUNS = 3


def describe_environment() -> dict[str, Any]:
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": find_commit(),
        "machine": describe_machine(),
        "calibration": {"loop": CALIBRATION_LOOP, "seconds": round(calibrate(), 3)},
        "load_before": [round(load, 2) for load in os.getloadavg()],
    }


def find_commit() -> str | None:
    """Return the checked-out commit, marked when files differ from it; None without git."""
    commit = _run("git", "rev-parse", "--short=12", "HEAD")
    if not commit:
        return None
    return f"{commit}-modified" if _run("git", "status", "--porcelain") else commit


def describe_machine() -> dict[str, Any]:
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": _find_cpu_model(),
        "cores": os.cpu_count(),
        "memory_gb": round(memory_bytes / 2**30, 1),
        "python": platform.python_version(),
    }


def calibrate() -> float:
    """Return the seconds that a fixed Python loop takes, the best of three runs."""
    return min(_time_loop() for _ in range(_CALIBRATION_RUNS))


def _time_loop() -> float:
    started = time.perf_counter()
    total = 0
    for number in range(_CALIBRATION_STEPS):
        total += number * number
    return time.perf_counter() - started


def _find_cpu_model() -> str:
    for line in _run("lscpu").splitlines():
        name, _, value = line.partition(":")
        if name == "Model name":
            return value.strip()
    return platform.processor() or platform.machine()


def _run(*command: str) -> str:
    """Return what a command prints; empty when it fails or is not installed."""
    try:
        finished = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return finished.stdout.strip()
