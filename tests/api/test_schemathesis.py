"""Schemathesis tests the whole OpenAPI document against the running service."""

import os
import subprocess
import sys
from pathlib import Path

import httpx

from support.openapi import operations
from support.process import run_service

CONFIG = Path(__file__).with_name("schemathesis.toml")
TIMEOUT_SECONDS = 900


def test_the_service_does_what_its_document_says(tmp_path: Path) -> None:
    unlimited = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}
    with run_service(tmp_path, **unlimited) as service:
        document = httpx.get(f"{service.api}/openapi.json", timeout=60).json()
        with service.sign_up() as admin:
            credentials = f"Authorization: {admin.headers['Authorization']}"
        command = [
            str(Path(sys.executable).with_name("st")),
            f"--config-file={CONFIG}",
            "run",
            f"{service.api}/openapi.json",
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
    assert f"Tested: {len(list(operations(document)))}\n" in run.stdout
    assert crashes == []
