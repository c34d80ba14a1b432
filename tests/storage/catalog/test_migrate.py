"""Migrations produce the tables in the code, and run once."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, select, text
from sqlalchemy.pool import NullPool

from spanwise.model.errors import StartError
from spanwise.storage.catalog import Catalog, tables
from spanwise.storage.catalog.database import driver_url
from spanwise.storage.catalog.migrate import MIGRATIONS, find_revisions, migrate
from spanwise.storage.catalog.tables import metadata
from support.catalog_processes import count_statements, migrate_until_killed
from support.child_processes import run_process

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        connection.commit()
    with pytest.raises(StartError, match=r"cannot open the catalog.*9999"):
        await Catalog.open(empty_catalog_url)


# `make test-all` tries all statements.
@pytest.mark.parametrize("kills", [8, pytest.param(None, marks=pytest.mark.long)])
def test_a_migration_that_is_killed_after_any_statement_is_completed_by_the_next(
    new_catalog_url: Callable[[], str], tmp_path: Path, kills: int | None
) -> None:
    assert run_process(count_statements, new_catalog_url(), tmp_path / "count")
    last = int((tmp_path / "count").read_text())
    assert last > 20
    address = new_catalog_url()
    spread = [1 + (last - 1) * n // (kills - 1) for n in range(kills)] if kills else None
    for statements in spread or range(1, last + 1):
        assert not run_process(migrate_until_killed, address, statements), statements
        with connect(address) as connection:
            found = set(inspect(connection).get_table_names())
        # The lock is released after the commit.
        assert found in (set(), {"alembic_version", *metadata.tables}), statements
        if found:
            # The next kill needs a catalog that has something to migrate.
            assert_next_completes(address)
            address = new_catalog_url()
    assert_next_completes(address)


def assert_next_completes(address: str) -> None:
    migrate(driver_url(address))
    with connect(address) as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


def test_an_account_becomes_the_owner_of_the_workspace_that_it_had(empty_catalog_url: str) -> None:
    with connect(empty_catalog_url) as connection:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        config.attributes["metadata"] = metadata
        command.upgrade(config, "0005")
        for number in (1, 2):
            connection.execute(
                text(
                    "INSERT INTO users (id, workspace_id, email, name, role, password_hash, "
                    "email_verified, disabled, token_version, created_at) VALUES (:id, :workspace, "
                    ":email, :name, 'member', '$hash', TRUE, FALSE, 1, '2026-01-31 12:00:00')"
                ),
                {
                    "id": f"usr_{number}",
                    "workspace": f"wsp_{number}",
                    "email": f"{number}@example.com",
                    "name": "O'Brien" if number == 1 else "n" * 200,
                },
            )
        connection.execute(
            text(
                "INSERT INTO audit (id, at, action, actor, data) "
                "VALUES ('aud_1', '2026-01-31 12:00:00', 'key.created', 'usr_1', '{}')"
            )
        )
        connection.commit()
    migrate(driver_url(empty_catalog_url))
    with connect(empty_catalog_url) as connection:
        members = connection.execute(
            text(
                "SELECT m.user_id, m.role, w.id, w.name, u.default_workspace_id FROM memberships m "
                "JOIN workspaces w ON w.id = m.workspace_id JOIN users u ON u.id = m.user_id "
                "ORDER BY m.user_id"
            )
        ).all()
        entries = connection.execute(text("SELECT workspace_id FROM audit")).all()
    assert [tuple(row) for row in members] == [
        ("usr_1", "owner", "wsp_1", "O'Brien's workspace", "wsp_1"),
        ("usr_2", "owner", "wsp_2", "n" * 100 + "'s workspace", "wsp_2"),
    ]
    assert [row.workspace_id for row in entries] == ["wsp_1"]


def test_prices_without_a_date_keep_their_rates(empty_catalog_url: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with connect(empty_catalog_url) as connection:
        config.attributes["connection"] = connection
        config.attributes["metadata"] = metadata
        command.upgrade(config, "0006")
        connection.execute(
            text(
                """INSERT INTO model_prices (workspace_id, model, input_per_million,
                output_per_million, reasoning_per_million, updated_at)
                VALUES ('wsp_1', 'm', 2, 10, 20, '2026-11-01 00:00:00')"""
            )
        )
        command.upgrade(config, "head")
        connection.commit()
        found = connection.execute(select(tables.model_prices)).one()
    assert (found.kind, found.model, found.effective_from) == ("model", "m", EPOCH)
    assert (found.input_per_million, found.reasoning_per_million, found.per_call) == (2, 20, None)
