"""Fixtures for the telemetry store on both engines: embedded, and on a server."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise.analysis.prices import find_list_prices
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.write.writer import TelemetryWriter
from support.clickhouse_server import run_clickhouse
from support.service import shared_telemetry_url
from support.store import WorkspaceStore


@pytest.fixture(scope="session")
def clickhouse_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a ClickHouse server: a real one when SPANWISE_TEST_CLICKHOUSE_URL is set."""
    given = os.environ.get("SPANWISE_TEST_CLICKHOUSE_URL")
    if given:
        yield given
        return
    with run_clickhouse(tmp_path_factory.mktemp("clickhouse")) as url:
        yield url


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test on both engines.

    They are the same engine behind different clients: `make test` repeats on the server only the
    tests marked `both_engines`, whose inserts, parameters, settings or errors pass the client in
    another way; `make test-all` repeats all.
    """
    if "engine" in metafunc.fixturenames:
        is_short = metafunc.definition.get_closest_marker("both_engines") is not None
        server = pytest.param("server", marks=[] if is_short else pytest.mark.long)
        metafunc.parametrize("engine", ["embedded", server], indirect=True, scope="session")


@pytest.fixture(scope="session")
def server_engine(clickhouse_url: str) -> Iterator[Engine]:
    # Not `default`, to find queries that work only there.
    address = EngineAddress(server_url=f"{clickhouse_url.rpartition('/')[0]}/spanwise_test")
    opened = Engine.open(address, 2048)
    yield opened
    opened.close()


@pytest.fixture
def server_store(server_engine: Engine) -> WorkspaceStore:
    """A store for tests of what only a server can do."""
    return WorkspaceStore(server_engine, TelemetryWriter(server_engine, find_list_prices))


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "server":
        yield request.getfixturevalue("server_engine")
        return
    folder = Path(shared_telemetry_url().removeprefix("chdb://"))
    opened = Engine.open(EngineAddress(folder=folder), 2048)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def writer(engine: Engine) -> TelemetryWriter:
    return TelemetryWriter(engine, find_list_prices)


@pytest.fixture
def store(engine: Engine, writer: TelemetryWriter) -> WorkspaceStore:
    return WorkspaceStore(engine, writer)
