"""The telemetry engine: a pool of clients on chDB in this process, or on a ClickHouse server."""

import asyncio
import fcntl
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import clickhouse_connect
import structlog
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from spanwise.model.errors import StartError, Unavailable
from spanwise.storage.disk import check_folder, is_disk_fault
from spanwise.storage.telemetry.engine.conditions import SEARCH_WORDS
from spanwise.storage.telemetry.engine.read_slots import SERVICE, Lane

log = structlog.get_logger()

READERS = 4
# One workspace leaves a reader to the others.
_READERS_PER_WORKSPACE = READERS - 1
# Downloads and text searches have readers of their own, and a workspace one of them.
HEAVY_READERS = 2
_HEAVY_READERS_PER_WORKSPACE = 1
SLOW_QUERY_SECONDS = 1.0
QUERY_SECONDS = 30
WRITER_NICENESS, MERGE_NICENESS = 10, 19
_HTTP_PORT, _HTTPS_PORT = 8123, 8443
_MIB = 2**20
THREADS_HAVE_PRIORITIES = sys.platform == "linux"

T = TypeVar("T")
Rows = list[dict[str, Any]]
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class EngineAddress:
    """Where the engine is: a folder of this process, or a server, perhaps one of a cluster."""

    folder: Path | None = None
    server_url: str | None = None
    cluster: str | None = None

    @property
    def login(self) -> "Login":
        """Who we are on a server, and in which database."""
        parts = urlsplit(self.server_url or "")
        return Login(
            user=unquote(parts.username or "default"),
            password=unquote(parts.password or ""),
            database=parts.path.strip("/") or "default",
        )


@dataclass(frozen=True)
class Login:
    user: str
    password: str
    database: str


class EngineInUseError(StartError):
    """Another process has the folder of the embedded engine."""


class Engine:
    """Runs SQL. Reads share a few clients fairly; ingest has clients of its own."""

    def __init__(self, address: EngineAddress, memory_limit_mb: int) -> None:
        self.address = address
        self._memory_limit_mb = memory_limit_mb
        self._all_clients: list[Client] = []

    @classmethod
    def open(
        cls, address: EngineAddress, memory_limit_mb: int, *, creates: bool = True
    ) -> "Engine":
        """Connect. On a server the database is made, if it is missing, unless `creates` is off."""
        engine = cls(address, memory_limit_mb)
        try:
            if address.folder is None and creates:
                engine._create_database()
            engine._open_lanes()
        except (ClickHouseError, OSError, RuntimeError) as error:
            place = address.folder or hide_password(address.server_url or "")
            if address.folder is not None and _is_in_use(address.folder):
                raise EngineInUseError(
                    f"the telemetry store at {place} is in use by another process, perhaps a "
                    "running `spanwise serve`: it belongs to one process at a time; stop that one "
                    "first, or use a ClickHouse server"
                ) from None
            raise StartError(f"cannot open the telemetry store at {place}: {error}") from None
        return engine

    def _open_lanes(self) -> None:
        readers = [self.new_client(_READ_SETTINGS) for _ in range(READERS)]
        heavy = [self.new_client(_HEAVY_SETTINGS) for _ in range(HEAVY_READERS)]
        self._readers = Lane("read", readers, _READERS_PER_WORKSPACE)
        self._heavy = Lane("heavy", heavy, _HEAVY_READERS_PER_WORKSPACE, yield_to_readers)

    def _create_database(self) -> None:
        """Make the database on a server that does not have it yet."""
        name = self.address.login.database
        if name == "default":
            return
        client = self._server_client(None, "default")
        try:
            found = query_rows(
                client, "SELECT 1 FROM system.databases WHERE name = {name:String}", {"name": name}
            )
            if not found:
                cluster = f" ON CLUSTER '{self.address.cluster}'" if self.address.cluster else ""
                quoted = name.replace("`", "")
                client.command(f"CREATE DATABASE IF NOT EXISTS `{quoted}`{cluster}")
        finally:
            client.close()

    def new_client(self, settings: Mapping[str, Any] | None = None) -> Client:
        """Open one more client. One client serves one query at a time."""
        client = (
            self._embedded_client(self.address.folder, settings)
            if self.address.folder is not None
            else self._server_client(settings)
        )
        self._all_clients.append(client)
        return client

    def drop_client(self, client: Client) -> None:
        """Close a client that is needed no longer."""
        self._all_clients.remove(client)
        client.close()

    def _embedded_client(self, folder: Path, settings: Mapping[str, Any] | None) -> Client:
        folder.mkdir(parents=True, exist_ok=True)
        # Read when the engine is loaded, at the first client: its allocator would keep what is
        # freed for five seconds, which was some 200 MB more at the peak of ingest.
        os.environ.setdefault("JE_MALLOC_CONF", "dirty_decay_ms:500")
        # The engine takes what ingest's queue and Python itself leave of the limit.
        engine_bytes = int(self._memory_limit_mb * _MIB * 0.7)
        options = {
            "max_server_memory_usage": engine_bytes,
            "mark_cache_size": min(256 * _MIB, engine_bytes // 16),
            "index_mark_cache_size": min(64 * _MIB, engine_bytes // 32),
            "primary_index_cache_size": min(128 * _MIB, engine_bytes // 16),
            "uncompressed_cache_size": 0,
            # How many merges there are for each of the two threads that merge. Each takes some
            # 100 MB while it lasts; with one a thread, small ones would wait for large ones.
            "background_merges_mutations_concurrency_ratio": 1.5,
        }
        return clickhouse_connect.get_client(
            interface="chdb",
            path=str(folder.resolve()),
            chdb_options=options,
            settings={**_SETTINGS, **(settings or {})},
        )

    def _server_client(
        self, settings: Mapping[str, Any] | None, database: str | None = None
    ) -> Client:
        parts = urlsplit(self.address.server_url or "")
        login = self.address.login
        secure = parts.scheme == "clickhouses"
        return clickhouse_connect.get_client(
            host=parts.hostname or "localhost",
            port=parts.port or (_HTTPS_PORT if secure else _HTTP_PORT),
            username=login.user,
            password=login.password,
            database=login.database if database is None else database,
            secure=secure,
            settings={**_SETTINGS, **(settings or {})},
            autogenerate_session_id=False,
        )

    async def fetch(
        self, sql: str, parameters: Mapping[str, Any], *, tag: str = "", raw: bool = False
    ) -> Rows:
        """Run a query with bound parameters and return its rows by name.

        The parameters tell whose query it is and whether it searches texts.
        """
        work = partial(query_rows, sql=sql, parameters=parameters, tag=tag, raw=raw)
        return await asyncio.wrap_future(self._submit(parameters, work))

    async def fetch_columns(self, sql: str, parameters: Mapping[str, Any], *, tag: str) -> Columns:
        """Run a query that may have tens of thousands of rows; texts are bytes.

        Without rows there are no columns either.
        """

        work = partial(_query_columns, sql=sql, parameters=parameters, tag=tag)
        return await asyncio.wrap_future(self._submit(parameters, work))

    async def run(self, work: Callable[[Client], T]) -> T:
        """Do something of the service's own with a client, off the event loop."""
        return await asyncio.wrap_future(self._readers.submit(SERVICE, work))

    async def run_heavy(self, workspace: str, work: Callable[[Client], T]) -> T:
        """Do a part of a download: beside other reads, and after them where cores are short."""
        return await asyncio.wrap_future(self._heavy.submit(workspace, work))

    def _submit(self, parameters: Mapping[str, Any], work: Callable[[Client], T]) -> Future[T]:
        lane = self._heavy if SEARCH_WORDS in parameters else self._readers
        return lane.submit(parameters.get("workspace", SERVICE), work)

    @contextmanager
    def client(self) -> Iterator[Client]:
        client = self._readers.clients.get()
        try:
            yield client
        finally:
            self._readers.clients.put(client)

    def let_merges_yield(self) -> None:
        """Leave merges what inserts and queries do not need, where threads have a priority.

        Merging costs as much as inserting, and gets cheaper when it is put off: more parts at once.
        """
        if self.address.folder is None or not THREADS_HAVE_PRIORITIES:
            return
        with self.client() as client:
            client.query(_START_THREADS)
        for task in Path("/proc/self/task").iterdir():
            if (task / "comm").read_text().startswith("MergeMutate"):
                os.setpriority(os.PRIO_PROCESS, int(task.name), MERGE_NICENESS)

    async def ping(self) -> None:
        await self.fetch("SELECT 1 AS one", {})

    async def check(self) -> None:
        """Run a query, and write where the engine's folder is ours."""
        if self.address.folder is not None:
            await asyncio.to_thread(check_folder, self.address.folder)
        await self.ping()

    async def version(self) -> str:
        rows = await self.fetch("SELECT version() AS version", {})
        place = "chDB, ClickHouse" if self.address.folder is not None else "ClickHouse"
        return f"{place} {rows[0]['version']}"

    def close(self) -> None:
        self._readers.close()
        self._heavy.close()
        for client in self._all_clients:
            client.close()


# No query may run forever or eat the machine. Rows of a deleted trace are gone at once, although
# their parts are rewritten later.
_SETTINGS: dict[str, Any] = {
    "max_execution_time": QUERY_SECONDS,
    "max_threads": 2,
    "do_not_merge_across_partitions_select_final": 1,
    "session_timezone": "UTC",
    "lightweight_deletes_sync": 0,
    "apply_mutations_on_fly": 1,
    # Answers read a few columns of each part: giving every column to a thread costs more than it.
    "merge_tree_use_prefixes_deserialization_thread_pool": 0,
    # Compiling what is asked for the third time would take longer than the answer.
    "compile_expressions": 0,
    "compile_aggregate_expressions": 0,
    "compile_sort_description": 0,
    # Clocks may be off by any number of months, and one request's spans by many of them.
    "max_partitions_per_insert_block": 0,
}

# The engine lets a query of lower priority wait, block by block, while others run.
_READ_SETTINGS: dict[str, Any] = {"priority": 1}
_HEAVY_SETTINGS: dict[str, Any] = {
    "priority": 2,
    "low_priority_query_wait_time_ms": 50,
    "max_threads": 1,
    # Without the right to change it back, the engine leaves it alone.
    "os_threads_nice_value_query": 19,
}

# A merge takes up to 64 threads of the pool that queries take theirs from. One that it had to start
# would keep its low priority, and slow down whatever query gets it later: they are there before.
_START_THREADS = """
SELECT sum(sleepEachRow(0.005)) FROM numbers_mt(256)
SETTINGS max_threads = 128, max_block_size = 1, max_threads_min_free_memory_per_thread = 0
"""


def yield_to_readers() -> None:
    """Let those who wait for an answer go before this thread, which writes what is safe already."""
    if THREADS_HAVE_PRIORITIES:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), WRITER_NICENESS)


def query_rows(
    client: Client, sql: str, parameters: Mapping[str, Any], tag: str = "", *, raw: bool = False
) -> Rows:
    """Run a query. `raw` gives texts as bytes, for columns that may hold something else."""
    with _watch_query(tag):
        result = client.query(
            sql, parameters=dict(parameters), query_formats=_RAW_FORMATS if raw else None
        )
    names: Sequence[str] = result.column_names
    return [dict(zip(names, row, strict=True)) for row in result.result_rows]


def _query_columns(client: Client, sql: str, parameters: Mapping[str, Any], tag: str) -> Columns:
    with _watch_query(tag):
        result = client.query(sql, parameters=dict(parameters), query_formats=_RAW_FORMATS)
    return dict(zip(result.column_names, result.result_columns, strict=True))


@contextmanager
def _watch_query(tag: str) -> Iterator[None]:
    """Translate engine errors and log slow queries.

    A context, so that the driver is called without another function between.
    """
    started = time.perf_counter()
    try:
        yield
    except ClickHouseError as error:
        if getattr(error, "code", None) in OVERLOAD_CODES:
            raise Unavailable("the store is too busy for this query; narrow the range") from error
        if is_disk_error(error):
            raise Unavailable("the telemetry store has no room at the moment", 5) from error
        raise
    seconds = time.perf_counter() - started
    if seconds > SLOW_QUERY_SECONDS:
        log.warning("slow_query", tag=tag, seconds=round(seconds, 3))


_RAW_FORMATS = {"String": "bytes"}

# Time limit, memory limit, too many parts, too many simultaneous queries.
OVERLOAD_CODES = frozenset({159, 241, 252, 202})


def is_disk_error(error: Exception) -> bool:
    """Return whether the engine failed because its disk is full, read-only or broken."""
    if isinstance(error, OSError):
        return is_disk_fault(error)
    return getattr(error, "code", None) in _DISK_CODES or "No space left" in str(error)


# No space, and a file that cannot be written, synced or made.
_DISK_CODES = frozenset({75, 76, 243, 387})


def _is_in_use(folder: Path) -> bool:
    """Whether another process holds the lock that the engine takes on its folder."""
    try:
        with (folder / "status").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def hide_password(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
