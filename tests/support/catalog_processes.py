"""Functions that tests of catalog migrations run in child processes."""

import os
import signal
from pathlib import Path

from sqlalchemy import event
from sqlalchemy.engine import Engine

from spanwise.storage.catalog import migrate
from spanwise.storage.catalog.database import driver_url


def migrate_in(folder: Path, address: str) -> None:
    """Migrate with the migrations of a folder; this process ends with the test."""
    migrate.MIGRATIONS = folder
    migrate.migrate(driver_url(address))


def count_statements(folder: Path, address: str, path: Path) -> None:
    """Migrate, and write the number of statements to a file."""
    statements = 0

    def count(*_: object) -> None:
        nonlocal statements
        statements += 1

    event.listen(Engine, "after_cursor_execute", count)
    migrate_in(folder, address)
    path.write_text(str(statements))


def migrate_until_killed(folder: Path, address: str, statements: int) -> None:
    """Migrate, and kill this process after a number of statements."""
    left = statements

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "after_cursor_execute", count)
    migrate_in(folder, address)
