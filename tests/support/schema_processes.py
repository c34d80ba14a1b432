"""Functions that tests of the telemetry schema run in child processes."""

import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client

from spanwise.analysis.prices import find_list_prices
from spanwise.ingest.otlp import prepare as otlp
from spanwise.ingest.otlp.from_rest import spans_to_otlp
from spanwise.ingest.records.versions import next_version, with_version
from spanwise.ingest.rest_bodies import parse_spans
from spanwise.storage.catalog.database import driver_url
from spanwise.storage.catalog.migrate import migration_lock
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.schema import apply_schema, migrate
from spanwise.storage.telemetry.write.writer import TelemetryWriter
from support.store import to_batch
from support.telemetry import make_span

MEMORY_MB = 1024
WORKSPACE = "wsp_1"


@dataclass(frozen=True)
class Store:
    """A telemetry store, and the folder with the SQL files of its schema."""

    address: EngineAddress
    folder: Path

    def open_client(self, on_done: Callable[[str], None] | None = None) -> Client:
        """Open a client that calls `on_done` after each statement."""
        client = Engine(self.address, MEMORY_MB).new_client()
        run = client.command

        def run_and_report(statement: str, *arguments: Any, **options: Any) -> Any:
            result = run(statement, *arguments, **options)
            if on_done is not None:
                on_done(statement)
            return result

        vars(client)["command"] = run_and_report
        return client

    def migrate(self, client: Client) -> None:
        # This process ends with the test: nothing has to be put back.
        migrate.SCHEMA_FOLDER = self.folder
        apply_schema(client, self.address)


def migrate_until_killed(store: Store, order: Sequence[str], last: int) -> None:
    """Migrate, and kill this process after the statement at index `last` of the order."""
    index = -1

    def count(statement: str) -> None:
        nonlocal index
        # Views that exist are skipped.
        index = order.index(statement, index + 1)
        if index == last:
            os.kill(os.getpid(), signal.SIGKILL)
        if index == 0:
            # The first statement runs at every start; finished files are skipped.
            index = _index_after_files(order, files_done)

    client = store.open_client(count)
    files_done = _count_files_done(client)
    store.migrate(client)


def _count_files_done(client: Client) -> int:
    if not int(client.query("EXISTS TABLE schema_versions").result_rows[0][0]):
        return 0
    return int(client.query("SELECT count() FROM schema_versions").result_rows[0][0])


def _index_after_files(order: Sequence[str], files: int) -> int:
    """Return the number of statements of those files, including those that record them."""
    ends = [index for index, sql in enumerate(order) if sql.startswith("INSERT INTO schema_v")]
    return ends[files - 1] if files else 0


def migrate_and_signal(store: Store, has_started: Event) -> None:
    """Migrate, and set the event once the first table exists."""

    def signal_first(statement: str) -> None:
        if " spans" in statement:
            has_started.set()

    store.migrate(store.open_client(signal_first))


def record_order(store: Store, path: Path) -> None:
    """Migrate an empty store, and write its statements and tables to a file."""
    order: list[str] = []
    client = store.open_client(order.append)
    store.migrate(client)
    path.write_text(json.dumps({"order": order, "tables": read_tables(client)}))


def complete(store: Store, tables: Sequence[str]) -> None:
    """Migrate like the next start; the tables must equal those of an undisturbed start."""
    client = store.open_client()
    store.migrate(client)
    assert read_tables(client) == list(tables)


def read_tables(client: Client) -> list[str]:
    rows = query_rows(
        client,
        """SELECT replaceAll(create_table_query, currentDatabase(), 'db') AS ddl
        FROM system.tables WHERE database = currentDatabase() ORDER BY name""",
        {},
    )
    return [row["ddl"] for row in rows]


def start_and_write(store: Store) -> None:
    """Start normally: a stored span becomes a trace."""
    migrate.SCHEMA_FOLDER = store.folder
    engine = Engine.open(store.address, MEMORY_MB)
    assert send_one(engine) == 1
    engine.close()


def send_one(engine: Engine) -> int:
    """Send a trace and return the number of traces."""
    writer = TelemetryWriter(engine, find_list_prices)
    parsed = parse_spans({"spans": [make_span(name="needle", model="gpt-4o")]}, 10)
    (prepared,) = otlp.prepare_traces(spans_to_otlp(parsed.items), WORKSPACE).records
    record = with_version(prepared, next_version())
    writer.write(to_batch(record))
    with engine.client() as client:
        rows = query_rows(client, "SELECT count() AS traces FROM traces FINAL", {})
    writer.close()
    return int(rows[0]["traces"])


def migrate_at(store: Store, catalog: str, moment: float) -> None:
    engine = Engine.open(store.address, MEMORY_MB)
    time.sleep(max(0, moment - time.time()))
    with engine.client() as client, migration_lock(driver_url(catalog)):
        store.migrate(client)
    engine.close()


def apply_twice(store: Store) -> None:
    client = store.open_client()
    store.migrate(client)
    before = read_tables(client)
    client.command("TRUNCATE TABLE schema_versions")
    store.migrate(client)
    assert read_tables(client) == before
