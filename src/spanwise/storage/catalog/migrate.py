"""Migrates the catalog's schema at start; replicas that start together take turns."""

import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import create_engine, event, inspect, text
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.pool import NullPool

from spanwise.storage.catalog.tables import metadata
from spanwise.storage.schema_state import DEVELOPMENT_STORE, SchemaState

MIGRATIONS = Path(__file__).parent / "migrations"

# An arbitrary number that nothing else in the database locks on.
_MIGRATION_LOCK = 7_205_759


class UnknownRevisionError(Exception):
    """A newer version of Spanwise, or one from before the baseline, has migrated the catalog."""


def inspect_schema(url: URL) -> SchemaState:
    """Return the state of the schema, without changing it."""
    if url.get_backend_name() == "sqlite":
        if not Path(url.database or "").exists():
            return SchemaState.ABSENT
        url = url.set(
            database=f"file:{quote(url.database or '')}", query={"mode": "ro", "uri": "true"}
        )
    current = _read_revision(_sync_engine(url))
    if current is None:
        return SchemaState.ABSENT
    return SchemaState.CURRENT if current == find_revisions()[-1] else SchemaState.OUTDATED


def migrate(url: URL) -> None:
    """Run the missing migrations in one transaction, under the migration lock."""
    engine = _sync_engine(url)
    if _read_revision(engine) == find_revisions()[-1]:
        return
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _disable_implicit_transactions)
        event.listen(engine, "begin", _begin_immediately)
    # Alembic takes a tenth of the time of a start, and most starts have nothing to migrate.
    command = import_module("alembic.command")
    config = import_module("alembic.config").Config()
    with engine.connect() as connection, _locked(connection):
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        config.attributes["metadata"] = metadata
        command.upgrade(config, "head")
        connection.commit()


def find_revisions() -> list[str]:
    """Return the revisions that this version has, oldest first."""
    return sorted(file.stem for file in MIGRATIONS.glob("versions/0*.py"))


def _read_revision(engine: Engine) -> str | None:
    """Return the revision of the schema, None without one."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        sql = text("SELECT version_num FROM alembic_version")
        revision: str | None = connection.execute(sql).scalar_one_or_none()
    if re.fullmatch(r"\d{4}", revision or ""):
        raise UnknownRevisionError(DEVELOPMENT_STORE)
    if revision is not None and revision not in find_revisions():
        raise UnknownRevisionError(
            f"its schema has the revision {revision}, which this version does not know"
        )
    return revision


@contextmanager
def migration_lock(url: URL) -> Iterator[None]:
    """Hold the migration lock for other work; a killed process releases it."""
    with _sync_engine(url).connect() as connection, _locked(connection):
        yield


def _sync_engine(url: URL) -> Engine:
    sync_driver = "sqlite" if url.get_backend_name() == "sqlite" else "postgresql+psycopg"
    return create_engine(url.set(drivername=sync_driver), poolclass=NullPool)


def _disable_implicit_transactions(connection: Any, _record: object) -> None:  # noqa: ANN401 -- a driver object
    # The driver begins no transaction for DDL: each statement would commit separately.
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
