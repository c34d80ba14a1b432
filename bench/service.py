"""Runs the real service in a separate process and reads its CPU time and memory."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

PASSWORD = "correct horse battery"
_TICKS = os.sysconf("SC_CLK_TCK")
_LIMITS = ("STANDARD", "STRICT", "INGESTION")


@dataclass
class Service:
    process: subprocess.Popen[bytes]
    port: int
    start_seconds: float
    http: httpx.Client
    key: str = ""
    start_cpu_seconds: float = 0
    max_lag_seconds: float = 0

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def peak_memory_mb(self) -> float:
        return self._read_memory("VmHWM")

    def memory_mb(self) -> float:
        return self._read_memory("VmRSS")

    def _read_memory(self, field: str) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith(field))
        return int(line.split()[1]) / 1024

    def record_lag(self, response: httpx.Response) -> None:
        """Remember how far the least complete response lay behind."""
        if as_of := response.headers.get("X-Data-As-Of"):
            lag = time.time() - datetime.fromisoformat(as_of).timestamp()
            self.max_lag_seconds = max(self.max_lag_seconds, lag)

    def total_traces(self) -> int:
        """Return how many traces are visible; waits for everything acknowledged before."""
        response = self.http.get(
            "/spans/traces", params={"limit": 1}, headers={"Cache-Control": "no-cache"}
        )
        page = response.raise_for_status().json()
        total: int = page["pagination"]["total"]
        return total


@contextmanager
def run_service(folder: Path, port: int) -> Iterator[Service]:
    """Start the service on a data folder and sign in; the first start creates the account."""
    limits = {f"SPANWISE_RATE_LIMIT_{tier}": "0" for tier in _LIMITS}
    settings = {
        "SPANWISE_DATA_DIR": str(folder / "data"),
        "SPANWISE_PORT": str(port),
        "SPANWISE_OTLP_GRPC_PORT": "0",
    }
    started = time.perf_counter()
    with (folder / "service.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "spanwise", "serve"],
            env={**os.environ, **limits, **settings},
            cwd=folder,
            stderr=log,
        )
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api", timeout=120) as http:
        try:
            _wait_until_ready(http, process, folder / "service.log")
            service = Service(process, port, time.perf_counter() - started, http)
            service.start_cpu_seconds = service.cpu_seconds()
            _sign_in(service)
            yield service
            process.send_signal(signal.SIGTERM)
            process.wait(120)
        finally:
            process.kill()
            process.wait()


def _wait_until_ready(http: httpx.Client, process: subprocess.Popen[bytes], log_path: Path) -> None:
    while process.poll() is None:
        try:
            if http.get("/ready").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.01)
    raise RuntimeError(f"the service exited: {log_path.read_text()[-2000:]}")


def _sign_in(service: Service) -> None:
    body = {"email": "bench@example.com", "password": PASSWORD}
    service.http.post("/auth/register", json=body)
    token = service.http.post("/auth/login", json=body).raise_for_status().json()["data"]["token"]
    service.http.headers["Authorization"] = f"Bearer {token}"
    key = service.http.post("/keys", json={"name": "bench"}).raise_for_status()
    service.key = key.json()["data"]["key"]


def run_engine(command: str, folder: Path, *arguments: object) -> dict[str, Any]:
    return run_module("bench.engine", command, str(folder), *map(str, arguments))


def run_module(module: str, *arguments: str) -> dict[str, Any]:
    """Run a module of the benchmark in a separate process and parse what it prints."""
    finished = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        check=True,
    )
    figures: dict[str, Any] = json.loads(finished.stdout)
    return figures


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
