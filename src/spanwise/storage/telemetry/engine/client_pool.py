"""The telemetry engine: a pool of ClickHouse clients, embedded (chDB) or on a server."""

import asyncio
import fcntl
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from spanwise.model.errors import StartError
from spanwise.storage.disk import check_folder
from spanwise.storage.telemetry.engine.conditions import IS_HEAVY, SEARCH_WORDS
from spanwise.storage.telemetry.engine.query import Columns, Rows, query_columns, query_rows
from spanwise.storage.telemetry.engine.read_slots import SERVICE, ReadSlots

READERS = 4
# One reader always stays free for other workspaces.
_READERS_PER_WORKSPACE = READERS - 1
# Downloads and text searches have separate readers; a workspace may use one at a time.
HEAVY_READERS = 2
_HEAVY_READERS_PER_WORKSPACE = 1
QUERY_SECONDS = 30
# Of clients for background work, which may take long and must leave a core to requests.
BACKGROUND_SETTINGS = {"max_execution_time": 600, "max_threads": 1}
WRITER_NICENESS, MERGE_NICENESS = 10, 19
_HTTP_PORT, _HTTPS_PORT = 8123, 8443
_MIB = 2**20
# Share of the memory limit; the rest is for the ingest queue and Python itself.
_ENGINE_SHARE = 0.7
THREADS_HAVE_PRIORITIES = sys.platform == "linux"

T = TypeVar("T")


@dataclass(frozen=True)
class EngineAddress:
    """A local folder for the embedded engine, or a server, optionally in a cluster."""

    folder: Path | None = None
    server_url: str | None = None
    cluster: str | None = None

    @property
    def credentials(self) -> "ServerCredentials":
        """User, password and database from the server URL."""
        parts = urlsplit(self.server_url or "")
        return ServerCredentials(
            user=unquote(parts.username or "default"),
            password=unquote(parts.password or ""),
            database=parts.path.strip("/") or "default",
        )


@dataclass(frozen=True)
class ServerCredentials:
    user: str
    password: str
    database: str


class EngineInUseError(StartError):
    """Another process holds the embedded engine's folder."""


class Engine:
    """Runs SQL. Reads share a few clients fairly; ingest opens dedicated ones."""

    def __init__(self, address: EngineAddress, memory_limit_mb: int) -> None:
        self.address = address
        self._memory_limit_mb = memory_limit_mb
        self._all_clients: list[Client] = []

    @classmethod
    def open(
        cls, address: EngineAddress, memory_limit_mb: int, *, creates: bool = True
    ) -> "Engine":
        """Connect; `creates` also creates a missing database on a server."""
        engine = cls(address, memory_limit_mb)
        try:
            if address.folder is None and creates:
                engine._create_database()
            engine._open_read_slots()
        except (ClickHouseError, OSError, RuntimeError) as error:
            shown = address.folder or hide_password(address.server_url or "")
            if address.folder is not None and _is_in_use(address.folder):
                raise EngineInUseError(
                    f"the telemetry store at {shown} is in use by another process, perhaps a "
                    "running `spanwise serve`: it belongs to one process at a time; stop that one "
                    "first, or use a ClickHouse server"
                ) from None
            raise StartError(f"cannot open the telemetry store at {shown}: {error}") from None
        return engine

    def _open_read_slots(self) -> None:
        self._readers = ReadSlots(
            "read", READERS, partial(self.new_client, _READ_SETTINGS), _READERS_PER_WORKSPACE
        )
        self._heavy = ReadSlots(
            "heavy",
            HEAVY_READERS,
            partial(self.new_client, _HEAVY_SETTINGS),
            _HEAVY_READERS_PER_WORKSPACE,
            lower_thread_priority,
        )
        # Fails here rather than at the first query when the store cannot be opened.
        with self.client():
            pass

    def _create_database(self) -> None:
        """Create the database on a server that does not have it yet."""
        name = self.address.credentials.database
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

    @property
    def max_query_bytes(self) -> int:
        """Memory for one query whose groups the caller chooses, so that others have some left."""
        return int(self._memory_limit_mb * _MIB * _ENGINE_SHARE / 3)

    def new_client(self, settings: Mapping[str, Any] | None = None) -> Client:
        """Open another client; a client runs one query at a time."""
        client = (
            self._embedded_client(self.address.folder, settings)
            if self.address.folder is not None
            else self._server_client(settings)
        )
        self._all_clients.append(client)
        return client

    def close_client(self, client: Client) -> None:
        """Close a client that is no longer needed."""
        self._all_clients.remove(client)
        client.close()

    def _embedded_client(self, folder: Path, settings: Mapping[str, Any] | None) -> Client:
        folder.mkdir(parents=True, exist_ok=True)
        # The engine reads this when the first client loads it. By default its allocator keeps freed
        # memory for five seconds, about 200 MB more at the peak of ingest.
        os.environ.setdefault("JE_MALLOC_CONF", "dirty_decay_ms:500")
        engine_bytes = int(self._memory_limit_mb * _MIB * _ENGINE_SHARE)
        options = {
            "max_server_memory_usage": engine_bytes,
            "mark_cache_size": min(256 * _MIB, engine_bytes // 16),
            "index_mark_cache_size": min(64 * _MIB, engine_bytes // 32),
            "primary_index_cache_size": min(128 * _MIB, engine_bytes // 16),
            "uncompressed_cache_size": 0,
            # Merges per merge thread (there are two). A merge takes about 100 MB; with one per
            # thread, small merges would wait for large ones.
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
        credentials = self.address.credentials
        secure = parts.scheme == "clickhouses"
        return clickhouse_connect.get_client(
            host=parts.hostname or "localhost",
            port=parts.port or (_HTTPS_PORT if secure else _HTTP_PORT),
            username=credentials.user,
            password=credentials.password,
            database=credentials.database if database is None else database,
            secure=secure,
            settings={**_SETTINGS, **(settings or {})},
            autogenerate_session_id=False,
        )

    async def fetch(
        self, sql: str, parameters: Mapping[str, Any], *, tag: str = "", raw: bool = False
    ) -> Rows:
        """Run a query with bound parameters and return its rows as dicts.

        `workspace` among the parameters selects whose share of the readers it takes; text searches
        use the heavy readers.
        """
        work = partial(query_rows, sql=sql, parameters=parameters, tag=tag, raw=raw)
        return await asyncio.wrap_future(self._submit(parameters, work))

    async def fetch_columns(self, sql: str, parameters: Mapping[str, Any], *, tag: str) -> Columns:
        """Run a query that may return tens of thousands of rows; strings are bytes."""
        work = partial(query_columns, sql=sql, parameters=parameters, tag=tag)
        return await asyncio.wrap_future(self._submit(parameters, work))

    async def run(self, work: Callable[[Client], T]) -> T:
        """Run internal work with a client, off the event loop and without a workspace limit."""
        return await asyncio.wrap_future(self._readers.submit(SERVICE, work))

    async def run_heavy(self, workspace: str, work: Callable[[Client], T]) -> T:
        """Run part of a download at a lower priority than other reads."""
        return await asyncio.wrap_future(self._heavy.submit(workspace, work))

    def _submit(self, parameters: Mapping[str, Any], work: Callable[[Client], T]) -> Future[T]:
        is_heavy = SEARCH_WORDS in parameters or IS_HEAVY in parameters
        slots = self._heavy if is_heavy else self._readers
        return slots.submit(parameters.get("workspace", SERVICE), work)

    @contextmanager
    def client(self) -> Iterator[Client]:
        client = self._readers.take_client()
        try:
            yield client
        finally:
            self._readers.return_client(client)

    def lower_merge_priority(self) -> None:
        """Lower the priority of the embedded engine's merge threads below inserts and queries.

        Merging costs as much as inserting; delayed merges are cheaper because they join more parts.
        """
        if self.address.folder is None or not THREADS_HAVE_PRIORITIES:
            return
        with self.client() as client:
            client.query(_START_QUERY_THREADS)
        for task in Path("/proc/self/task").iterdir():
            if (task / "comm").read_text().startswith("MergeMutate"):
                os.setpriority(os.PRIO_PROCESS, int(task.name), MERGE_NICENESS)

    async def ping(self) -> None:
        await self.fetch("SELECT 1 AS one", {})

    async def check(self) -> None:
        """Run a query, and write to the folder of an embedded engine; raises when either fails."""
        if self.address.folder is not None:
            await asyncio.to_thread(check_folder, self.address.folder)
        await self.ping()

    async def version(self) -> str:
        rows = await self.fetch("SELECT version() AS version", {})
        product = "chDB, ClickHouse" if self.address.folder is not None else "ClickHouse"
        return f"{product} {rows[0]['version']}"

    def close(self) -> None:
        self._readers.close()
        self._heavy.close()
        for client in self._all_clients:
            client.close()


# Limits for every query. Deletes and updates are visible at once; parts are rewritten later.
_SETTINGS: dict[str, Any] = {
    "max_execution_time": QUERY_SECONDS,
    "max_threads": 2,
    "do_not_merge_across_partitions_select_final": 1,
    "session_timezone": "UTC",
    "lightweight_deletes_sync": 0,
    "mutations_sync": 0,
    "apply_mutations_on_fly": 1,
    # Queries read a few columns per part: handing each to a thread costs more than reading it.
    "merge_tree_use_prefixes_deserialization_thread_pool": 0,
    # Compiling a repeated expression takes longer than running the query.
    "compile_expressions": 0,
    "compile_aggregate_expressions": 0,
    "compile_sort_description": 0,
    # Client clocks may be off by months, so one request may span many partitions.
    "max_partitions_per_insert_block": 0,
}

# The engine pauses lower-priority queries between blocks while others run.
_READ_SETTINGS: dict[str, Any] = {"priority": 1}
_HEAVY_SETTINGS: dict[str, Any] = {
    "priority": 2,
    "low_priority_query_wait_time_ms": 50,
    "max_threads": 1,
    # The engine ignores this without the privilege to restore the priority.
    "os_threads_nice_value_query": 19,
}

# Merges take up to 64 threads from the pool that queries use. A thread started by a low-priority
# merge would keep that priority and slow down later queries, so all are started in advance.
_START_QUERY_THREADS = """
SELECT sum(sleepEachRow(0.005)) FROM numbers_mt(256)
SETTINGS max_threads = 128, max_block_size = 1, max_threads_min_free_memory_per_thread = 0
"""


def lower_thread_priority() -> None:
    """Lower the priority of this thread below that of threads that serve reads."""
    if THREADS_HAVE_PRIORITIES:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), WRITER_NICENESS)


def _is_in_use(folder: Path) -> bool:
    """Return whether another process holds the engine's lock on its folder."""
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
