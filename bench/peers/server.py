"""Runs the server of a peer on loopback, in a folder of its own."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench.peers.install import SkippedPeerError
from bench.peers.process_tree import find_tree

_START_SECONDS = 300
_STOP_SECONDS = 60


@contextmanager
def run_server(
    name: str,
    command: Sequence[object],
    settings: Mapping[str, str],
    folder: Path,
    ready_url: str,
) -> Iterator[tuple[int, float]]:
    """Start a server; yield its process id and the seconds until it was ready."""
    started = time.perf_counter()
    with (folder.parent / f"{folder.name}.log").open("wb") as log:
        process = subprocess.Popen(
            [str(word) for word in command],
            env={**os.environ, **settings},
            cwd=folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        if not _wait_until_ready(process, ready_url, started + _START_SECONDS):
            raise SkippedPeerError(f"{name} was skipped: its server did not start.")
        yield process.pid, time.perf_counter() - started
    finally:
        _stop(process)


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, deadline: float) -> bool:
    with httpx.Client(timeout=5) as http:
        while process.poll() is None and time.perf_counter() < deadline:
            try:
                if http.get(url).is_success:
                    return True
            except httpx.TransportError:
                pass
            time.sleep(0.01)
    return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the server in an orderly way, then end the workers that it left behind."""
    tree = find_tree(process.pid)
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pid in tree[1:]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
