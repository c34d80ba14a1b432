"""Functions that tests of catalog migrations run in child processes."""

import os
import signal

from sqlalchemy import event
from sqlalchemy.engine import Engine

from spanwise.storage.catalog.database import driver_url
from spanwise.storage.catalog.migrate import migrate


def migrate_until_killed(address: str, statements: int) -> None:
    """Migrate, and kill this process after a number of statements."""
    left = statements

    def count(*_: object) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "after_cursor_execute", count)
    migrate(driver_url(address))
