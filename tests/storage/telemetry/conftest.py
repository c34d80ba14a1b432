"""The telemetry store on each engine: in this process, and behind HTTP in another."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from spanwise.analysis.prices import find_list_prices
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.writer import TelemetryWriter
from support.clickhouse_server import run_clickhouse
from support.service import shared_telemetry_url
from support.store import Store


@pytest.fixture(scope="session")
def clickhouse_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A ClickHouse server: a real one when its address is given."""
    given = os.environ.get("SPANWISE_TEST_CLICKHOUSE_URL")
    if given:
        yield given
        return
    with run_clickhouse(tmp_path_factory.mktemp("clickhouse")) as url:
        yield url


@pytest.fixture(scope="session", params=["embedded", "server"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """The same test on both."""
    if request.param == "embedded":
        folder = Path(shared_telemetry_url().removeprefix("chdb://"))
        address = EngineAddress(folder=folder)
    else:
        url: str = request.getfixturevalue("clickhouse_url")
        # A database of our own: what works in `default` alone does not work.
        address = EngineAddress(server_url=f"{url.rpartition('/')[0]}/spanwise_test")
    opened = Engine.open(address, 2048)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def writer(engine: Engine) -> TelemetryWriter:
    return TelemetryWriter(engine, find_list_prices)


@pytest.fixture
def store(engine: Engine, writer: TelemetryWriter) -> Store:
    return Store(engine, writer)
