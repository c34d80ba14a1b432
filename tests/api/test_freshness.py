"""A read waits for its caller's own writes, and says up to when the response is complete."""

import asyncio
import threading
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TypeVar

import httpx
import pytest

from spanwise.ingest.commit.engine_store import EngineStore
from spanwise.ingest.records.record import Record
from support.service import Person, Service
from support.telemetry import make_span

T = TypeVar("T")


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


async def _count(person: Person, cache_control: str = "") -> int:
    headers = {"Cache-Control": cache_control}
    return len(await person.data("GET", "/spans/traces", headers=headers))


def _as_of(response: httpx.Response) -> float:
    return datetime.fromisoformat(response.headers["X-Data-As-Of"]).timestamp()


async def _after_waiting(read: Coroutine[Any, Any, T], go: threading.Event) -> T:
    """Let the store go on when the read has begun, and return what it reads."""
    task = asyncio.create_task(read)
    # It may end early only by an error in what is tested.
    done, _ = await asyncio.wait({task}, timeout=0.1)
    assert not done
    go.set()
    return await task


async def test_a_read_waits_for_its_callers_writes(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    with _slow_store(monkeypatch) as go:
        await ann.data("POST", "/spans", json=make_span())
        assert await _after_waiting(_count(ann), go) == 1


async def test_a_read_that_accepts_stale_data_does_not_wait(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    with _slow_store(monkeypatch) as go:
        await ann.data("POST", "/spans", json=make_span())
        assert await _count(ann, "private, max-age=30") == 0
        assert not go.is_set()
    assert await _count(ann) == 1


async def test_a_read_does_not_wait_for_the_writes_of_another_key(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    key = (await ann.new_key())["key"]
    with _slow_store(monkeypatch):
        before = time.time()
        sent = await service.call("POST", "/spans", json=make_span(), headers={"x-api-key": key})
        assert sent.is_success
        read = await ann.call("GET", "/spans/traces", headers={"Cache-Control": ""})
        assert read.json()["data"] == []
        # The header says that the response is not complete.
        assert before - 1 <= _as_of(read) <= time.time()
        after = time.time()
        again = await ann.call("GET", "/spans/traces", headers={"Cache-Control": ""})
        # It is the time of the write, however much later the read is.
        assert before - 1 <= _as_of(again) <= after
    assert await _count(ann, "no-cache") == 1
    complete = await ann.call("GET", "/spans/traces", headers={"Cache-Control": ""})
    assert _as_of(complete) > after


async def test_a_batch_waits_and_says_how_recent_it_is_as_each_of_its_reads_would(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    key = (await ann.new_key())["key"]
    body = {"requests": [{"path": "/analytics/metrics"}, {"path": "/users/profile"}]}

    async def read(headers: dict[str, str], person: Person = ann) -> tuple[int, httpx.Response]:
        batch = await person.call("POST", "/analytics/batch", json=body, headers=headers)
        [metrics, profile] = batch.json()["data"]
        assert profile["status"] == 200
        return metrics["body"].get("data", {}).get("totalTraces"), batch

    span = make_span(startTime=datetime.now(UTC).isoformat())
    with _slow_store(monkeypatch) as go:
        before = time.time()
        await service.call("POST", "/spans", json=span, headers={"x-api-key": key})
        # It does not wait for the writes of another key, unless it is asked to.
        traces, stale = await read({"Cache-Control": ""})
        assert traces == 0
        assert before - 1 <= _as_of(stale) <= time.time()
        # Nothing is said about a workspace in which the caller has no role.
        foreign = {"X-Workspace-Id": ann.user["defaultWorkspaceId"]}
        assert "X-Data-As-Of" not in (await read(foreign, bob))[1].headers
        traces, fresh = await _after_waiting(read({"Cache-Control": "no-cache"}), go)
        assert traces == 1
        assert _as_of(fresh) > _as_of(stale)


async def test_no_cache_waits_for_everyone_in_the_workspace_and_nobody_else(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    key = (await ann.new_key())["key"]
    with _slow_store(monkeypatch) as go:
        await bob.data("POST", "/spans", json=make_span())
        assert await _count(ann, "no-cache") == 0
        assert not go.is_set()
        await service.call("POST", "/spans", json=make_span(), headers={"x-api-key": key})
        assert await _after_waiting(_count(ann, "no-cache"), go) == 1


async def test_a_missing_record_is_waited_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    key = (await ann.new_key())["key"]
    span = make_span(sessionId="a-session", agentName="an-agent")
    paths = (
        "/spans/traces/{traceId}",
        "/spans/traces/{traceId}/spans/{spanId}",
        "/spans/sessions/{sessionId}",
        "/signals/trace/{traceId}",
        "/logs/trace/{traceId}",
        "/agents/{agentName}",
    )

    async def read_all() -> list[httpx.Response]:
        stale = {"Cache-Control": "max-age=60"}
        reads = (ann.call("GET", path.format(**span), headers=stale) for path in paths)
        return await asyncio.gather(*reads)

    with _slow_store(monkeypatch) as go:
        await service.call("POST", "/spans", json=span, headers={"x-api-key": key})
        found = await _after_waiting(read_all(), go)
    statuses = {path: answer.status_code for path, answer in zip(paths, found, strict=True)}
    assert statuses == dict.fromkeys(paths, 200)


async def test_a_record_that_is_there_is_not_waited_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    key = (await ann.new_key())["key"]
    span = make_span()
    await ann.data("POST", "/spans", json=span)
    await ann.data("GET", f"/spans/traces/{span['traceId']}")
    with _slow_store(monkeypatch) as go:
        await service.call("POST", "/spans", json=make_span(), headers={"x-api-key": key})
        path = f"/spans/traces/{span['traceId']}"
        assert (await ann.call("GET", path, headers={"Cache-Control": ""})).is_success
        assert not go.is_set()


async def test_a_missing_record_is_not_found_at_once_when_nothing_is_pending(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    with _slow_store(monkeypatch) as go:
        await bob.data("POST", "/spans", json=make_span())
        path = f"/spans/traces/{make_span()['traceId']}"
        assert (await ann.call("GET", path)).status_code == 404
        assert not go.is_set()
