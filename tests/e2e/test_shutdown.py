"""Stopping the real service: requests in progress are finished, then the stores are closed."""

import json
import signal
import socket
import time
from pathlib import Path

import pytest

from support.process import Running, run_service
from support.service import PASSWORD


def begin_slow_request(service: Running) -> socket.socket:
    """Send a request whose body is not complete yet; return when the service waits for the rest."""
    body = json.dumps({"email": "ann@example.com", "password": PASSWORD})
    host, port = service.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    head = (
        f"POST /api/auth/register HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        "Expect: 100-continue\r\n\r\n"
    )
    connection.sendall(head.encode())
    assert connection.recv(1024).startswith(b"HTTP/1.1 100 ")
    connection.sendall(body[:10].encode())
    return connection


def finish(connection: socket.socket) -> str:
    body = json.dumps({"email": "ann@example.com", "password": PASSWORD})
    connection.sendall(body[10:].encode())
    received = b""
    while chunk := connection.recv(65536):
        received += chunk
    return received.decode()


def wait_until_closed_to_others(service: Running) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
        except OSError:
            return
        time.sleep(0.02)
    raise AssertionError("it still takes connections")


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)]
)
def test_a_request_in_progress_is_finished_before_shutdown(
    tmp_path: Path, number: signal.Signals
) -> None:
    with run_service(tmp_path) as service, begin_slow_request(service) as connection:
        service.process.send_signal(number)
        wait_until_closed_to_others(service)
        assert service.process.poll() is None
        assert finish(connection).startswith("HTTP/1.1 201 ")
        assert service.process.wait(90) == 0
        assert [line["event"] for line in service.log()][-1] == "stopped"


def test_an_idle_service_stops_at_once(tmp_path: Path) -> None:
    with run_service(tmp_path) as service:
        started = time.monotonic()
        assert service.stop() == 0
        # It waits up to 30 seconds for requests; there are none.
        assert time.monotonic() - started < 25
