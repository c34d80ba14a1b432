"""Read slots: workspaces take turns, none occupies all threads, and nothing gets lost."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import cast

import pytest
from clickhouse_connect.driver.client import Client

from spanwise.storage.telemetry.engine.read_slots import SERVICE, ReadSlots, Work

SECONDS = 10


@contextmanager
def open_slots(size: int, per_workspace: int) -> Iterator[ReadSlots]:
    numbers = count()
    slots = ReadSlots(
        "test", size, lambda: cast("Client", f"client {next(numbers)}"), per_workspace
    )
    try:
        yield slots
    finally:
        slots.close()


class Gate:
    """Makes work that does not finish before the gate is opened."""

    def __init__(self) -> None:
        self._opened = threading.Event()
        self.started = threading.Semaphore(0)
        self.order: list[str] = []

    def work(self, name: str) -> Work[str]:
        def wait(_: Client) -> str:
            self.order.append(name)
            self.started.release()
            assert self._opened.wait(SECONDS)
            return name

        return wait

    def open(self) -> None:
        self._opened.set()


def test_sixteen_queries_of_one_workspace_do_not_delay_another() -> None:
    gate = Gate()
    with open_slots(size=4, per_workspace=3) as slots:
        theirs = [slots.submit("ann", gate.work("ann")) for _ in range(16)]
        for _ in range(3):
            assert gate.started.acquire(timeout=SECONDS)
        assert slots.submit("bob", lambda _: "bob").result(SECONDS) == "bob"
        assert gate.order == ["ann"] * 3
        gate.open()
        assert [future.result(SECONDS) for future in theirs] == ["ann"] * 16


def test_waiting_workspaces_take_turns() -> None:
    gate = Gate()
    with open_slots(size=1, per_workspace=1) as slots:
        slots.submit("dan", gate.work("dan"))
        assert gate.started.acquire(timeout=SECONDS)
        names = ["ann", "ann", "ann", "bob", "bob", "cat"]
        futures = [slots.submit(name, gate.work(name)) for name in names]
        gate.open()
        for future in futures:
            future.result(SECONDS)
    assert gate.order == ["dan", "ann", "bob", "cat", "ann", "bob", "ann"]


def test_the_service_itself_may_use_every_thread() -> None:
    gate = Gate()
    with open_slots(size=2, per_workspace=1) as slots:
        futures = [slots.submit(SERVICE, gate.work("service")) for _ in range(2)]
        for _ in futures:
            assert gate.started.acquire(timeout=SECONDS)
        gate.open()


def test_a_query_cancelled_while_waiting_does_not_run() -> None:
    gate = Gate()
    with open_slots(size=1, per_workspace=1) as slots:
        first = slots.submit("ann", gate.work("first"))
        assert gate.started.acquire(timeout=SECONDS)
        second = slots.submit("ann", gate.work("second"))
        assert second.cancel()
        gate.open()
        first.result(SECONDS)
        assert slots.submit("ann", lambda _: "third").result(SECONDS) == "third"
    assert gate.order == ["first"]


def test_a_failed_query_affects_no_other_and_releases_the_client() -> None:
    def fail(_: Client) -> None:
        raise ValueError("no")

    with open_slots(size=1, per_workspace=1) as slots:
        with pytest.raises(ValueError, match="no"):
            slots.submit("ann", fail).result(SECONDS)
        assert slots.submit("ann", lambda _: "next").result(SECONDS) == "next"


def test_closing_finishes_submitted_queries() -> None:
    with open_slots(size=1, per_workspace=1) as slots:
        futures = [slots.submit("ann", lambda _: 1) for _ in range(50)]
    assert sum(future.result(0) for future in futures) == 50
    with pytest.raises(RuntimeError):
        slots.submit("ann", lambda _: 1)


def test_clients_are_opened_when_needed_and_used_again() -> None:
    with open_slots(3, per_workspace=3) as slots:
        assert slots.submit("a", str).result(SECONDS) == "client 0"
        assert slots.submit("a", str).result(SECONDS) == "client 0"
        first, second = slots.take_client(), slots.take_client()
        assert [str(first), str(second)] == ["client 0", "client 1"]


def test_a_client_that_cannot_be_opened_fails_its_query_and_is_tried_again() -> None:
    outcomes = iter([RuntimeError("no room"), "client"])

    def new_client() -> Client:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return cast("Client", outcome)

    slots = ReadSlots("test", 1, new_client, 1)
    try:
        with pytest.raises(RuntimeError, match="no room"):
            slots.submit("a", str).result(SECONDS)
        assert slots.submit("a", str).result(SECONDS) == "client"
    finally:
        slots.close()
