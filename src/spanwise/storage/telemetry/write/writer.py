"""Writes batches to the engine and updates everything derived from them: traces, costs, agents."""

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import structlog
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from spanwise.model.agents import AgentActivity
from spanwise.model.errors import Unavailable
from spanwise.model.telemetry.prices import PriceKey, PricePeriod
from spanwise.storage.telemetry.engine.client_pool import Engine, lower_thread_priority
from spanwise.storage.telemetry.engine.query import Rows, is_disk_error, query_rows
from spanwise.storage.telemetry.extraction.point_extraction import PROTO_MESSAGES
from spanwise.storage.telemetry.extraction.span_extraction import PROTO_SCHEMA
from spanwise.storage.telemetry.prices.price_dictionary import put_prices
from spanwise.storage.telemetry.rollup.recent_changes import ChangedSlices, RecentChanges
from spanwise.storage.telemetry.rows.batch_rows import BatchRows
from spanwise.storage.telemetry.rows.decoding import in_utc, to_text
from spanwise.storage.telemetry.schema import apply_schema
from spanwise.storage.telemetry.schema.landing_tables import LANDING_TABLES
from spanwise.storage.telemetry.write.aggregates import VERSION_STEP, TraceAggregation
from spanwise.storage.telemetry.write.deletion import TraceDeletion, delete_traces
from spanwise.storage.telemetry.write.derived_calls import supersede_derived_calls
from spanwise.storage.telemetry.write.price_lookups import PriceFinder, PriceLookups
from spanwise.storage.telemetry.write.reaggregation import SETTLED_SECONDS, ReaggregationQueue
from spanwise.storage.telemetry.write.trace_rows import WrittenTraces

log = structlog.get_logger()

T = TypeVar("T")

# Two parallel inserts are 1.3 times as fast as one; more find no free core.
PARALLEL_INSERTS = 2

# Small batches cost mostly query planning, and other work needs the cores.
_LIGHT_SETTINGS: Mapping[str, object] = {
    "short_circuit_function_evaluation": "disable",
    "optimize_on_insert": 0,
    "max_insert_threads": 1,
    "max_threads": 1,
    "max_execution_time": 300,
    # Takes 10 of 80 ms of planning the view that extracts spans.
    "optimize_and_compare_chain": 0,
}
_INSERT_SETTINGS: Mapping[str, object] = {
    **_LIGHT_SETTINGS,
    "query_plan_enable_optimizations": 0,
}
# The text index takes a sixth of the insert. Ingest at its limit leaves it to the merges, which
# follow within seconds; until then a search reads the texts of these rows.
_UNINDEXED_BYTES = 5 * 2**20

# The messages of all landing tables.
_PROTO_SCHEMA = PROTO_SCHEMA + PROTO_MESSAGES

# Parse errors: the data is wrong, and a retry cannot help.
_REFUSAL_CODES = frozenset(
    {6, 26, 27, 32, 33, 38, 41, 53, 69, 72, 117, 131, 407, 436, 441, 444, 1001}
)


class DataRefused(Exception):  # noqa: N818 -- an outcome, not a defect
    """The engine cannot parse the data; a retry would fail too."""


@dataclass(frozen=True)
class Batch:
    """Encoded rows of many requests by table.

    Several chunks of spans are inserted in parallel.
    """

    rows: BatchRows
    spans: Sequence[bytes] = ()
    logs: bytes = b""
    metrics: bytes = b""
    signals: bytes = b""
    deletions: Sequence[TraceDeletion] = ()
    exposures: bytes = b""


@dataclass
class _Change:
    """The slices in which changed traces start; None when unknown."""

    slices: ChangedSlices | None = None


class TelemetryWriter:
    """Writes batches one at a time, in the order of their versions.

    The next batch may be inserted while the previous one is finished: aggregated and priced.
    """

    def __init__(self, engine: Engine, find_prices: PriceFinder) -> None:
        with engine.client() as client:
            apply_schema(client, engine.address)
        engine.lower_merge_priority()
        self._inserters = [engine.new_client(_INSERT_SETTINGS) for _ in range(PARALLEL_INSERTS)]
        self._threads = ThreadPoolExecutor(
            PARALLEL_INSERTS, "telemetry-insert", lower_thread_priority
        )
        self._proto_settings = _schema_settings(engine.address.folder)
        self._client = engine.new_client(_LIGHT_SETTINGS)
        self._inserting = threading.Lock()
        self._finishing = threading.Lock()
        # Used only on a server, where other replicas may write the same traces.
        self._reaggregation = ReaggregationQueue() if engine.address.folder is None else None
        # Recent changes, known only when this is the only writer.
        self.changes = RecentChanges() if self._reaggregation is None else None
        self._cluster = engine.address.cluster
        # Lower versions are replayed from the journal, possibly split into other batches.
        self._first_own_version = time.time_ns()
        self._price_lookups = PriceLookups(find_prices, self._cluster)

    def close(self) -> None:
        """Stop the insert threads; call before the engine closes their clients."""
        self._threads.shutdown()

    def write(self, batch: Batch) -> list[AgentActivity]:
        """Store a batch, durable and visible on return; returns the agents of its traces."""
        self.insert(batch)
        return self.finish(
            batch.rows,
            deletions=batch.deletions,
            has_spans=bool(batch.spans),
        )

    def insert(self, batch: Batch) -> None:
        """Insert a batch's rows durably; raises DataRefused when the engine cannot parse them."""
        with self._inserting:
            try:
                self._insert_all(batch)
            except ClickHouseError as error:
                if error_code(error) in _REFUSAL_CODES:
                    raise DataRefused(str(error)) from error
                raise

    def finish(
        self,
        rows: BatchRows,
        *,
        deletions: Sequence[TraceDeletion] = (),
        has_spans: bool = True,
        has_calls: bool = False,
    ) -> list[AgentActivity]:
        """Aggregate and price an inserted batch; all earlier batches must be inserted too."""
        # Include corrections of the batch's rows: after a merge only the correction is left.
        rows = replace(rows, last_version=rows.last_version + VERSION_STEP - 1)
        with self._changing() as change:
            # A deletion affects only lower versions, so order within the batch is preserved.
            delete_traces(self._client, deletions)
            if not has_spans:
                change.slices = None if deletions else {}
                return []
            written = self._aggregate(rows, has_calls=has_calls)
            change.slices = None if deletions else written.slices()
            return written.agents()

    def run_exclusively(self, work: Callable[[Client], T]) -> T:
        """Run work while no batch is being written.

        A price change or a recomputed trace in the middle of a batch could leave a wrong cost or
        aggregate that nothing would correct later.
        """
        with self._inserting, self._changing():
            return work(self._client)

    @contextmanager
    def _changing(self) -> Iterator[_Change]:
        change = _Change()
        with self._finishing:
            try:
                yield change
            finally:
                if self.changes is not None:
                    self.changes.record(change.slices)

    def visible_until(self) -> datetime | None:
        """Return the time up to which all writes are visible; None with other writers."""
        if self._reaggregation is not None:
            return None
        with self._finishing:
            (row,) = query_rows(self._client, "SELECT now64(3) AS now", {})
        # Further rows may be written in the same millisecond.
        return in_utc(row["now"]) - timedelta(milliseconds=1)

    def put_prices(self, key: PriceKey, periods: Sequence[PricePeriod], version: int) -> None:
        """Write a price; it applies from the next batch on."""
        try:
            self.run_exclusively(
                lambda client: put_prices(client, {key: periods}, version, self._cluster)
            )
        except (ClickHouseError, OSError, RuntimeError) as error:
            if not is_disk_error(error):
                raise
            raise Unavailable("the telemetry store cannot write to its disk", 5) from error

    def reaggregate_settled(self, seconds: float = SETTLED_SECONDS) -> None:
        """Recompute traces of settled batches that other writers may have written concurrently.

        Does nothing when this is the only writer.
        """
        if self._reaggregation is None:
            return
        for rows, has_calls in self._reaggregation.take_settled(seconds):
            with self._changing():
                self._aggregation(rows, has_calls=has_calls).run(rows.traces)

    def _insert_all(self, batch: Batch) -> None:
        self._insert_spans(batch.spans)
        if batch.logs:
            self._insert(LANDING_TABLES["logs"].name, batch.logs, "Protobuf", "Logs")
        if batch.metrics:
            table = LANDING_TABLES["metric_points"].name
            self._insert(table, batch.metrics, "Protobuf", "Metrics")
        if batch.signals:
            self._insert("signals", batch.signals, "JSONEachRow", "")
        if batch.exposures:
            self._insert("exposures", batch.exposures, "JSONEachRow", "")

    def _aggregate(self, rows: BatchRows, *, has_calls: bool) -> WrittenTraces:
        """Price and aggregate a batch."""
        if self._reaggregation is not None:
            self._reaggregation.add(rows, has_calls=has_calls)
        aggregation = self._aggregation(rows, has_calls=has_calls)
        if self._reaggregation is None and rows.first_version >= self._first_own_version:
            aggregation.run_batch(rows)
        else:
            # Versions do not show which traces are complete in the batch.
            aggregation.run(rows.traces)
        return aggregation.written

    def _aggregation(self, rows: BatchRows, *, has_calls: bool) -> TraceAggregation:
        # With one writer: exclude the next batch, which may be only partly inserted.
        only = "1" if self._reaggregation is not None else "version <= {last:UInt64}"

        def correct(aggregates: Rows) -> bool:
            unpriced = [
                (to_text(trace["workspace"]), to_text(provider), to_text(model))
                for trace in aggregates
                for provider, model in trace["unpriced"]
            ]
            is_corrected = self._price_lookups.price_batch(self._client, rows, unpriced)
            if has_calls:
                is_corrected |= supersede_derived_calls(
                    self._client, aggregates, only, rows.last_version
                )
            return is_corrected

        return TraceAggregation(
            self._client,
            only,
            rows.parameters,
            correct,
            correct_from=rows.first_version,
            has_calls=has_calls,
        )

    def _insert_spans(self, chunks: Sequence[bytes]) -> None:
        table = LANDING_TABLES["spans"].name
        inserts = [
            self._threads.submit(self._insert, table, chunk, "Protobuf", "Spans", number=number)
            for number, chunk in enumerate(chunks)
        ]
        wait(inserts)
        for insert in inserts:
            insert.result()

    def _insert(
        self, table: str, data: bytes, data_format: str, message: str, *, number: int = 0
    ) -> None:
        settings: dict[str, str] = {}
        if message:
            settings |= {**self._proto_settings, "format_schema_message_name": message}
        if len(data) >= _UNINDEXED_BYTES:
            settings["materialize_skip_indexes_on_insert"] = "0"
        client = self._inserters[number]
        client.raw_insert(table, insert_block=data, fmt=data_format, settings=settings)

    def postponed_lookups(self) -> list[PriceKey]:
        """Return models whose price was not looked up with their batch."""
        with self._finishing:
            return self._price_lookups.postponed()

    def finish_lookups(self, keys: Iterable[PriceKey], without_price: Iterable[PriceKey]) -> None:
        """Record that postponed models were looked up, and which of them have no price."""
        with self._finishing:
            self._price_lookups.finish(keys, without_price)

    def forget_lookups(self) -> None:
        """Look up all models again, because the price list is another one."""
        with self._finishing:
            self._price_lookups.forget()


def _schema_settings(folder: Path | None) -> dict[str, str]:
    """Return the settings that give the engine the protobuf schema of inserts.

    A server takes the text with each insert. The embedded engine would write a copy into the
    current directory, so it reads a file in its own folder instead.
    """
    if folder is None:
        return {"format_schema_source": "string", "format_schema": _PROTO_SCHEMA}
    path = folder.resolve() / "otlp.proto"
    path.write_text(_PROTO_SCHEMA)
    return {"format_schema_source": "file", "format_schema": str(path)}


def error_code(error: ClickHouseError) -> int | None:
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return code
    # The driver fails to decode a message that quotes non-UTF-8 data.
    if isinstance(error.__cause__, UnicodeDecodeError):
        found = re.match(rb"Code: (\d+)\.", error.__cause__.object)
        return int(found[1]) if found else None
    return None
