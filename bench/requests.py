"""What a request costs before its route runs, and how fast the commands start.

Run by hand: `.venv/bin/python bench/requests.py`. Figures depend on the machine; none is a test.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from spanwise.model.accounts import Principal, Role
from spanwise.model.keys import Scope
from spanwise.services.accounts.access import Access
from spanwise.services.accounts.keys import Keys
from spanwise.settings import load_settings
from spanwise.storage.counters import Limit, MemoryCounters
from spanwise.wiring.commands import open_accounts

ROUNDS = 20_000
CALLERS = 10_000
STARTS = 5


async def cost_us(work: Callable[[], Awaitable[object]]) -> float:
    """Return the median over ten runs of the mean cost, microseconds of processor time."""
    runs = []
    for _ in range(10):
        started = time.process_time()
        for _ in range(ROUNDS // 10):
            await work()
        runs.append((time.process_time() - started) / (ROUNDS // 10) * 1e6)
    return median(runs)


async def measure_requests(folder: Path) -> None:
    counters, limit = MemoryCounters(), Limit("standard", 10**9)
    alone = await cost_us(lambda: counters.hit(limit, "usr_0"))
    for number in range(CALLERS):
        await counters.hit(limit, f"usr_{number}")
    crowded = await cost_us(lambda: counters.hit(limit, "usr_0"))
    print(f"rate limit, one caller           {alone:8.1f} µs")
    print(f"rate limit, {CALLERS:,} callers     {crowded:8.1f} µs")
    async with open_accounts(load_settings(data_dir=folder)) as accounts:
        user = await accounts.register("ann@example.com", "correct horse battery", "Ann", None)
        sign_in = await accounts.login("ann@example.com", "correct horse battery", None)
        access: Access = accounts._access
        person = await access.by_token(sign_in.token)
        keys = Keys(accounts._catalog, access)
        principal = Principal(user.id, person.workspace_id, Role.ADMIN)
        key = await keys.create(principal, "bench", [Scope.FULL], None, None)
        by_key = await cost_us(lambda: access.by_key(key.key))
        by_token = await cost_us(lambda: access.by_token(sign_in.token))
    print(f"authentication by key, seen      {by_key:8.1f} µs")
    print(f"authentication by token, seen    {by_token:8.1f} µs")


def show_start(what: str, runs: list[tuple[float, float]]) -> None:
    wall, processor = (median(column) for column in zip(*runs, strict=True))
    print(f"{what:33}{wall:7.2f} s, {processor:.2f} s of processor time")


def processor_seconds() -> float:
    used = os.times()
    return used.children_user + used.children_system


def measure_version() -> list[tuple[float, float]]:
    runs = []
    for _ in range(STARTS):
        started, used = time.perf_counter(), processor_seconds()
        command = [sys.executable, "-m", "spanwise", "version"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        runs.append((time.perf_counter() - started, processor_seconds() - used))
    return runs


def measure_serve(folder: Path, port: int) -> list[tuple[float, float]]:
    """Start until healthy, then stop; the processor time is of both."""
    command = [sys.executable, "-m", "spanwise", "serve", f"--port={port}", "--otlp-grpc-port=0"]
    runs = []
    for number in range(STARTS):
        started, used = time.perf_counter(), processor_seconds()
        with subprocess.Popen(
            [*command, f"--data-dir={folder / str(number)}"], stderr=subprocess.DEVNULL
        ) as process:
            while True:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/api/health").close()
                    break
                except OSError:
                    time.sleep(0.01)
            healthy = time.perf_counter() - started
            process.terminate()
        runs.append((healthy, processor_seconds() - used))
    return runs


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure_requests(Path(folder)))
        show_start("spanwise version", measure_version())
        show_start("spanwise serve until healthy", measure_serve(Path(folder), 18_787))


if __name__ == "__main__":
    main()
