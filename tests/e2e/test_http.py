"""HTTP over a real connection: oversized bodies, upgrades, invalid HTTP, server headers."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from support.process import Running, run_service

# One process for the module.
pytestmark = pytest.mark.xdist_group("e2e http")


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with run_service(tmp_path_factory.mktemp("http")) as service:
        yield service


def test_a_body_far_too_large_is_400_in_the_envelope(running: Running, tmp_path: Path) -> None:
    big = tmp_path / "big.json"
    big.write_bytes(b'{"email": "' + b"x" * 8_000_000 + b'"}')
    command = ["curl", "-s", "-H", "Content-Type: application/json", "--data-binary", f"@{big}"]
    answered = subprocess.run(
        [*command, f"{running.api}/auth/login"], capture_output=True, text=True, check=False
    )
    assert '"code":"VALIDATION_ERROR"' in answered.stdout
    assert "larger than 8,192 bytes" in answered.stdout


def test_a_chunked_body_is_bounded_too(running: Running) -> None:
    chunks = (b"x" * 65_536 for _ in range(40))
    answer = httpx.post(
        f"{running.api}/auth/login",
        content=chunks,
        headers={"Content-Type": "application/json"},
        timeout=60,
    )
    assert answer.status_code == 400
    assert "larger than" in answer.text


@pytest.mark.long
def test_a_connection_outlives_the_interval_of_an_exporter(running: Running) -> None:
    limits = httpx.Limits(keepalive_expiry=60)
    with httpx.Client(base_url=running.url, limits=limits) as http:
        [first, second] = [_ask_for_health(http, after) for after in (0, 6)]
    assert first == second


def _ask_for_health(http: httpx.Client, after_seconds: float) -> object:
    """Return the local address of the connection that was used."""
    time.sleep(after_seconds)
    with http.stream("GET", "/api/health") as response:
        response.read()
        assert response.status_code == 200
        return response.extensions["network_stream"].get_extra_info("client_addr")


def test_a_websocket_request_gets_the_normal_response(running: Running) -> None:
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    answer = running.get("/nothing", headers=upgrade)
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "NOT_FOUND")


@pytest.mark.parametrize(
    "text",
    [
        b"NONSENSE\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n",
        b"GET /api/health HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n",
    ],
)
def test_invalid_http_gets_the_envelope(running: Running, text: bytes) -> None:
    address = urlsplit(running.url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(text)
        with connection.makefile("rb") as answer:
            head, _, body = answer.read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json" in head
    assert json.loads(body)["error"]["code"] == "VALIDATION_ERROR"


def test_responses_have_no_server_header(running: Running) -> None:
    assert "server" not in running.get("/health").headers


def test_a_head_request_has_no_body(running: Running) -> None:
    answer = httpx.head(f"{running.api}/health", timeout=60)
    assert (answer.status_code, answer.content) == (404, b"")


def test_many_requests_share_a_connection(running: Running) -> None:
    with httpx.Client(timeout=60) as client:
        answers = [client.get(f"{running.api}/health").status_code for _ in range(20)]
    assert answers == [200] * 20
