"""Migrations complete after any interruption, with concurrent replicas, and keep what is stored.

Until 0.1 is released there is the baseline only, so these tests bring a second migration.
"""

import json
import secrets
import time
from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from spanwise.model.errors import StartError
from spanwise.storage.schema_state import SchemaState
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.schema import apply_schema, migrate
from spanwise.storage.telemetry.schema.migrate import schema_file_names
from spanwise.storage.telemetry.schema.state import inspect_schema
from support.child_processes import new_event, run_process, start_process
from support.schema_processes import (
    MEMORY_MB,
    Store,
    apply_twice,
    complete,
    migrate_and_signal,
    migrate_at,
    migrate_until_killed,
    record_order,
    send_one,
    start_and_write,
)

BASELINE = "0001_baseline.sql"
# Every kind of statement that a migration may need.
SECOND = """-- Regions.
CREATE TABLE IF NOT EXISTS regions
(
    workspace LowCardinality(String),
    region String,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace, region);

ALTER TABLE spans ADD COLUMN IF NOT EXISTS region LowCardinality(String);

ALTER TABLE traces
    ADD COLUMN IF NOT EXISTS regions Array(String) DEFAULT ['unknown'],
    ADD INDEX IF NOT EXISTS region_filter regions TYPE bloom_filter(0.01) GRANULARITY 4;

TRUNCATE TABLE trace_rollup;

DROP DICTIONARY IF EXISTS price_list;
"""
LONG = (pytest.mark.long, pytest.mark.timeout(1200))


@pytest.fixture(scope="module")
def two_migrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the baseline and a second migration."""
    folder = tmp_path_factory.mktemp("schema")
    (folder / BASELINE).write_text(migrate.SCHEMA_FOLDER.joinpath(BASELINE).read_text())
    (folder / "0002_regions.sql").write_text(SECOND)
    return folder


@pytest.fixture(params=["embedded", pytest.param("server", marks=LONG)])
def new_store(
    request: pytest.FixtureRequest, tmp_path: Path, two_migrations: Path
) -> Callable[[], Store]:
    """Returns a function that creates an empty store."""
    if request.param == "embedded":
        numbers = count(1)
        return lambda: Store(
            EngineAddress(folder=tmp_path / f"telemetry-{next(numbers)}"), two_migrations
        )
    base = request.getfixturevalue("clickhouse_url").rpartition("/")[0]
    return lambda: Store(create_database(base), two_migrations)


def create_database(base: str) -> EngineAddress:
    address = EngineAddress(server_url=f"{base}/schema_{secrets.token_hex(6)}")
    Engine.open(address, MEMORY_MB).close()
    return address


@pytest.fixture(scope="module")
def first_starts(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[Store], tuple[list[str], list[str]]]:
    """Returns a function for the statements of a first start on an engine, and its tables."""
    folder = tmp_path_factory.mktemp("first")

    @cache
    def record(base: str | None, schema: Path) -> tuple[str, list[str], list[str]]:
        address = create_database(base) if base else EngineAddress(folder=folder / "telemetry")
        path = folder / f"order-{bool(base)}"
        assert run_process(record_order, Store(address, schema), path)
        recorded = json.loads(path.read_text())
        assert len(recorded["order"]) > len(migrate.schema_statements())
        return address.credentials.database, recorded["order"], recorded["tables"]

    def find(store: Store) -> tuple[list[str], list[str]]:
        url = store.address.server_url
        database, order, tables = record(url and url.rpartition("/")[0], store.folder)
        # The statement of the dictionary contains the database name.
        here = store.address.credentials.database
        return [sql.replace(database, here) if database else sql for sql in order], tables

    return find


def pick_few(order: Sequence[str]) -> list[int]:
    """Return a place within each migration, and one among the views."""
    places = [n for n, sql in enumerate(order) if sql.startswith("INSERT INTO schema_versions")]
    assert len(places) == 2
    return [places[0] // 2, (places[0] + places[1]) // 2, len(order) - 1]


def pick_all(order: Sequence[str]) -> list[int]:
    return list(range(len(order)))


@pytest.mark.parametrize("pick", [pick_few, pytest.param(pick_all, marks=LONG)])
def test_starts_killed_some_statements_later_each_time_complete_the_schema(
    new_store: Callable[[], Store],
    first_starts: Callable[[Store], tuple[list[str], list[str]]],
    pick: Callable[[Sequence[str]], list[int]],
) -> None:
    """The embedded engine is killed with its process, after each statement in turn."""
    store = new_store()
    order, tables = first_starts(store)
    for last in pick(order):
        assert not run_process(migrate_until_killed, store, order, last), order[last]
    assert run_process(complete, store, tables)
    assert run_process(start_and_write, store)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_start_that_is_killed_after_any_statement_is_completed_by_the_next(
    clickhouse_url: str,
    two_migrations: Path,
    first_starts: Callable[[Store], tuple[list[str], list[str]]],
) -> None:
    base = clickhouse_url.rpartition("/")[0]
    order, _ = first_starts(Store(create_database(base), two_migrations))
    for last in pick_all(order):
        store = Store(create_database(base), two_migrations)
        here, tables = first_starts(store)
        assert not run_process(migrate_until_killed, store, here, last), order[last]
        assert run_process(complete, store, tables)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_start_that_is_killed_at_any_moment_is_completed_by_the_next(
    new_store: Callable[[], Store],
) -> None:
    for pause in (0.0, 0.05, 0.1, 0.15):
        store, has_begun = new_store(), new_event()
        process = start_process(migrate_and_signal, store, has_begun)
        assert has_begun.wait(180)
        # All statements together take half a second.
        process.join(pause)
        process.kill()
        process.join()
        assert run_process(start_and_write, store)


@pytest.mark.parametrize("replicas", [3, pytest.param(5, marks=LONG)])
@pytest.mark.parametrize(
    "catalog_url", ["postgresql", pytest.param("sqlite", marks=LONG)], indirect=True
)
def test_replicas_that_start_together_on_an_empty_server_all_start(
    clickhouse_url: str, catalog_url: str, two_migrations: Path, replicas: int
) -> None:
    base = clickhouse_url.rpartition("/")[0]
    # The database does not exist either: all replicas create it.
    address = EngineAddress(server_url=f"{base}/schema_{secrets.token_hex(6)}")
    store, moment = Store(address, two_migrations), time.time() + 1
    started = [start_process(migrate_at, store, catalog_url, moment) for _ in range(replicas)]
    for process in started:
        process.join(180)
    assert [process.exitcode for process in started] == [0] * replicas
    engine = Engine.open(address, MEMORY_MB)
    with engine.client() as client:
        recorded = query_rows(client, "SELECT name FROM schema_versions ORDER BY name", {})
    assert [row["name"] for row in recorded] == [BASELINE, "0002_regions.sql"]
    assert send_one(engine) == 1
    engine.close()


def test_statements_that_run_twice_leave_the_same_tables(new_store: Callable[[], Store]) -> None:
    assert run_process(apply_twice, new_store())


async def test_a_store_of_the_version_before_is_upgraded_with_its_data(
    clickhouse_url: str, two_migrations: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine.open(create_database(clickhouse_url.rpartition("/")[0]), MEMORY_MB)
    assert await inspect_schema(engine) is SchemaState.ABSENT
    assert send_one(engine) == 1
    assert await inspect_schema(engine) is SchemaState.CURRENT
    monkeypatch.setattr(migrate, "SCHEMA_FOLDER", two_migrations)
    assert schema_file_names() == {BASELINE, "0002_regions.sql"}
    assert await inspect_schema(engine) is SchemaState.OUTDATED
    assert send_one(engine) == 2
    assert await inspect_schema(engine) is SchemaState.CURRENT
    rows = await engine.fetch("SELECT name, regions FROM traces FINAL", {}, tag="test")
    assert rows == [{"name": "needle", "regions": ["unknown"]}] * 2
    engine.close()


def test_a_store_from_before_the_baseline_is_refused_with_what_to_do(clickhouse_url: str) -> None:
    engine = Engine.open(create_database(clickhouse_url.rpartition("/")[0]), MEMORY_MB)
    with engine.client() as client:
        client.command(
            "CREATE TABLE schema_versions (name String) ENGINE = MergeTree ORDER BY name"
        )
        client.insert("schema_versions", [["0001_telemetry.sql"]], column_names=["name"])
        with pytest.raises(StartError, match=r"spanwise export.*spanwise import"):
            apply_schema(client, engine.address)
    engine.close()
