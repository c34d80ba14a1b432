"""Expired telemetry is removed, and nothing else; in a separate database, for all workspaces."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from spanwise.analysis.prices import find_list_prices
from spanwise.model.analytics import Question
from spanwise.model.page import PageRequest
from spanwise.model.telemetry.filters import TraceFilter
from spanwise.model.times import BoundedRange, Granularity, TimeRange
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.retention.contents import remove_contents
from spanwise.storage.telemetry.retention.expired_rows import EXPIRING_TABLES, remove_expired
from spanwise.storage.telemetry.rollup.queries import REQUESTS
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.rows.locations import find_location
from spanwise.storage.telemetry.schema.migrate import schema_statements
from spanwise.storage.telemetry.traces.trace_queries import find_traces
from spanwise.storage.telemetry.write.writer import TelemetryWriter
from support.ids import new_trace_id
from support.spans import span
from support.store import WorkspaceStore

# Tests of a server are in one worker, which starts the server once.
pytestmark = pytest.mark.xdist_group("telemetry server")

LIMIT = datetime(2026, 11, 10, tzinfo=UTC)
MIDDLE = datetime(2025, 6, 10, tzinfo=UTC)


@pytest.fixture
def store(clickhouse_url: str) -> Iterator[WorkspaceStore]:
    address = EngineAddress(server_url=f"{clickhouse_url.rpartition('/')[0]}/retention_test")
    engine = Engine.open(address, 1024)
    yield WorkspaceStore(engine, TelemetryWriter(engine, find_list_prices))
    engine.close()


async def names(store: WorkspaceStore) -> list[str]:
    everything, page = TraceFilter(period=TimeRange()), PageRequest(100)
    listing = await find_traces(store.engine, store.workspace, everything, page, {})
    assert listing.total == len(listing.items)
    return [trace.name for trace in listing.items]


async def test_whole_months_and_days_before_the_cutoff_are_removed(store: WorkspaceStore) -> None:
    moments = {
        "long ago": LIMIT - timedelta(days=400),
        "last month": LIMIT - timedelta(days=20),
        "the day before": LIMIT - timedelta(microseconds=1),
        "that very day": LIMIT,
        "later": LIMIT + timedelta(days=3),
    }
    ids = {name: new_trace_id() for name in moments}
    spans = []
    for name, moment in moments.items():
        root = span(ids[name], name=name, start=moment)
        spans += [root, span(ids[name], root["spanId"], start=moment + timedelta(seconds=1))]
    store.send(*spans)
    assert await names(store) == list(reversed(moments))
    with store.engine.client() as client:
        removed = remove_expired(client, LIMIT)
        # The child of the day before began a second later: after the limit.
        assert (removed["spans"], removed["traces"]) == (5, 3)
        assert "logs" not in removed
        assert remove_expired(client, LIMIT) == {}
    assert await names(store) == ["later", "that very day"]
    assert await find_location(store.engine, store.workspace, ids["long ago"]) is None


async def test_contents_are_gone_before_parts_are_rewritten(store: WorkspaceStore) -> None:
    """The engine visits every part of a table for an update: minutes, with much data."""
    months = [LIMIT - timedelta(days=30 * month) for month in range(1, 4)]
    question = {"kind": "llm", "input": "an ancient question"}
    store.send(
        *(span(name="old", start=moment, **question) for moment in months),
        span(name="new", start=LIMIT, kind="llm", input="a fresh question"),
    )
    search = TraceFilter(period=TimeRange(), search="question")
    with store.engine.client() as client:
        client.command("SYSTEM STOP MERGES")
        try:
            removed = remove_contents(client, LIMIT, store.workspace)
            assert removed == {"spans": 3, "traces": 3}
            assert remove_contents(client, LIMIT, store.workspace) == {}
            found = await find_traces(store.engine, store.workspace, search, PageRequest(100), {})
        finally:
            client.command("SYSTEM START MERGES")
    assert [(trace.name, trace.input_preview) for trace in found.items] == [
        ("new", "a fresh question")
    ]


@pytest.mark.parametrize(
    "cutoff_days",
    [(7.5,), pytest.param((-40, -20, -1, 0, 7, 7.5, 21), marks=pytest.mark.long)],
)
async def test_monthly_rollups_match_remaining_days_after_retention(
    store: WorkspaceStore, cutoff_days: Sequence[float]
) -> None:
    moments = [MIDDLE + timedelta(days=days, hours=1) for days in range(-45, 45)]
    store.send(*(span(start=moment) for moment in moments))
    rollup = Rollup(store.engine, quiet_seconds=0)
    await rollup.maintenance.update()
    for days in cutoff_days:
        limit = MIDDLE + timedelta(days=days)
        left = Counter(f"{moment:%Y-%m}" for moment in moments if moment >= limit)
        with store.engine.client() as client:
            remove_expired(client, limit)
            rollup.clear_cache()
            assert await by_month(store, rollup) == left
            # The state that an earlier version or an interrupted run leaves behind.
            client.command("DELETE FROM trace_rollup WHERE step = 'month'")
            remove_expired(client, limit)
        rollup.clear_cache()
        cut = f"{limit:%Y-%m}"
        assert (await by_month(store, rollup))[cut] == left[cut]
        await rollup.maintenance.rebuild()
        with store.engine.client() as client:
            remove_expired(client, limit)
        rollup.clear_cache()
        assert await by_month(store, rollup) == left


async def by_month(store: WorkspaceStore, rollup: Rollup) -> Counter[str]:
    period = BoundedRange(MIDDLE - timedelta(days=300), MIDDLE + timedelta(days=300))
    wanted = TraceFilter(TimeRange(period.start, period.end))
    question = Question(period, wanted, Granularity.MONTHLY)
    assert not (await rollup.choose_source(store.workspace, question)).is_traces_only
    found = await rollup.answer(store.workspace, question, REQUESTS)
    months = {f"{month:%Y-%m}": sum(by_agent.values()) for month, by_agent in found.items()}
    return Counter({month: traces for month, traces in months.items() if traces})


def test_retention_covers_every_telemetry_table() -> None:
    tables = {
        statement.split()[5] for statement in schema_statements() if "CREATE TABLE" in statement
    }
    assert tables - {expiring.table for expiring in EXPIRING_TABLES} <= {
        "prices",
        "rollup_sweeps",
        "slice_sweeps",
        "failure_updates",
    }
