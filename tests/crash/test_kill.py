"""`kill -9` at random times under mixed load: nothing acknowledged is lost or duplicated.

`make test-all` runs many more rounds; `SPANWISE_CRASH_SEED` chooses others.
"""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from crash.ledger import Ledger, Outcome
from crash.promises import check_promises
from crash.traffic import send_request, traffic
from support.process import COMMAND, Running, environment, run_service

ROUNDS = 1
SEED = int(os.environ.get("SPANWISE_CRASH_SEED", "7"))
UNLIMITED = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}
# The rounds of the long version, for `make test-all`.
LONG = pytest.param(30, marks=[pytest.mark.long, pytest.mark.timeout(3600)])
# Log events of repairs.
REPAIRS = {"journal_damaged", "record_refused", "apply_failed", "journal_failed"}


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> "Report":
    return Report(capsys)


class Report:
    """Prints one line per round, also when the test passes."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def write(self, line: str) -> None:
        with self._capsys.disabled():
            print(f"\n  {line}", end="", flush=True)  # noqa: T201 -- this is the report


def key_of(http: httpx.Client) -> str:
    key: str = http.post("/keys", json={"name": "crash"}).raise_for_status().json()["data"]["key"]
    return key


def reader(service: Running, token: str) -> httpx.Client:
    headers = {"Authorization": token, "Cache-Control": "no-cache"}
    return httpx.Client(base_url=service.api, headers=headers, timeout=60)


def send_unknown_again(service: Running, key: str, ledger: Ledger) -> int:
    requests = ledger.take_unknown()
    headers = {"x-api-key": key}
    with httpx.Client(base_url=service.api, headers=headers, timeout=60) as http:
        outcomes = [send_request(http, request, ledger) for request in requests]
    assert all(outcome is Outcome.KEPT for outcome in outcomes)
    return len(requests)


def kill_while_it_starts(folder: Path, seconds: float) -> None:
    with subprocess.Popen(
        [*COMMAND, "serve"],
        cwd=folder,
        env=environment(folder, **UNLIMITED),
        stderr=subprocess.DEVNULL,
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGKILL)


def assert_no_repair(service: Running) -> None:
    assert not {line["event"] for line in service.log()} & REPAIRS


@pytest.mark.parametrize("rounds", [ROUNDS, LONG])
def test_nothing_acknowledged_is_lost_or_counted_twice(
    tmp_path: Path, report: Report, rounds: int
) -> None:
    chance, ledger = random.Random(SEED), Ledger()
    report.write(f"seed {SEED}, {rounds} rounds")
    token = key = ""
    for number in range(rounds):
        with run_service(tmp_path, **UNLIMITED) as service:
            if not token:
                http = service.sign_up()
                token, key = http.headers["Authorization"], key_of(http)
                http.close()
            with reader(service, token) as http:
                check_promises(http, ledger)
                if chance.random() < 0.7:
                    send_unknown_again(service, key, ledger)
            with traffic(service.api, key, ledger, SEED + 1000 * number):
                time.sleep(chance.uniform(0.2, 2.5))
                service.process.send_signal(signal.SIGKILL)
                service.process.wait()
            assert_no_repair(service)
        report.write(f"round {number + 1}: {ledger.counts}")
        if chance.random() < 0.3:
            kill_while_it_starts(tmp_path, chance.uniform(0.3, 2.5))
    with run_service(tmp_path, **UNLIMITED) as service, reader(service, token) as http:
        check_promises(http, ledger)
        resent = send_unknown_again(service, key, ledger)
        stored = check_promises(http, ledger)
        assert_no_repair(service)
        assert service.stop() == 0
    report.write(f"{resent} resent at the end; stored: {stored}; lost: 0; twice: 0\n")
    assert ledger.counts["acknowledged"] > rounds
    assert stored["traces"] > 0


@pytest.mark.long
def test_sigterm_during_ingest_loses_nothing_and_exits_cleanly(tmp_path: Path) -> None:
    ledger = Ledger()
    with run_service(tmp_path, **UNLIMITED) as service:
        with service.sign_up() as http:
            token, key = http.headers["Authorization"], key_of(http)
        with traffic(service.api, key, ledger, SEED):
            time.sleep(1.5)
            assert service.stop() == 0
        assert_no_repair(service)
        assert not list((tmp_path / "data" / "journal").glob("*.journal"))
    with run_service(tmp_path, **UNLIMITED) as service, reader(service, token) as http:
        assert "journal_replayed" not in {line["event"] for line in service.log()}
        stored = check_promises(http, ledger)
    assert stored["traces"] > 0
