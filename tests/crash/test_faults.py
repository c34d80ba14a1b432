"""Full disks, floods and strange neighbours: refused clearly, survived, and no restart needed."""

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

from crash.ledger import Ledger, Outcome, Parcel, SentSpan
from crash.promises import check_promises, check_traces
from crash.traffic import Maker, deliver
from support.otlp import PROTOBUF, make_span, make_traces
from support.process import Running, run_service

MIB = 2**20
UNLIMITED = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of 256 MiB."""
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
    """Fill a disk with a file, up to the last bytes."""
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


def parcel_of(size_bytes: int) -> Parcel:
    """An export that does not compress."""
    noise = random.Random(size_bytes).randbytes(size_bytes // 2).hex()
    body = make_traces([make_span(input__value=noise[:size_bytes])]).SerializeToString()
    return Parcel("/otlp/v1/traces", body, (("content-type", PROTOBUF),))


@pytest.mark.parametrize("min_free_mb", [32, 0], ids=["with a reserve", "to the last byte"])
def test_a_full_disk_is_503_reads_go_on_and_room_is_enough_to_recover(
    tmp_path: Path, small_disk: Path, min_free_mb: int
) -> None:
    ledger, maker = Ledger(), Maker(7, "disk")
    with run_service(
        tmp_path, data_dir=small_disk, min_free_disk_mb=min_free_mb, **UNLIMITED
    ) as service:
        with service.sign_up() as reader, sender(service, key_of(reader)) as http:
            for _ in range(30):
                deliver(http, maker.next(), ledger)
            before = check_promises(reader, ledger)
            ballast = fill(small_disk, leave_bytes=(min_free_mb + 2) * MIB)
            refused = send_until_refused(http, ledger)
            assert refused.status_code == 503
            assert 1 <= int(refused.headers["retry-after"]) <= 5
            # Reads go on. Without a reserve the last ones may be in the journal alone, until there
            # is room; with one, nothing that was acknowledged is missing even now.
            assert reader.get("/spans/traces").json()["pagination"]["total"] >= before["traces"]
            if min_free_mb:
                check_traces(reader, ledger)
            assert service.process.poll() is None
            ballast.unlink()
            wait_until_accepted(http, maker, ledger)
            for _ in range(20):
                assert deliver(http, maker.next(), ledger) is not Outcome.UNKNOWN
            stored = check_promises(reader, ledger)
            assert stored["traces"] > before["traces"]
        assert service.stop() == 0


def send_until_refused(http: httpx.Client, ledger: Ledger) -> httpx.Response:
    """Send traces that do not compress until there is no room; return what the last one met."""
    for number in range(200):
        span = make_span(input__value=random.Random(number).randbytes(MIB // 4).hex())
        body = make_traces([span]).SerializeToString()
        sent = SentSpan(span.trace_id.hex(), span.span_id.hex(), True, 0)
        parcel = Parcel("/otlp/v1/traces", body, (("content-type", PROTOBUF),), (sent,))
        response = http.post(parcel.path, content=body, headers=list(parcel.headers))
        ledger.note(parcel, Outcome.KEPT if response.is_success else Outcome.REFUSED)
        if not response.is_success:
            return response
    raise AssertionError("the disk is never full")


def wait_until_accepted(http: httpx.Client, maker: Maker, ledger: Ledger) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        parcel = maker.next()
        if parcel.is_good and deliver(http, parcel, ledger) is Outcome.KEPT:
            return
        time.sleep(0.2)
    raise AssertionError("it does not recover")


def peak_bytes(service: Running) -> int:
    status = Path(f"/proc/{service.process.pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def test_a_flood_is_refused_at_once_and_memory_stays_bounded(tmp_path: Path) -> None:
    parcel = parcel_of(15 * MIB)
    answers: Counter[int] = Counter()
    waits: list[float] = []

    def flood(service: Running, key: str) -> None:
        with sender(service, key) as http:
            for _ in range(3):
                started = time.monotonic()
                response = http.post(parcel.path, content=parcel.body, headers=list(parcel.headers))
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


def test_a_bad_body_among_good_ones_harms_only_itself(tmp_path: Path) -> None:
    ledger = Ledger()
    with run_service(tmp_path, **UNLIMITED) as service, service.sign_up() as reader:
        key = key_of(reader)

        def send(seed: int) -> None:
            maker = Maker(seed, f"mixed-{seed}")
            with sender(service, key) as http:
                for _ in range(25):
                    deliver(http, maker.next(), ledger)
                    deliver(http, maker._bad(), ledger)

        threads = [threading.Thread(target=send, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check_promises(reader, ledger)
        assert ledger.counts["refused"] >= 100
        assert not ledger.unknown
        assert not (tmp_path / "data" / "refused").exists()
