"""Migrations complete after any interruption, with concurrent replicas, and from old versions."""

import json
import secrets
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import count
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from spanwise.model.analytics import Question
from spanwise.model.page import PageRequest
from spanwise.model.telemetry.filters import LogFilter, TraceFilter
from spanwise.model.times import BoundedRange, Granularity
from spanwise.storage.schema_state import SchemaState
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.rollup.queries import TOTALS
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.schema import migrate
from spanwise.storage.telemetry.schema.migrate import split_statements, with_durability
from spanwise.storage.telemetry.schema.state import inspect_schema
from spanwise.storage.telemetry.spans.logs import find_logs
from spanwise.storage.telemetry.traces.trace_queries import find_traces
from support.child_processes import new_event, run_process, start_process
from support.schema_processes import (
    MEMORY_MB,
    WORKSPACE,
    apply_twice,
    complete,
    migrate_and_signal,
    migrate_at,
    migrate_until_killed,
    record_order,
    send_one,
    start_and_write,
)


@pytest.fixture(params=["embedded", "server"])
def new_address(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], EngineAddress]:
    """Returns a function that creates an empty store."""
    if request.param == "embedded":
        numbers = count(1)
        return lambda: EngineAddress(folder=tmp_path / f"telemetry-{next(numbers)}")
    base = request.getfixturevalue("clickhouse_url").rpartition("/")[0]
    return lambda: create_database(base)


def create_database(base: str) -> EngineAddress:
    address = EngineAddress(server_url=f"{base}/schema_{secrets.token_hex(6)}")
    Engine.open(address, MEMORY_MB).close()
    return address


@pytest.fixture(scope="module")
def first_starts(
    clickhouse_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[EngineAddress], tuple[list[str], list[str]]]:
    """Returns a function for the statements of a first start on an engine, and its tables."""
    folder = tmp_path_factory.mktemp("first")

    @cache
    def record(is_embedded: bool) -> tuple[str, list[str], list[str]]:
        address = EngineAddress(folder=folder / "telemetry")
        if not is_embedded:
            address = create_database(clickhouse_url.rpartition("/")[0])
        path = folder / f"order-{is_embedded}"
        assert run_process(record_order, address, path)
        recorded = json.loads(path.read_text())
        assert len(recorded["order"]) > len(migrate.schema_statements())
        return address.credentials.database, recorded["order"], recorded["tables"]

    def find(address: EngineAddress) -> tuple[list[str], list[str]]:
        database, order, tables = record(address.folder is not None)
        # The statement of the dictionary contains the database name.
        here = address.credentials.database
        return [sql.replace(database, here) if database else sql for sql in order], tables

    return find


# A kill after each statement takes minutes: `make test` tries some of them, `make test-all` all.
LONG = (pytest.mark.long, pytest.mark.timeout(1200))


def pick_kinds(order: Sequence[str]) -> list[int]:
    """Return the places of the first and the last statement, and of one of each kind."""
    kinds: dict[str, list[int]] = {}
    for index, sql in enumerate(order):
        kinds.setdefault(" ".join(sql.split()[:2]), []).append(index)
    middles = {places[len(places) // 2] for places in kinds.values()}
    assert len(middles) >= 6
    return sorted({0, *middles, len(order) - 1})


def pick_few(order: Sequence[str]) -> list[int]:
    return [0, len(order) // 2, len(order) - 1]


def pick_all(order: Sequence[str]) -> list[int]:
    return list(range(len(order)))


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("pick", [pick_kinds, pytest.param(pick_all, marks=LONG)])
def test_starts_killed_some_statements_later_each_time_complete_the_schema(
    new_address: Callable[[], EngineAddress],
    first_starts: Callable[[EngineAddress], tuple[list[str], list[str]]],
    pick: Callable[[Sequence[str]], list[int]],
) -> None:
    """The embedded engine is killed with its process, after each statement in turn."""
    address = new_address()
    order, tables = first_starts(address)
    for last in pick(order):
        assert not run_process(migrate_until_killed, address, order, last), order[last]
    assert run_process(complete, address, tables)
    assert run_process(start_and_write, address)


SHARES = 6


@pytest.mark.timeout(1200)
@pytest.mark.parametrize(
    "pick",
    [
        pick_few,
        *(
            pytest.param(lambda order, n=n: pick_all(order)[n::SHARES], marks=LONG, id=f"share {n}")
            for n in range(SHARES)
        ),
    ],
)
def test_a_start_that_is_killed_after_any_statement_is_completed_by_the_next(
    clickhouse_url: str,
    first_starts: Callable[[EngineAddress], tuple[list[str], list[str]]],
    pick: Callable[[Sequence[str]], list[int]],
) -> None:
    base = clickhouse_url.rpartition("/")[0]
    order, _ = first_starts(create_database(base))
    for last in pick(order):
        address = create_database(base)
        here, tables = first_starts(address)
        assert not run_process(migrate_until_killed, address, here, last), order[last]
        # The engine is in the server's process: this one can be the next to start.
        complete(address, tables)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("pauses", [(0.0, 0.1), pytest.param((0.0, 0.05, 0.1, 0.15), marks=LONG)])
def test_a_start_that_is_killed_at_any_moment_is_completed_by_the_next(
    new_address: Callable[[], EngineAddress], pauses: Sequence[float]
) -> None:
    for pause in pauses:
        address, has_begun = new_address(), new_event()
        process = start_process(migrate_and_signal, address, has_begun)
        assert has_begun.wait(180)
        # All statements together take half a second.
        process.join(pause)
        process.kill()
        process.join()
        assert run_process(start_and_write, address)


@pytest.mark.parametrize(
    ("replicas", "rounds"),
    [(3, 1), pytest.param(2, 3, marks=LONG), pytest.param(3, 3, marks=LONG)],
)
def test_replicas_that_start_together_on_an_empty_server_all_start(
    clickhouse_url: str, catalog_url: str, replicas: int, rounds: int
) -> None:
    base = clickhouse_url.rpartition("/")[0]
    for _ in range(rounds):
        # The database does not exist either: all replicas create it.
        address = EngineAddress(server_url=f"{base}/schema_{secrets.token_hex(6)}")
        moment = time.time() + 1
        started = [start_process(migrate_at, address, catalog_url, moment) for _ in range(replicas)]
        for process in started:
            process.join(180)
        assert [process.exitcode for process in started] == [0] * replicas
        engine = Engine.open(address, MEMORY_MB)
        with engine.client() as client:
            recorded = query_rows(client, "SELECT name FROM schema_versions ORDER BY name", {})
        assert [row["name"] for row in recorded] == sorted(schema_files())
        assert send_one(engine) == 1
        engine.close()


def test_statements_that_run_twice_leave_the_same_tables(
    new_address: Callable[[], EngineAddress],
) -> None:
    assert run_process(apply_twice, new_address())


# --- stores of earlier versions -----------------------------------------------------------------


@cache
def schema_files() -> dict[str, str]:
    folder = files(migrate.__package__)
    names = [item.name for item in folder.iterdir() if item.name.endswith(".sql")]
    return {name: folder.joinpath(name).read_text() for name in sorted(names)}


# Edits of 0001 after stores had run it, latest first: the new text and the old text.
EDITS = (
    ((", max_compress_block_size = 262144;", ";"),),
    (
        (
            "INDEX words lowerUTF8(concat(name, ' ', input, ' ', output))\n        TYPE text",
            "INDEX words lower(concat(name, ' ', input, ' ', output)) TYPE text",
        ),
        (",\n    INDEX words lowerUTF8(message) TYPE text(tokenizer = splitByNonAlpha)", ""),
    ),
    (
        (
            "start, trace_id)\nSETTINGS index_granularity = 1024;",
            "start, trace_id);",
        ),
    ),
    ((", merge_selector_base = 10;", ";"),),
    (
        (
            "INDEX trace_filter trace_id TYPE bloom_filter(0.01) GRANULARITY 1",
            "INDEX trace_filter trace_id TYPE bloom_filter(0.01) GRANULARITY 4",
        ),
    ),
    (
        ("    written_at DateTime64(3, 'UTC') MATERIALIZED now64(3) CODEC(Delta(8), LZ4),\n", ""),
        ("    INDEX written_range written_at TYPE minmax GRANULARITY 1,\n", ""),
    ),
)
# Earlier versions: the number of edits of 0001 that they lack, and their last file.
EARLIER = [
    (6, "0001"),
    (5, "0010"),
    (0, "0010"),
    (0, "0015"),
    *(
        pytest.param(edits, last, marks=pytest.mark.long)
        for edits, last in (
            *((5, "0002"), (4, "0010"), (3, "0010"), (2, "0010"), (1, "0010")),
            *((0, "0011"), (0, "0012"), (0, "0013"), (0, "0014")),
        )
    ),
]
_OLD_DICTIONARY = """CREATE DICTIONARY price_list
(
    workspace String, provider String, model String,
    valid_from DateTime('UTC'), valid_until DateTime('UTC'),
    is_known UInt8, above_tokens UInt32, input Float64
)
PRIMARY KEY workspace, provider, model
SOURCE(CLICKHOUSE(QUERY 'SELECT workspace, provider, model, valid_from, valid_until, is_known,
 above_tokens, input FROM prices FINAL WHERE is_known'))
LAYOUT(COMPLEX_KEY_RANGE_HASHED())
RANGE(MIN valid_from MAX valid_until)
LIFETIME(0)"""


def first_file(edits_missing: int) -> str:
    text = schema_files()["0001_telemetry.sql"]
    for edit in EDITS[:edits_missing]:
        for after, before in edit:
            assert after in text
            text = text.replace(after, before)
    return text


def make_earlier_store(client: Client, edits_missing: int, last: str) -> None:
    """Create the tables of an earlier version with one trace, one log and a rollup row."""
    client.command("CREATE TABLE schema_versions (name String) ENGINE = MergeTree() ORDER BY name")
    for name, text in schema_files().items():
        if name[:4] > last:
            break
        past = first_file(edits_missing) if name.startswith("0001") else text
        if name.startswith("0011"):
            past = past.replace(", 'month' = 3", "")
        for statement in split_statements(past):
            client.command(with_durability(statement))
        client.insert("schema_versions", [[name]], column_names=["name"])
    if edits_missing >= 5:
        client.command(_OLD_DICTIONARY)
    client.command(migrate._BOUNDS_VIEW)
    for statement in _OLD_ROWS:
        client.command(statement)
    steps = ["hour", "day", *(["month"] if last >= "0012" else [])] if last >= "0002" else []
    for step in steps:
        client.command(_OLD_STEP.format(step=step))
    if steps:
        client.command("INSERT INTO rollup_sweeps SELECT now64(3)")


_OLD_ROWS = (
    """INSERT INTO spans (workspace, hour, trace_id, span_id, version, is_root, name, kind, start,
        duration_ns, status, input)
    SELECT 'wsp_1', toDateTime('2026-01-15 12:00:00', 'UTC'), repeat('a', 16), repeat('b', 8),
        1024, 1, 'old', 'agent', toDateTime64('2026-01-15 12:30:00', 9, 'UTC'), 1000000, 'ok',
        'Haystack'""",
    """INSERT INTO traces (workspace, start, trace_id, version, name, status, duration_ns,
        span_count)
    SELECT 'wsp_1', toDateTime64('2026-01-15 12:30:00', 9, 'UTC'), repeat('a', 16), 1024, 'old',
        'success', 1000000, 1""",
    """INSERT INTO logs (workspace, time, id, version, severity, message)
    SELECT 'wsp_1', toDateTime64('2026-01-15 12:30:00', 9, 'UTC'), 1, 1024, 9, 'Haystack'""",
)
_OLD_STEP = """INSERT INTO trace_rollup (workspace, step, moment, version, traces, duration_ms)
SELECT 'wsp_1', '{step}', toStartOfInterval(toDateTime('2026-01-15 12:00:00', 'UTC'),
    INTERVAL 1 {step}), 1024, 1, 1"""


@pytest.mark.parametrize(("edits_missing", "last"), EARLIER)
async def test_a_store_of_an_earlier_version_is_upgraded_with_its_data(
    clickhouse_url: str, edits_missing: int, last: str
) -> None:
    engine = Engine.open(create_database(clickhouse_url.rpartition("/")[0]), MEMORY_MB)
    with engine.client() as client:
        make_earlier_store(client, edits_missing, last)
    assert send_one(engine) == 2
    page, everything = PageRequest(), TraceFilter(search="haystack")
    found = await find_traces(engine, WORKSPACE, everything, page, {})
    assert [trace.name for trace in found.items] == ["old"]
    logs = await find_logs(engine, WORKSPACE, LogFilter(search="haystack"), page, {})
    assert [line.message for line in logs.items] == ["Haystack"]
    rollup = Rollup(engine)
    for _ in range(2):
        assert await total_of(rollup) == 2
        await rollup.maintenance.update(quiet_seconds=0)
    assert (await inspect_schema(engine)) is SchemaState.CURRENT
    engine.close()


async def total_of(rollup: Rollup) -> int:
    period = BoundedRange(datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    question = Question(period, TraceFilter(), Granularity.MONTHLY).within(period)
    return (await rollup.answer(WORKSPACE, question, TOTALS)).traces
