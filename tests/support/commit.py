"""A commit pipeline on a fake store that can fail, refuse records, or block."""

import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path

from spanwise.ingest.commit.journal import Journal
from spanwise.ingest.commit.pipeline import Pipeline
from spanwise.ingest.records.record import Kind, Record
from spanwise.model.accounts import Sender
from support.polling import until

SENDER = Sender("workspace", "key")


class FakeStore:
    def __init__(self) -> None:
        self.inserted: list[int] = []
        # The numbers of finished records, and their versions.
        self.finished: list[int] = []
        self.versions: list[int] = []
        self.batches: list[int] = []
        self.quarantined: list[int] = []
        self.failure: Exception | None = None
        self.poison: dict[int, Exception] = {}
        self.gate = threading.Event()
        self.gate.set()

    def insert(self, records: Sequence[Record]) -> None:
        assert self.gate.wait(20)
        if self.failure is not None:
            raise self.failure
        for record in records:
            if number_of(record) in self.poison:
                raise self.poison[number_of(record)]
        self.batches.append(len(records))
        self.inserted += map(number_of, records)

    def finish(self, records: Sequence[Record]) -> None:
        numbers = [*map(number_of, records)]
        assert set(numbers) <= {*self.inserted, *self.quarantined}
        self.finished += [number for number in numbers if number in self.inserted]
        self.versions += [record.version for record in records]

    def quarantine(self, record: Record, reason: str) -> None:
        assert reason
        self.quarantined.append(number_of(record))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Block inserts until the block ends."""
        self.gate.clear()
        try:
            yield
        finally:
            self.gate.set()


def make_records(number: int, size_bytes: int = 100) -> list[Record]:
    """Return one record that `number_of` recognizes."""
    return [Record(Kind.EXPOSURES, number.to_bytes(4) + bytes(size_bytes - 4))]


def number_of(record: Record) -> int:
    return int.from_bytes(record.payload[:4])


@asynccontextmanager
async def running(
    folder: Path,
    store: FakeStore,
    max_waiting_bytes: int = 10 * 2**20,
    min_free_bytes: int = 0,
) -> AsyncIterator[Pipeline]:
    with closing(Journal(folder)) as journal:
        pipeline = Pipeline(journal, store, max_waiting_bytes, min_free_bytes)
        await pipeline.start()
        try:
            yield pipeline
        finally:
            await pipeline.stop()


async def until_stalled(pipeline: Pipeline) -> None:
    async def is_stalled() -> bool:
        return pipeline.load().is_stalled

    await until(is_stalled)
