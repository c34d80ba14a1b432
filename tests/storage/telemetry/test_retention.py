"""What is too old goes, and nothing else. In a database of its own: everybody's rows grow old."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from spanwise.analysis.prices import find_list_prices
from spanwise.model.filters import TraceFilter
from spanwise.model.page import PageRequest
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.engine import Engine, EngineAddress
from spanwise.storage.telemetry.places import find_place
from spanwise.storage.telemetry.retention import AGING, remove_expired
from spanwise.storage.telemetry.schema import statements_of_files
from spanwise.storage.telemetry.store import Writer
from spanwise.storage.telemetry.traces import find_traces
from support.ids import new_trace_id
from support.spans import span

from .conftest import Store

LIMIT = datetime(2026, 11, 10, tzinfo=UTC)


@pytest.fixture
def store(clickhouse_url: str) -> Iterator[Store]:
    address = EngineAddress(server_url=f"{clickhouse_url.rpartition('/')[0]}/retention_test")
    engine = Engine.open(address, 1024)
    yield Store(engine, Writer(engine, find_list_prices))
    engine.close()


async def names(store: Store) -> list[str]:
    everything, page = TraceFilter(period=TimeRange()), PageRequest(100)
    listing = await find_traces(store.engine, store.workspace, everything, page, {})
    assert listing.total == len(listing.items)
    return [trace.name for trace in listing.items]


async def test_whole_months_and_days_before_the_limit_are_gone(store: Store) -> None:
    moments = {
        "long ago": LIMIT - timedelta(days=400),
        "last month": LIMIT - timedelta(days=20),
        "the day before": LIMIT - timedelta(microseconds=1),
        "that very day": LIMIT,
        "later": LIMIT + timedelta(days=3),
    }
    ids = {name: new_trace_id() for name in moments}
    for name, moment in moments.items():
        root = span(ids[name], name=name, start=moment)
        store.send(root, span(ids[name], root["spanId"], start=moment + timedelta(seconds=1)))
    assert await names(store) == list(reversed(moments))
    with store.engine.client() as client:
        removed = remove_expired(client, LIMIT)
        # The child of the day before began a second later: after the limit.
        assert (removed["spans"], removed["traces"]) == (5, 3)
        assert "logs" not in removed
        assert remove_expired(client, LIMIT) == {}
    assert await names(store) == ["later", "that very day"]
    assert await find_place(store.engine, store.workspace, ids["long ago"]) is None


def test_every_table_of_telemetry_grows_old() -> None:
    tables = {
        statement.split()[5] for statement in statements_of_files() if "CREATE TABLE" in statement
    }
    assert tables - {aging.table for aging in AGING} <= {
        "prices",
        "rollup_sweeps",
        "slice_sweeps",
        "trace_slices",
    }
