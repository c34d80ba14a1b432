"""The assignment client: a separate process that spends little CPU time per request."""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import uvloop


@dataclass(frozen=True)
class Task:
    port: int
    key: str
    experiment: str
    connections: int
    requests: int
    # Units are used round-robin; as many units as requests means that each is new.
    units: int


class AssignConnection(asyncio.Protocol):
    """Sends one request at a time until none is left."""

    def __init__(self, task: Task, numbers: Iterator[int], times_ms: list[float]) -> None:
        self._task = task
        self._numbers = numbers
        self._times_ms = times_ms
        self._tail = f" HTTP/1.1\r\nHost: bench\r\nx-api-key: {task.key}\r\n\r\n".encode()
        self._response = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._send_next()

    def _send_next(self) -> None:
        number = next(self._numbers, None)
        if number is None:
            self._transport.close()
            self.done.set_result(None)
            return
        path = f"/api/experiments/{self._task.experiment}/assign?unitId=user-{number}"
        self._started = time.perf_counter()
        self._transport.write(b"GET " + path.encode() + self._tail)

    def data_received(self, data: bytes) -> None:
        self._response += data
        # The envelope ends with two braces.
        if not self._response.endswith(b"}}"):
            return
        self._times_ms.append((time.perf_counter() - self._started) * 1000)
        if not self._response.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(self._response.decode()))
            return
        self._response = b""
        self._send_next()


async def send_all(task: Task) -> tuple[float, list[float]]:
    numbers = iter(number % task.units for number in range(task.requests))
    times_ms: list[float] = []
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    pairs = [
        await loop.create_connection(
            lambda: AssignConnection(task, numbers, times_ms), "127.0.0.1", task.port
        )
        for _ in range(task.connections)
    ]
    await asyncio.gather(*(connection.done for _, connection in pairs))
    return time.perf_counter() - started, times_ms


if __name__ == "__main__":
    seconds, latencies_ms = uvloop.run(send_all(Task(**json.loads(sys.argv[1]))))
    latencies_ms.sort()
    shares = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}
    times = {name: latencies_ms[int(len(latencies_ms) * share)] for name, share in shares.items()}
    sys.stdout.write(json.dumps({"seconds": seconds, **times, "max_ms": latencies_ms[-1]}))
