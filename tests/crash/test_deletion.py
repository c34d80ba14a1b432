"""`kill -9` during deletions: deleted traces stay deleted, and all others stay."""

import random
import signal
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from crash.promises import read_all
from crash.test_kill import LONG, SEED, UNLIMITED, Report
from support.polling import wait_for
from support.process import Running, run_service
from support.spans import child_of, new_span

TRACES_PER_ROUND = 40
RANGE = {"startDate": "2020-01-01", "endDate": "2100-01-01", "granularity": "monthly"}


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Report:
    return Report(capsys)


class DeletionLog:
    """Traces that must exist, must be gone, or were being deleted at the kill."""

    def __init__(self, there: list[str]) -> None:
        self.there = there
        self.gone: set[str] = set()
        self.unknown: set[str] = set()

    def delete_until_killed(self, http: httpx.Client) -> None:
        while self.there:
            trace_id = self.there.pop()
            self.unknown.add(trace_id)
            try:
                http.delete(f"/spans/traces/{trace_id}").raise_for_status()
            except httpx.TransportError:
                return
            self.unknown.remove(trace_id)
            self.gone.add(trace_id)

    def check(self, http: httpx.Client) -> None:
        listed = read_all(http, "/spans/traces")
        ids = {trace["traceId"] for trace in listed}
        assert not ids & self.gone, "a trace came back"
        assert ids >= set(self.there), "a trace is missing that was not deleted"
        assert ids <= {*self.there, *self.unknown}
        assert all(trace["spanCount"] == 2 for trace in listed)
        signals = [signal["traceId"] for signal in read_all(http, "/signals")]
        assert sorted(signals) == sorted(ids)
        metrics = http.get("/analytics/metrics", params=RANGE).raise_for_status().json()["data"]
        assert metrics["totalTraces"] == len(ids)


def send_traces(http: httpx.Client) -> list[str]:
    roots = [new_span(datetime.now(UTC)) for _ in range(TRACES_PER_ROUND)]
    spans = [span for root in roots for span in (root, child_of(root))]
    http.post("/spans", json={"spans": spans}).raise_for_status()
    ids = [root["traceId"] for root in roots]
    signals = [{"signalName": "rating", "value": 1, "traceId": trace_id} for trace_id in ids]
    http.post("/signals/batch", json={"signals": signals}).raise_for_status()
    return ids


def connect(service: Running, token: str) -> httpx.Client:
    headers = {"Authorization": token, "Cache-Control": "no-cache"}
    return httpx.Client(base_url=service.api, headers=headers, timeout=60)


@pytest.mark.parametrize("rounds", [LONG])
def test_a_deletion_survives_kill_9(tmp_path: Path, report: Report, rounds: int) -> None:
    chance = random.Random(SEED)
    report.write(f"seed {SEED}, {rounds} rounds")
    with run_service(tmp_path, **UNLIMITED) as service, service.sign_up() as http:
        token = http.headers["Authorization"]
        deletions = DeletionLog([trace_id for _ in range(rounds) for trace_id in send_traces(http)])
        deletions.check(http)
    for _ in range(rounds):
        with run_service(tmp_path, **UNLIMITED) as service, connect(service, token) as http:
            deleter = threading.Thread(target=deletions.delete_until_killed, args=[http])
            deleter.start()
            # On a busy machine the first one takes long; later rounds do not wait.
            wait_for(lambda: bool(deletions.gone))
            time.sleep(chance.uniform(0.0, 0.9))
            service.process.send_signal(signal.SIGKILL)
            service.process.wait()
            deleter.join()
    with run_service(tmp_path, **UNLIMITED) as service, connect(service, token) as http:
        deletions.check(http)
        assert deletions.gone
        assert deletions.there
