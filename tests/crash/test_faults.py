"""Full disks, floods and invalid requests: refused clearly, survived without a restart."""

import os
import random
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from crash.ledger import Ledger, Outcome, Request, SentSpan
from crash.promises import check_promises, check_traces
from crash.traffic import RequestMaker, send_request
from support.openapi import Operation, operations
from support.otlp import PROTOBUF, make_span, make_traces
from support.polling import wait_for
from support.process import Running, run_service
from support.service import PASSWORD

MIB = 2**20
A_SPAN: dict[str, str] = {
    "traceId": "0af7651916cd43dd8448eb211c80319c",
    "spanId": "b7ad6b7169203331",
    "name": "before",
    "startTime": "2026-01-31T12:00:00Z",
    "endTime": "2026-01-31T12:00:01Z",
}
# Bodies for operations whose minimal documented body would be refused for another reason.
BODIES: dict[str, dict[str, object]] = {
    "POST /api/auth/login": {"email": "ann@example.com", "password": PASSWORD},
    "POST /api/auth/register": {"email": "bob@example.com", "password": PASSWORD},
    "POST /api/auth/forgot-password": {"email": "ann@example.com"},
    "POST /api/spans": {**A_SPAN, "spanId": "b7ad6b7169203332"},
    "POST /api/signals": {"signalName": "rating", "value": 1},
    "POST /api/logs": {"message": "hello"},
    "PUT /api/models/prices": {"model": "m", "inputPerMillion": 1, "outputPerMillion": 1},
    "POST /api/experiments": {"name": "other", "variants": [{"key": "a"}, {"key": "b"}]},
    "PUT /api/users/profile": {"name": "Ann"},
    "PUT /api/agents/{agentId}": {"description": "changed"},
    "PUT /api/agents/{agentId}/alerts": {
        "rules": [{"metric": "cost", "condition": "above", "threshold": 1}]
    },
}
UNLIMITED = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a 256 MiB file system."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256m", "tmpfs", str(folder)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, leave_bytes: int) -> Path:
    """Fill a disk with one file, except for some bytes."""
    disk = os.statvfs(folder)
    path = folder / "ballast"
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, disk.f_bavail * disk.f_frsize - leave_bytes)
    return path


def key_of(http: httpx.Client) -> str:
    key: str = http.post("/keys", json={"name": "faults"}).raise_for_status().json()["data"]["key"]
    return key


def sender(service: Running, key: str) -> httpx.Client:
    return httpx.Client(base_url=service.api, headers={"x-api-key": key}, timeout=60)


def request_of(size_bytes: int) -> Request:
    """Return an export that does not compress."""
    noise = random.Random(size_bytes).randbytes(size_bytes // 2).hex()
    body = make_traces([make_span(input__value=noise[:size_bytes])]).SerializeToString()
    return Request("/otlp/v1/traces", body, (("content-type", PROTOBUF),))


@pytest.mark.long
@pytest.mark.parametrize("min_free_mb", [32, 0], ids=["with a reserve", "to the last byte"])
def test_a_full_disk_is_503_with_reads_and_recovers_with_free_space(
    tmp_path: Path, small_disk: Path, min_free_mb: int
) -> None:
    ledger, maker = Ledger(), RequestMaker(7, "disk")
    with run_service(
        tmp_path, data_dir=small_disk, min_free_disk_mb=min_free_mb, **UNLIMITED
    ) as service:
        with service.sign_up() as reader, sender(service, key_of(reader)) as http:
            for _ in range(30):
                send_request(http, maker.next(), ledger)
            before = check_promises(reader, ledger)
            ballast = fill(small_disk, leave_bytes=(min_free_mb + 2) * MIB)
            refused = send_until_refused(http, ledger)
            assert refused.status_code == 503
            assert 1 <= int(refused.headers["retry-after"]) <= 5
            # Reads continue. Without a reserve, the last requests may be only in the journal until
            # there is space; with a reserve, everything acknowledged is visible.
            assert reader.get("/spans/traces").json()["pagination"]["total"] >= before["traces"]
            if min_free_mb:
                check_traces(reader, ledger)
            assert service.process.poll() is None
            ballast.unlink()
            wait_until_accepted(http, maker, ledger)
            for _ in range(20):
                assert send_request(http, maker.next(), ledger) is not Outcome.UNKNOWN
            stored = check_promises(reader, ledger)
            assert stored["traces"] > before["traces"]
        assert service.stop() == 0


def test_on_a_full_disk_every_write_is_503_and_nothing_is_500(
    tmp_path: Path, small_disk: Path
) -> None:
    with run_service(tmp_path, data_dir=small_disk, min_free_disk_mb=0, **UNLIMITED) as service:
        with service.sign_up() as http:
            assert service.get("/ready").status_code == 200
            document = service.get("/openapi.json").json()
            writes = [o for o in operations(document) if o.method != "GET"]
            ids = make_records(http)
            ballast = fill(small_disk, leave_bytes=0)
            use_up_what_is_left(http)
            answers = {str(o): call(http, o, ids) for o in writes}
            assert {o: a.text for o, a in answers.items() if a.status_code == 500} == {}
            refused = {o for o, answer in answers.items() if answer.status_code == 503}
            assert refused >= {
                *("POST /api/auth/login", "POST /api/auth/register", "POST /api/agents"),
                *("POST /api/keys", "POST /api/spans", "POST /api/signals", "POST /api/logs"),
                *("PUT /api/models/prices", "POST /api/experiments", "PUT /api/users/profile"),
            }
            assert service.get("/ready").status_code == 503
            assert service.get("/health").status_code == 200
            reads = [o for o in operations(document) if o.method == "GET"]
            broken = {str(o) for o in reads if call(http, o, ids).status_code == 500}
            assert broken == set()
            ballast.unlink()
            wait_for(lambda: service.get("/ready").status_code == 200)
            wait_for(lambda: http.post("/spans", json=A_SPAN).status_code == 201)
            assert http.post("/agents", json={"name": "after"}).status_code == 201
            login = {"email": "ann@example.com", "password": PASSWORD}
            assert http.post("/auth/login", json=login).status_code == 200
            assert http.get(f"/spans/traces/{A_SPAN['traceId']}").status_code == 200
        assert service.stop() == 0


def make_records(http: httpx.Client) -> dict[str, str]:
    """Create one record of every kind; returns their ids by path parameter."""

    def made(path: str, **body: object) -> dict[str, str]:
        answer: dict[str, str] = http.post(path, json=body).raise_for_status().json()["data"]
        return answer

    http.post("/spans", json=A_SPAN).raise_for_status()
    variants = [{"key": "a"}, {"key": "b"}]
    return {
        "traceId": A_SPAN["traceId"],
        "agentId": made("/agents", name="helper")["id"],
        "webhookId": made("/events/webhooks", url="https://hooks.invalid/")["id"],
        "keys": made("/keys", name="a key")["id"],
        "experiments": made("/experiments", name="prompt", variants=variants)["id"],
    }


def use_up_what_is_left(http: httpx.Client) -> None:
    """Write until existing files are full too."""
    for number in range(2000):
        body = {"name": f"agent {number}", "description": "x" * 4000}
        answer = http.post("/agents", json=body)
        if answer.status_code == 503:
            assert answer.json()["error"]["code"] == "INTERNAL_ERROR"
            assert int(answer.headers["retry-after"]) >= 1
            return
        assert answer.status_code == 201, answer.text
    raise AssertionError("the disk is never full")


def call(http: httpx.Client, operation: Operation, ids: dict[str, str]) -> httpx.Response:
    """Call an operation as an authorized user with a minimal documented body."""
    noun = operation.path.split("/")[2]
    path = operation.address(**ids, id=ids.get(noun, "0" * 16)).removeprefix("/api")
    body = {**(operation.body() or {}), **BODIES.get(str(operation), {})}
    sent = None if operation.method in {"GET", "DELETE"} else body
    return http.request(operation.method, path, params=operation.query(), json=sent)


def send_until_refused(http: httpx.Client, ledger: Ledger) -> httpx.Response:
    """Send incompressible traces until one is refused; returns that response."""
    for number in range(200):
        span = make_span(input__value=random.Random(number).randbytes(MIB // 4).hex())
        body = make_traces([span]).SerializeToString()
        sent = SentSpan(span.trace_id.hex(), span.span_id.hex(), True, 0)
        request = Request("/otlp/v1/traces", body, (("content-type", PROTOBUF),), (sent,))
        response = http.post(request.path, content=body, headers=list(request.headers))
        ledger.record(request, Outcome.KEPT if response.is_success else Outcome.REFUSED)
        if not response.is_success:
            return response
    raise AssertionError("the disk is never full")


def wait_until_accepted(http: httpx.Client, maker: RequestMaker, ledger: Ledger) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        request = maker.next()
        if request.is_good and send_request(http, request, ledger) is Outcome.KEPT:
            return
        time.sleep(0.2)
    raise AssertionError("the service does not recover")


def peak_bytes(service: Running) -> int:
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


@pytest.mark.long
def test_a_flood_is_refused_at_once_and_memory_stays_bounded(tmp_path: Path) -> None:
    request = request_of(15 * MIB)
    answers: Counter[int] = Counter()
    waits: list[float] = []

    def flood(service: Running, key: str) -> None:
        with sender(service, key) as http:
            for _ in range(3):
                started = time.monotonic()
                response = http.post(
                    request.path, content=request.body, headers=list(request.headers)
                )
                answers[response.status_code] += 1
                if response.status_code == 503:
                    waits.append(time.monotonic() - started)
                    assert 1 <= int(response.headers["retry-after"]) <= 5

    with run_service(tmp_path, memory_limit_mb=1024, **UNLIMITED) as service:
        with service.sign_up() as reader:
            key = key_of(reader)
            threads = [threading.Thread(target=flood, args=(service, key)) for _ in range(40)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert answers.keys() <= {200, 503}
            assert answers[200] > 0
            assert answers[503] > 0
            assert reader.get("/spans/traces").status_code == 200
        # 120 bodies of 15 MiB are 1.8 GB; the limit leaves room for Python and the engine's code.
        assert peak_bytes(service) < 1536 * MIB
        assert service.stop() == 0


# Requests of each client, with as many invalid ones.
MIXED_REQUESTS = 12


@pytest.mark.long
def test_an_invalid_body_does_not_affect_valid_ones(tmp_path: Path) -> None:
    ledger = Ledger()
    with run_service(tmp_path, **UNLIMITED) as service, service.sign_up() as reader:
        key = key_of(reader)

        def send(seed: int) -> None:
            maker = RequestMaker(seed, f"mixed-{seed}")
            with sender(service, key) as http:
                for _ in range(MIXED_REQUESTS):
                    send_request(http, maker.next(), ledger)
                    send_request(http, maker._bad(), ledger)

        threads = [threading.Thread(target=send, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check_promises(reader, ledger)
        assert ledger.counts["refused"] >= 4 * MIXED_REQUESTS
        assert not ledger.unknown
        assert not (tmp_path / "data" / "refused").exists()
