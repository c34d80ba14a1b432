"""Migrations produce the tables in the code, and run once.

Until 0.1 is released there is the baseline only, so some tests bring a second migration.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.pool import NullPool

from spanwise.model.api_model import utc_now
from spanwise.model.errors import StartError
from spanwise.storage.catalog import Catalog, tables
from spanwise.storage.catalog.database import driver_url
from spanwise.storage.catalog.migrate import (
    MIGRATIONS,
    find_revisions,
    inspect_schema,
    migrate,
)
from spanwise.storage.catalog.tables import metadata
from spanwise.storage.schema_state import SchemaState
from support.catalog_processes import count_statements, migrate_in, migrate_until_killed
from support.child_processes import run_process

SECOND = '''"""Regions."""

import sqlalchemy as sa
from alembic import op

revision = "0002_regions"
down_revision = "0001_baseline"


def upgrade() -> None:
    op.create_table("regions", sa.Column("id", sa.String(40), primary_key=True))
    op.add_column("workspaces", sa.Column("region", sa.String(40), server_default="eu"))
    op.create_index("workspaces_by_region", "workspaces", ["region"])
'''


@pytest.fixture(scope="module")
def two_migrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the baseline and a second migration."""
    folder = tmp_path_factory.mktemp("catalog") / "migrations"
    shutil.copytree(MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "0002_regions.py").write_text(SECOND)
    return folder


def connect(address: str) -> Connection:
    url = driver_url(address)
    driver = "sqlite" if url.get_backend_name() == "sqlite" else "postgresql+psycopg"
    return create_engine(url.set(drivername=driver), poolclass=NullPool).connect()


def test_the_migrated_schema_is_the_one_in_the_code(empty_catalog_url: str) -> None:
    migrate(driver_url(empty_catalog_url))
    with connect(empty_catalog_url) as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []


def test_migrating_again_changes_nothing(empty_catalog_url: str) -> None:
    migrate(driver_url(empty_catalog_url))
    with connect(empty_catalog_url) as connection:
        before = connection.execute(text("SELECT version_num FROM alembic_version")).all()
    migrate(driver_url(empty_catalog_url))
    with connect(empty_catalog_url) as connection:
        after = connection.execute(text("SELECT version_num FROM alembic_version")).all()
    assert before == after
    assert len(before) == 1


def test_the_revisions_are_those_of_the_migrations() -> None:
    scripts = ScriptDirectory(str(MIGRATIONS)).walk_revisions()
    assert find_revisions() == [script.revision for script in scripts][::-1]


def test_a_current_schema_is_opened_without_loading_alembic(empty_catalog_url: str) -> None:
    migrate(driver_url(empty_catalog_url))
    program = (
        "import sys; from spanwise.storage.catalog.database import driver_url; "
        "from spanwise.storage.catalog.migrate import migrate; migrate(driver_url(sys.argv[1])); "
        "sys.exit('alembic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, empty_catalog_url], check=True)


def test_processes_that_start_together_migrate_once(empty_catalog_url: str) -> None:
    program = (
        "import sys; from spanwise.storage.catalog.database import driver_url; "
        "from spanwise.storage.catalog.migrate import migrate; "
        "print('ready', flush=True); sys.stdin.readline(); migrate(driver_url(sys.argv[1]))"
    )
    command = [sys.executable, "-c", program, empty_catalog_url]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=180)
    assert [process.returncode for process in processes] == [0, 0, 0]
    with connect(empty_catalog_url) as connection:
        assert connection.execute(text("SELECT count(*) FROM alembic_version")).scalar_one() == 1


async def test_a_schema_newer_than_the_code_is_one_sentence(empty_catalog_url: str) -> None:
    migrate(driver_url(empty_catalog_url))
    with connect(empty_catalog_url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0999_later'"))
        connection.commit()
    with pytest.raises(StartError, match=r"cannot open the catalog.*0999_later"):
        await Catalog.open(empty_catalog_url)


async def test_a_schema_from_before_the_baseline_is_refused_with_what_to_do(
    empty_catalog_url: str,
) -> None:
    with connect(empty_catalog_url) as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('0011')"))
        connection.commit()
    with pytest.raises(StartError, match=r"spanwise export.*spanwise import"):
        await Catalog.open(empty_catalog_url)


def test_a_catalog_of_the_version_before_is_upgraded_with_its_data(
    empty_catalog_url: str, two_migrations: Path
) -> None:
    url = driver_url(empty_catalog_url)
    migrate(url)
    assert inspect_schema(url) is SchemaState.CURRENT
    with connect(empty_catalog_url) as connection:
        connection.execute(
            tables.workspaces.insert().values(
                id="wsp_1", name="Blue", created_at=utc_now(), require_key_expiry=False
            )
        )
        connection.commit()
    assert run_process(migrate_in, two_migrations, empty_catalog_url)
    with connect(empty_catalog_url) as connection:
        rows = connection.execute(text("SELECT id, name, region FROM workspaces")).all()
        found = inspect(connection).get_table_names()
    assert [tuple(row) for row in rows] == [("wsp_1", "Blue", "eu")]
    assert "regions" in found


# `make test-all` tries all statements.
@pytest.mark.parametrize("kills", [3, pytest.param(None, marks=pytest.mark.long)])
def test_a_migration_that_is_killed_after_any_statement_is_completed_by_the_next(
    new_catalog_url: Callable[[], str], two_migrations: Path, tmp_path: Path, kills: int | None
) -> None:
    assert run_process(count_statements, two_migrations, new_catalog_url(), tmp_path / "count")
    last = int((tmp_path / "count").read_text())
    assert last > 20
    address = new_catalog_url()
    # The last statement is followed by the commit only.
    spread = [1 + (last - 1) * n // (kills - 1) for n in range(kills)] if kills else None
    for statements in spread or range(1, last + 1):
        assert not run_process(migrate_until_killed, two_migrations, address, statements)
        with connect(address) as connection:
            found = set(inspect(connection).get_table_names())
        # The lock is released after the commit.
        assert found in (set(), {"alembic_version", "regions", *metadata.tables}), statements
        if found:
            # The next kill needs a catalog that has something to migrate.
            assert_next_completes(two_migrations, address)
            address = new_catalog_url()
    assert_next_completes(two_migrations, address)


def assert_next_completes(folder: Path, address: str) -> None:
    assert run_process(migrate_in, folder, address)
    with connect(address) as connection:
        assert {"regions", *metadata.tables} <= set(inspect(connection).get_table_names())
        revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
    assert revision == "0002_regions"
