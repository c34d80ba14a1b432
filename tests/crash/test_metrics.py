"""`kill -9` right after acknowledged metrics: every data point is there once."""

import signal
import time
from pathlib import Path

import httpx
import pytest

from support.metrics import CUMULATIVE, Point, make_request
from support.otlp import PROTOBUF, SECOND
from support.process import run_service

REQUESTS = 40
POINTS = 25


def send(http: httpx.Client, content: bytes) -> None:
    response = http.post(
        "/otlp/v1/metrics", content=content, headers={"Content-Type": PROTOBUF}
    ).raise_for_status()
    assert response.content == b""


def total(http: httpx.Client, name: str) -> tuple[float, float]:
    """Return the sum and the number of points."""
    values = []
    for aggregation in ("sum", "count"):
        body = {"name": name, "aggregation": aggregation}
        [row] = http.post("/metrics/query", json=body).raise_for_status().json()["data"]["rows"]
        values.append(row["value"])
    return values[0], values[1]


@pytest.mark.long
def test_acknowledged_points_survive_kill_9_and_a_resend(tmp_path: Path) -> None:
    start = time.time_ns() - 3600 * SECOND
    exports = []
    for number in range(REQUESTS):
        times = [start + (number * POINTS + n + 1) * SECOND for n in range(POINTS)]
        delta = make_request("delta", [Point(at, 2) for at in times])
        counted = [Point(at, (at - start) // SECOND, start) for at in times]
        exports += [delta, make_request("counter", counted, temporality=CUMULATIVE)]
    bodies = [export.SerializeToString() for export in exports]
    with run_service(tmp_path, rate_limit_ingestion=0, rate_limit_standard=0) as service:
        with service.sign_up() as http:
            token = http.headers["Authorization"]
            for body in bodies:
                send(http, body)
        service.process.send_signal(signal.SIGKILL)
        service.process.wait(30)
    with run_service(tmp_path, rate_limit_ingestion=0, rate_limit_standard=0) as service:
        headers = {"Authorization": token, "Cache-Control": "no-cache"}
        with httpx.Client(base_url=service.api, headers=headers, timeout=60) as http:
            points = REQUESTS * POINTS
            assert total(http, "delta") == (2 * points, points)
            assert total(http, "counter") == (points, points)
            # A client that did not see the last answers sends them again.
            for body in bodies[-6:]:
                send(http, body)
            assert total(http, "delta") == (2 * points, points)
            assert total(http, "counter") == (points, points)
