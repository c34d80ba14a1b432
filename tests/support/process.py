"""The real `spanwise` command in its own process."""

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx

from support.forking import ForkedProcess, Process
from support.service import PASSWORD

COMMAND = [sys.executable, "-m", "spanwise"]
# Generous, because the machine may be busy.
START_SECONDS = 180
ANSWER_SECONDS = 60


@dataclass(frozen=True)
class Running:
    """A service that listens, with its log."""

    process: Process
    url: str
    log_path: Path

    @property
    def api(self) -> str:
        return f"{self.url}/api"

    def peak_memory_mb(self) -> int:
        """Return the peak memory of the process since `forget_peak`."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) // 1024

    def forget_peak(self) -> None:
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def log(self) -> list[dict[str, Any]]:
        return _read_log(self.log_path)

    def stop(self, seconds: float = 90) -> int:
        """Send SIGTERM like a service manager, and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def get(self, path: str, **options: Any) -> httpx.Response:
        return httpx.get(f"{self.api}{path}", timeout=ANSWER_SECONDS, **options)

    def sign_up(self, email: str = "ann@example.com") -> httpx.Client:
        """Register and log in; the client carries the token, and reads what any key has written."""
        body = {"email": email, "password": PASSWORD}
        with httpx.Client(base_url=self.api, timeout=ANSWER_SECONDS) as http:
            http.post("/auth/register", json=body).raise_for_status()
            token = http.post("/auth/login", json=body).raise_for_status().json()["data"]["token"]
        return httpx.Client(
            base_url=self.api,
            headers={"Authorization": f"Bearer {token}", "Cache-Control": "no-cache"},
            timeout=ANSWER_SECONDS,
        )


def environment(folder: Path, **settings: object) -> dict[str, str]:
    """Return an environment with these settings, without those of the machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SPANWISE_")}
    given = {
        "port": 0,
        "otlp_grpc_port": 0,
        "data_dir": folder / "data",
        "memory_limit_mb": 2048,
        **settings,
    }
    return kept | {f"SPANWISE_{name.upper()}": str(value) for name, value in given.items()}


@contextmanager
def run_service(folder: Path, *flags: str, **settings: object) -> Iterator[Running]:
    """Start the service on a free port and wait until it listens; always end it.

    A new data folder has the tables of a first start, which take most of it; `exec_service` is a
    first start.
    """
    if not settings.keys() & {"data_dir", "catalog_url", "telemetry_url"}:
        _copy_stores(folder / "data")
    with _run(_fork, folder, ["serve", *flags], settings) as running:
        yield running


def _copy_stores(data: Path) -> None:
    if not data.exists():
        stores = _new_stores()
        shutil.copytree(stores / "telemetry", data / "telemetry", symlinks=True)
        shutil.copyfile(stores / "catalog.db", data / "catalog.db")


@cache
def _new_stores() -> Path:
    """Return a data folder with empty stores, made by a first start."""
    folder = Path(tempfile.mkdtemp(prefix="spanwise-stores-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with _run(_fork, folder, ["serve"], {}) as first:
        assert first.stop() == 0
    return folder / "data"


@contextmanager
def exec_service(folder: Path, *flags: str, **settings: object) -> Iterator[Running]:
    """The same in a new interpreter, as a shell starts it."""
    with _run(_exec, folder, ["serve", *flags], settings) as running:
        yield running


@contextmanager
def run_demo(folder: Path, *flags: str, **settings: object) -> Iterator[Running]:
    """Start the demo and wait until it listens; it is filled in the background."""
    with _run(_fork, folder, ["demo", *flags], {"log_level": "info", **settings}) as running:
        yield running


@contextmanager
def _run(
    start: Callable[[Sequence[str], Path, Mapping[str, str], Path], Process],
    folder: Path,
    arguments: Sequence[str],
    settings: Mapping[str, object],
) -> Iterator[Running]:
    folder.mkdir(parents=True, exist_ok=True)
    log_path = folder / f"log-{time.monotonic_ns()}.jsonl"
    log_path.touch()
    process = start(arguments, folder, environment(folder, **settings), log_path)
    try:
        yield Running(process, _wait_until_listening(process, log_path), log_path)
    finally:
        process.kill()
        process.wait()


def _fork(arguments: Sequence[str], folder: Path, env: Mapping[str, str], log: Path) -> Process:
    return ForkedProcess(arguments, folder, env, None, None, log)


def _exec(arguments: Sequence[str], folder: Path, env: Mapping[str, str], log: Path) -> Process:
    with log.open("wb") as stderr:
        return subprocess.Popen([*COMMAND, *arguments], cwd=folder, env=env, stderr=stderr)


def run_command(
    folder: Path, *arguments: str, stdin: str = "", **settings: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    with tempfile.TemporaryDirectory() as streams:
        paths = [Path(streams) / name for name in ("stdin", "stdout", "stderr")]
        for path in paths:
            path.write_text(stdin if path.name == "stdin" else "")
        process = ForkedProcess(arguments, folder, environment(folder, **settings), *paths)
        try:
            code = process.wait(START_SECONDS)
        finally:
            process.kill()
        return subprocess.CompletedProcess(
            arguments, code, paths[1].read_text(), paths[2].read_text()
        )


def exec_command(
    folder: Path, *arguments: str, **settings: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a new interpreter, as a shell does."""
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(folder, **settings),
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )


def _wait_until_listening(process: Process, log_path: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        for line in _read_log(log_path):
            if line["event"] == "listening":
                return str(line["url"])
        time.sleep(0.02)
    raise AssertionError(f"it does not listen: {log_path.read_text()}")


def _read_log(path: Path) -> list[dict[str, Any]]:
    # A line that is being written has no end yet. A path in a line may have other line separators,
    # such as U+0085, at which splitlines() would cut it.
    whole = path.read_text().rpartition("\n")[0]
    return [json.loads(line) for line in whole.split("\n") if line.startswith("{")]
