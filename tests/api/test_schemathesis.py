"""Schemathesis tests the whole OpenAPI document against the running service.

`make test-all` also runs its coverage phase: each limit of each parameter, ten times as many
requests.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from support.openapi import operations
from support.process import run_service

CONFIG = Path(__file__).with_name("schemathesis.toml")
TIMEOUT_SECONDS = 900
# Paths by first segment that are tested together, because they use each other's records.
GROUPS = {
    "telemetry": ("spans", "signals", "logs", "otlp"),
    "analytics": ("analytics",),
    "agents": ("agents", "models", "events"),
    "experiments": ("experiments", "ofrep", "keys"),
}
EVERYTHING, OTHERS = "everything", "others"
LONG = pytest.mark.long, pytest.mark.timeout(TIMEOUT_SECONDS)


def choose_paths(group: str) -> tuple[str, str]:
    """Return the option that selects the paths of a group, and its regular expression."""
    if group == EVERYTHING:
        return "--include-path-regex", "^/api/"
    nouns = GROUPS.get(group) or [noun for names in GROUPS.values() for noun in names]
    option = "--include-path-regex" if group in GROUPS else "--exclude-path-regex"
    return option, f"^/api/({'|'.join(nouns)})(/|$)"


@pytest.mark.timeout(TIMEOUT_SECONDS)
@pytest.mark.parametrize(
    ("group", "phases"),
    [
        (EVERYTHING, "examples,fuzzing,stateful"),
        *(pytest.param(group, "coverage", marks=LONG) for group in (*GROUPS, OTHERS)),
    ],
)
def test_the_service_conforms_to_its_document(tmp_path: Path, group: str, phases: str) -> None:
    unlimited = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}
    option, pattern = choose_paths(group)
    with run_service(tmp_path, **unlimited) as service:
        document = httpx.get(f"{service.api}/openapi.json", timeout=60).json()
        with service.sign_up() as admin:
            credentials = f"Authorization: {admin.headers['Authorization']}"
        command = [
            str(Path(sys.executable).with_name("st")),
            f"--config-file={CONFIG}",
            "run",
            f"{service.api}/openapi.json",
            f"{option}={pattern}",
            f"--phases={phases}",
            f"--header={credentials}",
            # One: Python 3.11 may fail when two threads parse source code at a time, as Hypothesis
            # does to name its strategies ("AST constructor recursion depth mismatch").
            "--workers=1",
        ]
        run = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        crashes = [line for line in service.log() if line["event"] == "request_crashed"]
    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr
    expected = [
        o for o in operations(document) if bool(re.search(pattern, o.path)) == (group != OTHERS)
    ]
    assert expected
    assert f"Tested: {len(expected)}\n" in run.stdout
    assert crashes == []
