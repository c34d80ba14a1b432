"""Brings the catalog's schema up to date at start, once however many replicas start together."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, Connection
from sqlalchemy.pool import NullPool

from spanwise.storage.catalog.tables import metadata

MIGRATIONS = Path(__file__).parent / "migrations"

# Any number does, as long as nothing else in the database locks on it.
_MIGRATION_LOCK = 7_205_759


def migrate(url: URL) -> None:
    """Run the migrations that are missing, holding a lock that other processes wait for."""
    sync_driver = "sqlite" if url.get_backend_name() == "sqlite" else "postgresql+psycopg"
    engine = create_engine(url.set(drivername=sync_driver), poolclass=NullPool)
    with engine.connect() as connection, _migration_lock(connection):
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        config.attributes["metadata"] = metadata
        command.upgrade(config, "head")
        connection.commit()


@contextmanager
def _migration_lock(connection: Connection) -> Iterator[None]:
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
