"""Stores one baseline per part: its figures, and where and on which commit they were measured."""

import json
from pathlib import Path
from typing import Any

BASELINES = Path(__file__).parent / "baselines"


def load_baseline(part: str) -> dict[str, Any] | None:
    path = BASELINES / f"{part}.json"
    return json.loads(path.read_text()) if path.exists() else None


def save_baseline(part: str, environment: dict[str, Any], figures: object) -> Path:
    BASELINES.mkdir(exist_ok=True)
    path = BASELINES / f"{part}.json"
    document = {"part": part, **environment, "figures": figures}
    path.write_text(json.dumps(document, indent=2) + "\n")
    return path


def describe_baseline(baseline: dict[str, Any]) -> str:
    """Return one line about where the figures come from, with missing facts as "not recorded"."""
    machine, calibration = baseline["machine"], baseline["calibration"]
    memory = machine["memory_gb"]
    facts = [
        f"commit {baseline['commit'] or 'not recorded'}",
        baseline["at"][:10],
        machine["cpu"] or "CPU not recorded",
        f"{machine['cores']} cores",
        "memory not recorded" if memory is None else f"{memory:.0f} GB",
        f"Python {machine['python']}",
        "calibration not recorded"
        if calibration is None
        else f"calibration {calibration['seconds']:.2f} s (loop {calibration['loop']})",
    ]
    return ", ".join(facts)
