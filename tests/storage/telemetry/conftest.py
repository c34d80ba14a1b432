"""The telemetry store on each engine: in this process, and behind HTTP in another."""

import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from spanwise.analysis.prices import find_list_prices
from spanwise.ingest import otlp, rest
from spanwise.ingest.bodies import parse_spans
from spanwise.ingest.versions import next_version, with_version
from spanwise.storage.telemetry.engine import Engine, EngineAddress
from spanwise.storage.telemetry.store import Batch, Writer
from support.clickhouse_server import run_clickhouse
from support.service import shared_telemetry_url

_workspaces = itertools.count(1)


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
def writer(engine: Engine) -> Writer:
    return Writer(engine, find_list_prices)


@dataclass
class Store:
    """A workspace of its own on an engine that tests share."""

    engine: Engine
    writer: Writer
    workspace: str = field(default_factory=lambda: f"wsp_{os.getpid()}_{next(_workspaces)}")

    def batch(self, *spans: dict[str, Any]) -> Batch:
        """What one request with these spans becomes."""
        parsed = parse_spans({"spans": list(spans)}, 10_000).items
        (prepared,) = otlp.prepare_traces(rest.spans_to_otlp(parsed), self.workspace).records
        record = with_version(prepared, next_version())
        return Batch(record.version, record.version, spans=[bytes(record.payload)])

    def send(self, *spans: dict[str, Any]) -> None:
        self.writer.write(self.batch(*spans))


@pytest.fixture
def store(engine: Engine, writer: Writer) -> Store:
    return Store(engine, writer)
