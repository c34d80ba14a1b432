"""Opens connections and transactions of the catalog, on SQLite or PostgreSQL."""

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio.to_thread
import structlog
from sqlalchemy import event, text
from sqlalchemy.engine import URL, Connection, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from spanwise.model.errors import StartError, Unavailable
from spanwise.storage.catalog.migrate import (
    UnknownRevisionError,
    inspect_schema,
    migrate,
    migration_lock,
)
from spanwise.storage.schema_state import SchemaState

log = structlog.get_logger()

Transaction = AsyncConnection

_BUSY_TIMEOUT_SECONDS = 10
_CONNECT_TIMEOUT_SECONDS = 10

_TRANSIENT_SQLITE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
    }
)
# On a full disk SQLite rolls back by itself; only the failure to release the savepoint is raised.
_ROLLED_BACK = ("no such savepoint", "cannot rollback", "cannot commit")
# Connection, read-only, deadlock, resources (53100: disk full), shutdown and I/O errors.
_TRANSIENT_POSTGRESQL = ("08", "25006", "40001", "40P01", "53", "57P", "58")


class Catalog:
    """Opens transactions; a write commits as a whole when its block ends, or not at all."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    @contextmanager
    def migration_lock(self) -> Iterator[None]:
        """Hold the lock under which processes that share this catalog migrate a store."""
        url = self._engine.url
        with ExitStack() as stack:
            with _raising_start_error(url):
                stack.enter_context(migration_lock(url))
            yield

    @classmethod
    async def open(cls, address: str) -> "Catalog":
        """Migrate the schema and connect; raises StartError when the database does not respond."""
        url = driver_url(address)
        with _raising_start_error(url):
            if url.get_backend_name() == "sqlite" and url.database:
                Path(url.database).parent.mkdir(parents=True, exist_ok=True)
            await anyio.to_thread.run_sync(migrate, url)
            catalog = cls(_create_engine(url))
            await catalog.ping()
        return catalog

    @classmethod
    async def exists(cls, address: str) -> bool:
        """Return whether there is a catalog: not with a missing file or an empty database."""
        url = driver_url(address)
        with _raising_start_error(url):
            return await anyio.to_thread.run_sync(inspect_schema, url) is not SchemaState.ABSENT

    @classmethod
    async def describe(cls, address: str) -> str:
        """Return the database, its version and schema state, without changing anything."""
        url = driver_url(address)
        with _raising_start_error(url):
            state = await anyio.to_thread.run_sync(inspect_schema, url)
            catalog = cls(_create_engine(url))
            try:
                return f"{await catalog.version()}, {state}"
            finally:
                await catalog.close()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Transaction]:
        with _translating_errors():
            async with self._engine.connect() as connection:
                yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Transaction]:
        with _translating_errors():
            async with self._engine.connect() as connection:
                await connection.execution_options(spanwise_write=True)
                async with connection.begin():
                    yield connection

    async def ping(self) -> None:
        async with self.read() as tx:
            await tx.execute(text("SELECT 1"))

    async def version(self) -> str:
        """Return the database and its version."""
        if self._engine.dialect.name == "sqlite":
            return f"SQLite {sqlite3.sqlite_version}"
        async with self.read() as tx:
            row = await tx.execute(text("SHOW server_version"))
            return f"PostgreSQL {row.scalar_one()}"

    async def close(self) -> None:
        await self._engine.dispose()


async def serialize_writers(tx: Transaction, topic: int) -> None:
    """Let one transaction at a time pass; SQLite has a single writer anyway."""
    if tx.dialect.name == "postgresql":
        await tx.execute(text("SELECT pg_advisory_xact_lock(:topic)"), {"topic": topic})


def driver_url(address: str) -> URL:
    """Return the URL with our driver; operators write just `sqlite` or `postgresql`."""
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise StartError("the catalog's address is not a valid URL") from None
    if url.get_backend_name() == "sqlite":
        if url.database in {None, "", ":memory:"}:
            raise StartError("the catalog needs a file: sqlite:///path/to/catalog.db")
        return url.set(drivername="sqlite+aiosqlite")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(_CONNECT_TIMEOUT_SECONDS)})
    return url.set(drivername="postgresql+psycopg")


@contextmanager
def _translating_errors() -> Iterator[None]:
    """Raise Unavailable for transient faults: a full disk, a busy or unreachable server."""
    try:
        yield
    except PoolTimeout as error:
        raise Unavailable("the catalog is too busy") from error
    except DBAPIError as error:
        if not _is_transient(error):
            raise
        log.warning("catalog_unavailable", error=str(error.orig)[:500])
        raise Unavailable("the catalog is unavailable at the moment", 5) from error


def _is_transient(error: DBAPIError) -> bool:
    if isinstance(error.orig, sqlite3.Error):
        # The low byte is the primary error code.
        code: int = getattr(error.orig, "sqlite_errorcode", 0)
        return code & 0xFF in _TRANSIENT_SQLITE or str(error.orig).startswith(_ROLLED_BACK)
    state: str | None = getattr(error.orig, "sqlstate", None)
    if state is None:
        return isinstance(error, OperationalError | InterfaceError)
    return state.startswith(_TRANSIENT_POSTGRESQL)


@contextmanager
def _raising_start_error(url: URL) -> Iterator[None]:
    """Raise StartError with one sentence when the catalog cannot be opened."""
    try:
        yield
    except (DBAPIError, OSError, UnknownRevisionError, Unavailable) as error:
        cause = error.__cause__ if isinstance(error, Unavailable) else error
        reason = str(getattr(cause, "orig", None) or cause).strip().splitlines()[0]
        raise StartError(f"cannot open the catalog at {format_url(url)}: {reason}") from None


def format_url(url: URL) -> str:
    """Return a URL without its password, for messages."""
    # The query string may contain a password too.
    return url.set(query={}).render_as_string(hide_password=True)


def _create_engine(url: URL) -> AsyncEngine:
    if url.get_backend_name() != "sqlite":
        return create_async_engine(url, pool_size=10, max_overflow=10, pool_pre_ping=True)
    engine = create_async_engine(url, connect_args={"timeout": _BUSY_TIMEOUT_SECONDS})
    event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    event.listen(engine.sync_engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:  # noqa: ANN401 -- a driver object
    # Disable the driver's implicit BEGIN, so that _begin_sqlite can choose the kind.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A deferred transaction that becomes a write can fail as "busy" without waiting.
    writes = connection.get_execution_options().get("spanwise_write")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
