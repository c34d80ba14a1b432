"""Takes batches into the engine and keeps what follows from them up to date."""

import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import structlog
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from spanwise.model.agents import MAX_NAME, AgentActivity
from spanwise.model.errors import Unavailable
from spanwise.model.telemetry.prices import PriceKey, PricePeriod
from spanwise.storage.telemetry.engine.engine import (
    Engine,
    Rows,
    is_disk_error,
    query_rows,
    yield_to_readers,
)
from spanwise.storage.telemetry.prices.prices import put_prices
from spanwise.storage.telemetry.prices.repricing import reprice_batch
from spanwise.storage.telemetry.rollup.dirty_ranges import SLICE
from spanwise.storage.telemetry.rollup.recent_changes import MAX_MOMENTS, Changes, Moments
from spanwise.storage.telemetry.schema import LANDINGS, apply_schema
from spanwise.storage.telemetry.spans.decoding import in_utc
from spanwise.storage.telemetry.spans.deletion import TraceDeletion, delete_traces
from spanwise.storage.telemetry.spans.derived_calls import supersede_derived_calls
from spanwise.storage.telemetry.spans.extraction import PROTO_SCHEMA
from spanwise.storage.telemetry.traces.aggregates import (
    VERSION_STEP,
    summarize_batch,
    summarize_shared_batch,
)
from spanwise.storage.telemetry.traces.reaggregation import SETTLED_SECONDS, SecondLook

log = structlog.get_logger()

T = TypeVar("T")
PriceFinder = Callable[[str, str], Sequence[PricePeriod]]

# Two inserts at a time are 1.3 times as fast as one; the cores are busy then.
PARALLEL_INSERTS = 2

# A lookup in the price list takes up to 0.3 ms, and readers wait for it: the rest is postponed.
INLINE_LOOKUPS = 100
# Names of models are free: a workspace must not fill the price list that all share.
MAX_LOOKUPS = 1000
_MAX_WITHOUT_PRICE = 100_000

# Planning is most of what a small batch costs; the cores are busy with others.
_FRUGAL: Mapping[str, object] = {
    "short_circuit_function_evaluation": "disable",
    "optimize_on_insert": 0,
    "max_insert_threads": 1,
    "max_threads": 1,
    "max_execution_time": 300,
}
# Sorting and indexing can wait for the merge.
_INSERT_SETTINGS: Mapping[str, object] = {
    **_FRUGAL,
    "query_plan_enable_optimizations": 0,
    "materialize_skip_indexes_on_insert": 0,
}

# Errors that say "this data is wrong", as opposed to "not now": parse errors of several kinds.
_REFUSALS = frozenset({6, 26, 27, 32, 33, 38, 41, 53, 69, 72, 117, 131, 407, 441, 444, 1001})


class DataRefused(Exception):  # noqa: N818 -- an outcome, not a defect
    """The engine cannot read the data, and never will."""


@dataclass(frozen=True)
class Batch:
    """Rows of many requests, by landing table, with the range of versions that they carry.

    Spans may come in several pieces, which are then inserted side by side.
    """

    first_version: int
    last_version: int
    spans: Sequence[bytes] = ()
    logs: bytes = b""
    metrics: bytes = b""
    signals: bytes = b""
    deletions: Sequence[TraceDeletion] = ()
    exposures: bytes = b""


@dataclass
class _Change:
    """What a change is about, when that is known."""

    moments: Moments | None = None


class Writer:
    """Writes batches in the order of their versions, one at a time.

    While what follows from one is computed, the next may be inserted.
    """

    def __init__(self, engine: Engine, find_prices: PriceFinder) -> None:
        with engine.client() as client:
            apply_schema(client, engine.address)
        engine.let_merges_yield()
        self._writers = [engine.new_client(_INSERT_SETTINGS) for _ in range(PARALLEL_INSERTS)]
        self._threads = ThreadPoolExecutor(PARALLEL_INSERTS, "telemetry-insert", yield_to_readers)
        self._schema = _schema_settings(engine.address.folder)
        self._client = engine.new_client(_FRUGAL)
        self._inserting = threading.Lock()
        self._finishing = threading.Lock()
        self._shared = SecondLook() if engine.address.folder is None else None
        # What is changed, where nobody else changes anything.
        self.changes = Changes() if self._shared is None else None
        self._cluster = engine.address.cluster
        # What has a lower version is replayed, perhaps in other batches than it was finished in.
        self._started = time.time_ns()
        self._find_prices = find_prices
        self._without_price: set[PriceKey] = set()
        self._lookups: Counter[str] = Counter()
        self._postponed: set[PriceKey] = set()

    def close(self) -> None:
        """Let the inserting threads go, before the engine closes their clients."""
        self._threads.shutdown()

    def write(self, batch: Batch) -> list[AgentActivity]:
        """Store a batch; it is durable and visible when this returns.

        Returns which agents the batch's traces are of.
        """
        self.insert(batch)
        return self.finish(
            batch.first_version,
            batch.last_version,
            deletions=batch.deletions,
            has_spans=bool(batch.spans),
        )

    def insert(self, batch: Batch) -> None:
        """Make a batch's rows durable."""
        with self._inserting:
            try:
                self._insert_all(batch)
            except ClickHouseError as error:
                if error_code(error) in _REFUSALS:
                    raise DataRefused(str(error)) from error
                raise

    def finish(
        self,
        first_version: int,
        last_version: int,
        *,
        deletions: Sequence[TraceDeletion] = (),
        has_spans: bool = True,
        has_calls: bool = False,
    ) -> list[AgentActivity]:
        """Compute what follows from a batch that is inserted, as all before it are."""
        # With corrections of its rows: a merge leaves nothing else of a row that has one.
        last_version += VERSION_STEP - 1
        with self._changing() as change:
            # What a deletion is about has a lower version, so their order within the batch is kept.
            delete_traces(self._client, deletions)
            if not has_spans:
                change.moments = None if deletions else {}
                return []
            if has_calls:
                # Without those of the next batch: perhaps they are not all there yet.
                only = "1" if self._shared is not None else "version <= {last:UInt64}"
                supersede_derived_calls(self._client, first_version, last_version, only)
            has_repriced = self._add_up(first_version, last_version, has_calls=has_calls)
            rows = query_rows(
                self._client,
                _WRITTEN,
                {
                    "first": first_version,
                    "last": last_version,
                    "max_name": MAX_NAME,
                    "max_groups": MAX_MOMENTS,
                },
            )
            change.moments = None if deletions or has_repriced else _moments_of(rows)
            return [
                AgentActivity(
                    row["workspace"], row["name"], in_utc(row["first"]), in_utc(row["last"])
                )
                for row in rows
                if row["name"]
            ]

    def exclusively(self, work: Callable[[Client], T]) -> T:
        """Do something while no batch is being written.

        A price that changes, or a trace that is added up anew, in the middle of a batch could leave
        a cost or a sum behind that nothing would ever put right.
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
                    self.changes.note(change.moments)

    def visible_until(self) -> datetime | None:
        """Return up to when all that was written is visible; None where others write too."""
        if self._shared is not None:
            return None
        with self._finishing:
            (row,) = query_rows(self._client, "SELECT now64(3) AS now", {})
        # The same millisecond may see another row.
        return in_utc(row["now"]) - timedelta(milliseconds=1)

    def put_prices(self, key: PriceKey, periods: Sequence[PricePeriod], version: int) -> None:
        """Write a price; spans of the next batch have it."""
        try:
            self.exclusively(
                lambda client: put_prices(client, {key: periods}, version, self._cluster)
            )
        except (ClickHouseError, OSError, RuntimeError) as error:
            if not is_disk_error(error):
                raise
            raise Unavailable("the telemetry store has no room at the moment", 5) from error

    def look_again(self, seconds: float = SETTLED_SECONDS) -> None:
        """Add up again the traces of batches that other writers may have come across.

        Nothing to do where this is the only writer.
        """
        if self._shared is None:
            return
        for first, last, has_calls in self._shared.take_settled(seconds):
            with self._changing():
                if has_calls:
                    supersede_derived_calls(self._client, first, last)
                summarize_shared_batch(self._client, first, last)

    def _insert_all(self, batch: Batch) -> None:
        self._insert_spans(batch.spans)
        if batch.logs:
            self._insert(LANDINGS["logs"].table, batch.logs, "Protobuf", "Logs")
        if batch.metrics:
            self._insert(LANDINGS["metrics"].table, batch.metrics, "Protobuf", "Metrics")
        if batch.signals:
            self._insert("signals", batch.signals, "JSONEachRow", "")
        if batch.exposures:
            self._insert("exposures", batch.exposures, "JSONEachRow", "")

    def _add_up(self, first: int, last: int, *, has_calls: bool) -> bool:
        """Add up the traces of a batch; returns whether others may have been, for a price."""
        if self._shared is None and first >= self._started:
            summarize_batch(self._client, first, last)
        else:
            summarize_shared_batch(self._client, first, last)
        if self._shared is not None:
            self._shared.note(first, last, has_calls=has_calls)
        return self._learn_prices(first, last)

    def _insert_spans(self, pieces: Sequence[bytes]) -> None:
        table = LANDINGS["spans"].table
        inserts = [
            self._threads.submit(self._insert, table, piece, "Protobuf", "Spans", writer=number)
            for number, piece in enumerate(pieces)
        ]
        wait(inserts)
        for insert in inserts:
            insert.result()

    def _insert(
        self, table: str, data: bytes, data_format: str, message: str, *, writer: int = 0
    ) -> None:
        settings = {**self._schema, "format_schema_message_name": message} if message else {}
        client = self._writers[writer]
        client.raw_insert(table, insert_block=data, fmt=data_format, settings=settings)

    def _learn_prices(self, first: int, last: int) -> bool:
        """Look up the price of models that have none yet, and price their spans with it."""
        rows = query_rows(self._client, _UNPRICED, {"first": first, "last": last})
        found = {
            key: self._find_prices(key.provider, key.model) for key in self._take_unknown(rows)
        }
        self._remember_without_price(key for key, periods in found.items() if not periods)
        learned = {key: periods for key, periods in found.items() if periods}
        if learned:
            put_prices(self._client, learned, last, self._cluster)
            reprice_batch(self._client, list(learned), first, last)
        return bool(learned)

    def _take_unknown(self, rows: Rows) -> list[PriceKey]:
        """Return the models to look up now; more than a few are `postponed`."""
        unknown: dict[PriceKey, None] = {}
        for row in rows:
            key = PriceKey("", row["provider"], row["model"])
            if key in self._without_price or key in self._postponed or key in unknown:
                continue
            if self._lookups[row["workspace"]] < MAX_LOOKUPS:
                self._lookups[row["workspace"]] += 1
                unknown[key] = None
        keys = list(unknown)
        self._postponed.update(keys[INLINE_LOOKUPS:])
        return keys[:INLINE_LOOKUPS]

    def postponed(self) -> list[PriceKey]:
        """Return models whose price was not looked up with their batch."""
        with self._finishing:
            return list(self._postponed)

    def note_looked_up(self, keys: Iterable[PriceKey], without_price: Iterable[PriceKey]) -> None:
        """Remember that models were looked up, and which of them have no price."""
        with self._finishing:
            self._postponed.difference_update(keys)
            self._remember_without_price(without_price)

    def _remember_without_price(self, keys: Iterable[PriceKey]) -> None:
        if len(self._without_price) >= _MAX_WITHOUT_PRICE:
            self._without_price = set()
        self._without_price.update(keys)


# What a batch wrote, by agent: when its traces start.
_WRITTEN = f"""
SELECT workspace, leftUTF8(agent_name, {{max_name:UInt16}}) AS name, min(start) AS first,
    max(start) AS last, count() OVER () > {{max_groups:UInt32}} AS are_many,
    if(are_many, ([], []), sumMap([{SLICE}], [1])) AS moments
FROM traces WHERE version BETWEEN {{first:UInt64}} AND {{last:UInt64}}
GROUP BY workspace, name"""

_UNPRICED = """
SELECT DISTINCT workspace, provider, model FROM spans
WHERE version BETWEEN {first:UInt64} AND {last:UInt64} AND NOT is_priced AND model != ''"""


def _moments_of(rows: Rows) -> Moments | None:
    """Return when the traces of each agent start; None when there are more than readers use."""
    if rows and rows[0]["are_many"]:
        return None
    moments: dict[str, dict[str, dict[datetime, int]]] = defaultdict(dict)
    for row in rows:
        starts, counts = row["moments"]
        of_agent = dict(zip(map(in_utc, starts), counts, strict=True))
        moments[row["workspace"]][row["name"]] = of_agent
    return moments


def _schema_settings(folder: Path | None) -> dict[str, str]:
    """How the engine gets the schema of what it reads.

    A server takes it with each insert. The embedded engine would keep a copy of it in the current
    folder then, whichever that is, so it reads a file in its own.
    """
    if folder is None:
        return {"format_schema_source": "string", "format_schema": PROTO_SCHEMA}
    path = folder.resolve() / "otlp.proto"
    path.write_text(PROTO_SCHEMA)
    return {"format_schema_source": "file", "format_schema": str(path)}


def error_code(error: ClickHouseError) -> int | None:
    code = getattr(error, "code", None)
    if isinstance(code, int):
        return code
    # A message that quotes bytes of the data is not UTF-8; the driver then fails to read it.
    if isinstance(error.__cause__, UnicodeDecodeError):
        found = re.match(rb"Code: (\d+)\.", error.__cause__.object)
        return int(found[1]) if found else None
    return None
