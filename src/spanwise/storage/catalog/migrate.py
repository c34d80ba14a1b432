"""Brings the catalog's schema up to date at start, once however many replicas start together."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.pool import NullPool

from spanwise.storage.catalog.tables import metadata
from spanwise.storage.schema_state import SchemaState

MIGRATIONS = Path(__file__).parent / "migrations"

# Any number does, as long as nothing else in the database locks on it.
_MIGRATION_LOCK = 7_205_759


def inspect_schema(url: URL) -> SchemaState:
    """Tell how old the schema is, changing nothing."""
    if url.get_backend_name() == "sqlite":
        if not Path(url.database or "").exists():
            return SchemaState.ABSENT
        url = url.set(
            database=f"file:{quote(url.database or '')}", query={"mode": "ro", "uri": "true"}
        )
    with _sync_engine(url).connect() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    if current is None:
        return SchemaState.ABSENT
    scripts = ScriptDirectory(str(MIGRATIONS))
    # One that only a newer version knows is a CommandError, as it is when migrating.
    scripts.get_revision(current)
    is_newest = current == scripts.get_current_head()
    return SchemaState.CURRENT if is_newest else SchemaState.OUTDATED


def migrate(url: URL) -> None:
    """Run the migrations that are missing, holding a lock that other processes wait for.

    All of them, or none when the process is killed: they are one transaction.
    """
    engine = _sync_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _leave_transactions_to_us)
        event.listen(engine, "begin", _begin_immediately)
    with engine.connect() as connection, _locked(connection):
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        config.attributes["metadata"] = metadata
        command.upgrade(config, "head")
        connection.commit()


@contextmanager
def migration_lock(url: URL) -> Iterator[None]:
    """Hold the same lock around something else; a process that is killed gives it back."""
    with _sync_engine(url).connect() as connection, _locked(connection):
        yield


def _sync_engine(url: URL) -> Engine:
    sync_driver = "sqlite" if url.get_backend_name() == "sqlite" else "postgresql+psycopg"
    return create_engine(url.set(drivername=sync_driver), poolclass=NullPool)


def _leave_transactions_to_us(connection: Any, _record: object) -> None:  # noqa: ANN401 -- a driver object
    # The driver begins no transaction for statements that change tables: each would stand alone.
    connection.isolation_level = None


def _begin_immediately(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def _locked(connection: Connection) -> Iterator[None]:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _MIGRATION_LOCK})
        connection.commit()
        try:
            yield
        finally:
            connection.rollback()
            connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _MIGRATION_LOCK})
            connection.commit()
        return
    database = connection.engine.url.database
    if not database or database == ":memory:":
        yield
        return
    with Path(f"{database}.migrating").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
