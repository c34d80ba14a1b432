"""Telemetry on a ClickHouse server: acknowledged data survives kills and concurrent commands.

Both the engine and the service are killed and restarted, and commands run beside the service.
"""

import random
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from crash.ledger import Ledger
from crash.promises import check_promises, read_all
from crash.test_kill import LONG, SEED, UNLIMITED, Report, key_of, reader, send_unknown_again
from crash.traffic import traffic
from support.clickhouse_server import ClickhouseServer
from support.process import Running, run_command, run_service
from support.spans import new_span

EMAIL = "ann@example.com"
DAMAGE = {"journal_damaged", "record_refused", "journal_failed"}


@pytest.fixture
def clickhouse(tmp_path: Path) -> Iterator[ClickhouseServer]:
    with ClickhouseServer(tmp_path / "clickhouse") as server:
        yield server


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Report:
    return Report(capsys)


def kill(service: Running) -> None:
    service.process.send_signal(signal.SIGKILL)
    service.process.wait()


@pytest.mark.parametrize("rounds", [LONG])
def test_nothing_acknowledged_is_lost_when_service_and_engine_are_killed_under_load(
    tmp_path: Path, clickhouse: ClickhouseServer, report: Report, rounds: int
) -> None:
    chance, ledger = random.Random(SEED), Ledger()
    settings = {**UNLIMITED, "telemetry_url": clickhouse.url}
    report.write(f"seed {SEED}, {rounds} rounds")
    token = key = ""
    for number in range(rounds):
        with run_service(tmp_path, **settings) as service:
            if not token:
                with service.sign_up() as http:
                    token, key = http.headers["Authorization"], key_of(http)
            with reader(service, token) as http:
                check_promises(http, ledger)
                send_unknown_again(service, key, ledger)
            with traffic(service.api, key, ledger, SEED + 1000 * number):
                time.sleep(chance.uniform(0.5, 2.0))
                clickhouse.kill()
                time.sleep(chance.uniform(0.0, 2.0))
                if number % 2:
                    # The engine comes back, and is killed together with the service.
                    clickhouse.start()
                    time.sleep(chance.uniform(0.5, 3.0))
                kill(service)
            clickhouse.kill()
            assert not {line["event"] for line in service.log()} & DAMAGE
        report.write(f"round {number + 1}: {ledger.counts}")
        clickhouse.start()
    with run_service(tmp_path, **settings) as service, reader(service, token) as http:
        check_promises(http, ledger)
        send_unknown_again(service, key, ledger)
        stored = check_promises(http, ledger)
        assert service.stop() == 0
    report.write(f"stored: {stored}; lost: 0; twice: 0\n")
    assert ledger.counts["acknowledged"] > rounds
    assert stored["traces"] > 0


def send_ten(http: httpx.Client) -> set[str]:
    spans = [new_span(datetime.now(UTC)) for _ in range(10)]
    answer = http.post("/spans", json={"spans": spans})
    assert answer.status_code == 201, answer.text
    return {span["traceId"] for span in spans}


# Commands that need the journal are refused; all others run beside the service.
COMMANDS = {
    ("export", "out", "--email", EMAIL): 0,
    ("import", "out", "--email", EMAIL): 0,
    ("migrate",): 0,
    ("doctor",): 0,
    ("doctor", "--rebuild"): 1,
    ("serve",): 1,
}


def run_all_beside(folder: Path, url: str) -> dict[tuple[str, ...], int]:
    """Run the commands in the folder of a running service; return how each ended."""
    codes = {}
    for command in COMMANDS:
        ended = run_command(folder, *command, telemetry_url=url)
        assert "Traceback" not in ended.stderr, ended.stderr
        codes[command] = ended.returncode
    return codes


@pytest.mark.long
@pytest.mark.parametrize("moment", ["before the engine stops", "while the engine is stopped"])
def test_commands_beside_the_service_lose_no_acknowledged_span(
    tmp_path: Path, clickhouse: ClickhouseServer, moment: str
) -> None:
    settings = {**UNLIMITED, "telemetry_url": clickhouse.url}
    with run_service(tmp_path, **settings) as service, service.sign_up(EMAIL) as http:
        token = http.headers["Authorization"]
        if moment == "before the engine stops":
            assert run_all_beside(tmp_path, clickhouse.url) == COMMANDS
        clickhouse.kill()
        sent = send_ten(http)
        if moment == "while the engine is stopped":
            assert set(run_all_beside(tmp_path, clickhouse.url).values()) == {1}
        kill(service)
    clickhouse.start()
    with run_service(tmp_path, **settings) as service, reader(service, token) as http:
        assert {trace["traceId"] for trace in read_all(http, "/spans/traces")} == sent
