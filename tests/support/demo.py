"""A demo that is filled once per test run, and copied for tests that change it."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from spanwise.demo.setup import EMAIL, MARKER, PASSWORD
from support.polling import wait_for
from support.process import ANSWER_SECONDS, Running, run_demo

# Reduced traffic: 1,500 traces.
SCALE = ("--scale", "0.06")
UNLIMITED = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}


@dataclass(frozen=True)
class FilledDemo:
    """The data of a demo that was stopped after it had been filled."""

    folder: Path
    traces: int

    @contextmanager
    def run_copy(self, folder: Path, **settings: object) -> Iterator[Running]:
        """Start the demo on a copy of the data, in the given folder."""
        # The engine refers to its databases with relative links.
        shutil.copytree(self.folder / "data", folder / "data", symlinks=True)
        with run_demo(folder, *SCALE, **{**UNLIMITED, **settings}) as running:
            yield running


def fill_demo_once(factory: pytest.TempPathFactory) -> FilledDemo:
    """Fill a demo, or wait until another worker has filled it."""
    base = factory.getbasetemp()
    # The folder of a worker lies in that of the run.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "filled-demo"
    folder.mkdir(exist_ok=True)
    summary = folder / "summary.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not summary.exists():
            summary.write_text(json.dumps({"traces": _fill(folder)}))
    return FilledDemo(folder, json.loads(summary.read_text())["traces"])


def _fill(folder: Path) -> int:
    with run_demo(folder, *SCALE, **UNLIMITED) as service:
        wait_for((folder / "data" / MARKER).exists, seconds=240)
        with sign_in(service.url) as http:
            traces = count_traces(http)
        assert service.stop() == 0
    return traces


def sign_in(url: str) -> httpx.Client:
    """Log in as the owner of the demo; the client carries the token."""
    body = {"email": EMAIL, "password": PASSWORD}
    answer = httpx.post(f"{url}/api/auth/login", json=body, timeout=ANSWER_SECONDS)
    return httpx.Client(
        base_url=f"{url}/api",
        headers={"Authorization": f"Bearer {answer.json()['data']['token']}"},
        timeout=ANSWER_SECONDS,
    )


def read(http: httpx.Client, path: str) -> Any:
    answer = http.get(path)
    assert answer.is_success, answer.text
    return answer.json()["data"]


def count_traces(http: httpx.Client) -> int:
    """Count all traces; the default range would exclude the oldest of the month."""
    return int(read(http, "/analytics/metrics?startDate=2020-01-01")["totalTraces"])
