"""Reads contain all acknowledged data, unless the request accepts an older response."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from spanwise.ingest.commit.engine_store import EngineStore
from spanwise.ingest.commit.journal import Record
from support.service import Person, Service
from support.telemetry import make_span


@contextmanager
def _slow_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Delay writes to the store until the event is set."""
    go, insert = threading.Event(), EngineStore.insert

    def wait_first(self: EngineStore, records: Sequence[Record]) -> None:
        assert go.wait(20)
        insert(self, records)

    monkeypatch.setattr(EngineStore, "insert", wait_first)
    try:
        yield go
    finally:
        go.set()


async def _count(person: Person, **headers: str) -> int:
    return len(await person.data("GET", "/spans/traces", headers=headers))


@pytest.mark.parametrize("headers", [{}, {"Cache-Control": "max-age=0"}, {"Cache-Control": "no"}])
async def test_a_read_waits_for_acknowledged_data(
    service: Service, monkeypatch: pytest.MonkeyPatch, headers: dict[str, str]
) -> None:
    ann = await service.sign_up()
    with _slow_store(monkeypatch) as go:
        await ann.data("POST", "/spans", json=make_span())
        threading.Timer(0.3, go.set).start()
        assert await _count(ann, **headers) == 1


async def test_a_read_that_accepts_stale_data_does_not_wait(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    with _slow_store(monkeypatch) as go:
        await ann.data("POST", "/spans", json=make_span())
        assert await _count(ann, **{"Cache-Control": "private, max-age=30"}) == 0
        assert not go.is_set()
    assert await _count(ann) == 1


async def test_a_read_that_accepts_a_second_of_staleness_waits_for_older_data(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    with _slow_store(monkeypatch) as go:
        await ann.data("POST", "/spans", json=make_span())
        threading.Timer(1.5, go.set).start()
        assert await _count(ann, **{"Cache-Control": "max-age=1"}) == 0
        await asyncio.sleep(1.1)
        assert await _count(ann, **{"Cache-Control": "max-age=1"}) == 1
