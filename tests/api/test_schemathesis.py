"""Schemathesis tests the OpenAPI document against the running service.

`make test` tries a sample of the operations, always the same one. `make test-all` tries all of
them, and runs the coverage phase: each limit of each parameter, ten times as many requests.
"""

import os
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest

from support.openapi import Operation, operations
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
SAMPLE_SEED, SAMPLE_SIZE = 1, 24
SAMPLE = f"sample-of-seed-{SAMPLE_SEED}"
LONG = pytest.mark.long, pytest.mark.timeout(TIMEOUT_SECONDS)


def choose(group: str, found: Sequence[Operation]) -> tuple[str, list[Operation]]:
    """Return the option that selects the operations of a group, and these operations."""
    if group == SAMPLE:
        by_id = {operation.spec["operationId"]: operation for operation in found}
        chosen = random.Random(SAMPLE_SEED).sample(sorted(by_id), SAMPLE_SIZE)
        option = f"--include-operation-id-regex=^({'|'.join(chosen)})$"
        return option, [by_id[name] for name in chosen]
    if group == EVERYTHING:
        return "--include-path-regex=^/api/", list(found)
    nouns = GROUPS.get(group) or [noun for names in GROUPS.values() for noun in names]
    pattern = f"^/api/({'|'.join(nouns)})(/|$)"
    kind = "exclude" if group == OTHERS else "include"
    return f"--{kind}-path-regex={pattern}", [
        operation
        for operation in found
        if bool(re.search(pattern, operation.path)) == (group != OTHERS)
    ]


@pytest.mark.timeout(TIMEOUT_SECONDS)
@pytest.mark.parametrize(
    ("group", "phases"),
    [
        (SAMPLE, "examples,fuzzing"),
        pytest.param(EVERYTHING, "examples,fuzzing,stateful", marks=LONG),
        *(pytest.param(group, "coverage", marks=LONG) for group in (*GROUPS, OTHERS)),
    ],
)
def test_the_service_conforms_to_its_document(tmp_path: Path, group: str, phases: str) -> None:
    unlimited = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}
    with run_service(tmp_path, **unlimited) as service:
        document = httpx.get(f"{service.api}/openapi.json", timeout=60).json()
        option, expected = choose(group, list(operations(document)))
        with service.sign_up() as admin:
            credentials = f"Authorization: {admin.headers['Authorization']}"
        command = [
            str(Path(sys.executable).with_name("st")),
            f"--config-file={CONFIG}",
            "run",
            f"{service.api}/openapi.json",
            option,
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
    assert expected
    assert f"Tested: {len(expected)}\n" in run.stdout
    assert crashes == []
