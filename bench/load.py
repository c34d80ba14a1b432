"""The load client: a separate process on raw sockets, to leave the cores to the service."""

import asyncio
import gzip
import itertools
import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.payload import read_pool

PATH = "/api/otlp/v1/traces"


@dataclass(frozen=True)
class Task:
    """What to send. The pool is repeated as needed, with new ids in every request."""

    port: int
    key: str
    pool: str
    connections: int
    requests: int
    is_packed: bool
    # Across all connections; 0 sends the next request when the last is answered.
    seconds_between: float = 0
    path: str = PATH
    # Sent besides the key, which may be empty.
    headers: Mapping[str, str] = field(default_factory=dict)
    # Sends the bodies of the pool unchanged, to compare products that get the same bytes.
    is_verbatim: bool = False
    # No request starts later than this; 0 is no limit.
    max_seconds: float = 0


@dataclass
class Outcome:
    # Seconds since the epoch, to be compared with the clock of another process.
    started_at: float
    seconds: float
    acks_ms: list[float]
    refused: int


async def send_all(task: Task) -> Outcome:
    bodies = itertools.islice(itertools.cycle(read_pool(Path(task.pool))), task.requests)
    source: Iterator[bytes] = (
        body.data if task.is_verbatim else body.with_new_ids() for body in bodies
    )
    if task.is_packed:
        # Compress before the clock starts: the cost of the client is not measured.
        source = iter([gzip.compress(body, 1) for body in source])
    return await _send_bodies(task, source)


async def _send_bodies(task: Task, source: Iterator[bytes]) -> Outcome:
    acks: list[float] = []
    refused = [0]
    started_at, started = time.time(), time.perf_counter()
    due = itertools.count(started, task.seconds_between)
    if task.max_seconds:
        deadline = started + task.max_seconds
        source = itertools.takewhile(lambda _: time.perf_counter() < deadline, source)
    async with asyncio.TaskGroup() as group:
        for _ in range(task.connections):
            group.create_task(_send(task, source, due, acks, refused))
    return Outcome(started_at, time.perf_counter() - started, acks, refused[0])


async def _send(
    task: Task,
    source: Iterator[bytes],
    due: Iterator[float],
    acks: list[float],
    refused: list[int],
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", task.port)
    headers = {"Host": f"127.0.0.1:{task.port}", **task.headers}
    headers |= {"x-api-key": task.key} if task.key else {}
    headers |= {"Content-Encoding": "gzip"} if task.is_packed else {}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = (
        f"POST {task.path} HTTP/1.1\r\n{lines}"
        "Content-Type: application/x-protobuf\r\nContent-Length: "
    ).encode()
    for body in source:
        await asyncio.sleep(max(0.0, next(due) - time.perf_counter()))
        while True:
            started = time.perf_counter()
            writer.write(head + b"%d\r\n\r\n" % len(body))
            writer.write(body)
            await writer.drain()
            status, retry_after = await _read_response(reader)
            if status == 200:
                acks.append((time.perf_counter() - started) * 1000)
                break
            refused[0] += 1
            if status != 503:
                raise RuntimeError(f"unexpected status {status}")
            await asyncio.sleep(min(retry_after, 0.2))
    writer.close()


async def _read_response(reader: asyncio.StreamReader) -> tuple[int, float]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    headers = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    if size := int(headers.get(b"content-length", b"0")):
        await reader.readexactly(size)
    return int(head[9:12]), float(headers.get(b"retry-after", b"0"))


if __name__ == "__main__":
    outcome = asyncio.run(send_all(Task(**json.loads(sys.argv[1]))))
    sys.stdout.write(json.dumps(vars(outcome)))
