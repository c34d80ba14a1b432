"""The backlog: bounded batches in journal order, delayed until large enough or needed."""

import threading
import time

import pytest

from spanwise.ingest.commit import backlog
from spanwise.ingest.commit.backlog import Backlog
from support.commit import make_records, number_of


def test_a_batch_completes_a_sequence_only_with_its_last_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backlog, "BATCH_BYTES", 200)
    lock = threading.Lock()
    pending = Backlog(lock)
    with lock:
        pending.add([*make_records(1), *make_records(2), *make_records(3)], 1)
        pending.add(make_records(4), 2)
        popped = [pending.take_batch(lambda: True, lambda: True) for _ in range(3)]
    batches = [([number_of(r) for r in batch[0]], batch[1]) for batch in popped if batch]
    assert batches == [([1, 2], 0), ([3, 4], 2)]
    assert popped[2] is None


def test_a_small_batch_waits_until_a_reader_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "LINGER_SECONDS", 0.2)
    lock = threading.Lock()
    pending = Backlog(lock)
    seconds: list[float] = []

    def take(*, is_urgent: bool) -> None:
        with lock:
            pending.add(make_records(1), 1)
            started = time.monotonic()
            pending.take_batch(lambda: False, lambda: is_urgent)
            seconds.append(time.monotonic() - started)

    take(is_urgent=True)
    take(is_urgent=False)
    assert seconds[0] < 0.2 <= seconds[1]


def test_only_large_batches_measure_the_store_throughput(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "LINGER_BYTES", 1000)
    lock = threading.Lock()
    pending = Backlog(lock)
    with lock:
        pending.add(make_records(1, 3000), 1)
        pending.remove_applied(1000, 0.5)
        assert pending.apply_bytes_per_second == 2000
        pending.remove_applied(999, 0.5)
        assert pending.apply_bytes_per_second == 2000
        assert pending.size_bytes == 1001
