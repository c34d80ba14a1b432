"""Measures the CPU time of rate limiting and authentication, which every request pays.

Run by hand: `.venv/bin/python -m bench.request_overhead`.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from spanwise.model.keys import Scope
from spanwise.services.access import Access
from spanwise.services.accounts.keys import Keys
from spanwise.settings import load_settings
from spanwise.storage.counters import Limit, MemoryCounters
from spanwise.wiring.commands import open_accounts

ROUNDS = 20_000
CALLERS = 10_000


async def measure_cpu_us(work: Callable[[], Awaitable[object]]) -> float:
    """Return the CPU time of one call in microseconds: the median of ten means."""
    runs = []
    for _ in range(10):
        started = time.process_time()
        for _ in range(ROUNDS // 10):
            await work()
        runs.append((time.process_time() - started) / (ROUNDS // 10) * 1e6)
    return median(runs)


async def measure_overhead(folder: Path) -> None:
    counters, limit = MemoryCounters(), Limit("standard", 10**9)
    alone = await measure_cpu_us(lambda: counters.hit(limit, "usr_0"))
    for number in range(CALLERS):
        await counters.hit(limit, f"usr_{number}")
    crowded = await measure_cpu_us(lambda: counters.hit(limit, "usr_0"))
    print(f"rate limit, one caller           {alone:8.1f} µs")
    print(f"rate limit, {CALLERS:,} callers     {crowded:8.1f} µs")
    async with open_accounts(load_settings(data_dir=folder)) as accounts:
        await accounts.register("ann@example.com", "correct horse battery", "Ann", None)
        sign_in = await accounts.login("ann@example.com", "correct horse battery", None)
        access: Access = accounts._access
        person = await access.by_token(sign_in.token)
        keys = Keys(accounts._catalog, access)
        key = await keys.create(person, "bench", [Scope.FULL], None, None)
        by_key = await measure_cpu_us(lambda: access.by_key(key.key))
        by_token = await measure_cpu_us(lambda: access.by_token(sign_in.token))
    print(f"authentication by key, cached    {by_key:8.1f} µs")
    print(f"authentication by token, cached  {by_token:8.1f} µs")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure_overhead(Path(folder)))
