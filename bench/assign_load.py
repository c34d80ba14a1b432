"""The client that asks for variants: a process of its own that spends little on each request."""

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
    # How many units ask, in turn: as many as requests means that each is new.
    units: int


class Asker(asyncio.Protocol):
    """Keeps one request under way until there is none left."""

    def __init__(self, task: Task, numbers: Iterator[int], times_ms: list[float]) -> None:
        self._task = task
        self._numbers = numbers
        self._times_ms = times_ms
        self._tail = f" HTTP/1.1\r\nHost: bench\r\nx-api-key: {task.key}\r\n\r\n".encode()
        self._answer = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def _ask(self) -> None:
        number = next(self._numbers, None)
        if number is None:
            self._transport.close()
            self.done.set_result(None)
            return
        path = f"/api/experiments/{self._task.experiment}/assign?unitId=user-{number}"
        self._started = time.perf_counter()
        self._transport.write(b"GET " + path.encode() + self._tail)

    def data_received(self, data: bytes) -> None:
        self._answer += data
        # Nothing follows the envelope's last brace.
        if not self._answer.endswith(b"}}"):
            return
        self._times_ms.append((time.perf_counter() - self._started) * 1000)
        if not self._answer.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(RuntimeError(self._answer.decode()))
            return
        self._answer = b""
        self._ask()


async def ask_all(task: Task) -> tuple[float, list[float]]:
    numbers = iter(number % task.units for number in range(task.requests))
    times_ms: list[float] = []
    loop = asyncio.get_running_loop()
    started = time.perf_counter()
    pairs = [
        await loop.create_connection(lambda: Asker(task, numbers, times_ms), "127.0.0.1", task.port)
        for _ in range(task.connections)
    ]
    await asyncio.gather(*(asker.done for _, asker in pairs))
    return time.perf_counter() - started, times_ms


if __name__ == "__main__":
    seconds, answers_ms = uvloop.run(ask_all(Task(**json.loads(sys.argv[1]))))
    answers_ms.sort()
    shares = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}
    times = {name: answers_ms[int(len(answers_ms) * share)] for name, share in shares.items()}
    sys.stdout.write(json.dumps({"seconds": seconds, **times, "max_ms": answers_ms[-1]}))
