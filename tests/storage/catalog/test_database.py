"""Catalog transactions on both databases, and stores that cannot be opened."""

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from spanwise.model.errors import StartError, Unavailable
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.accounts import users as stored
from spanwise.storage.catalog.database import serialize_writers
from support.accounts import make_account
from support.servers import free_port


async def test_a_committed_write_is_visible_to_readers(catalog: Catalog) -> None:
    async with catalog.write() as tx:
        await stored.add_account(tx, make_account())
    async with catalog.read() as tx:
        assert await stored.count_users(tx) == 1


@pytest.mark.both_engines
async def test_a_write_that_fails_leaves_nothing_behind(catalog: Catalog) -> None:
    async def fail() -> None:
        async with catalog.write() as tx:
            await stored.add_account(tx, make_account("first@example.com"))
            await stored.add_account(tx, make_account("second@example.com"))
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        await fail()
    async with catalog.read() as tx:
        assert await stored.count_users(tx) == 0


@pytest.mark.both_engines
async def test_a_write_that_is_cancelled_leaves_nothing_behind(catalog: Catalog) -> None:
    inside = asyncio.Event()

    async def write() -> None:
        async with catalog.write() as tx:
            await stored.add_account(tx, make_account())
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(write())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with catalog.write() as tx:
        assert await stored.count_users(tx) == 0


async def fill_up(catalog: Catalog) -> None:
    """Fail like on a full disk."""
    async with catalog.write() as tx:
        if tx.dialect.name == "postgresql":
            await tx.execute(text("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100'; END $$"))
        # No more pages than the file has, so that the next one fails.
        await tx.execute(text("PRAGMA max_page_count = 1"))
        for number in range(1000):
            await stored.add_account(tx, make_account(f"person{number}@example.com"))


@pytest.mark.both_engines
async def test_a_full_disk_is_unavailable_and_leaves_nothing_behind(catalog: Catalog) -> None:
    with pytest.raises(Unavailable) as caught:
        await fill_up(catalog)
    assert isinstance(caught.value.__cause__, DBAPIError)
    async with catalog.read() as tx:
        assert await stored.count_users(tx) == 0


@pytest.mark.both_engines
async def test_an_invalid_statement_is_not_reported_as_unavailable(catalog: Catalog) -> None:
    async with catalog.read() as tx:
        with pytest.raises(DBAPIError):
            await tx.execute(text("SELECT nothing FROM nowhere"))


@pytest.mark.both_engines
async def test_concurrent_writers_all_succeed(catalog: Catalog) -> None:
    async def add(number: int) -> None:
        async with catalog.write() as tx:
            await stored.count_users(tx)
            await stored.add_account(tx, make_account(f"person{number}@example.com"))

    await asyncio.gather(*(add(number) for number in range(20)))
    async with catalog.read() as tx:
        assert await stored.count_users(tx) == 20


@pytest.mark.both_engines
async def test_writers_of_one_topic_pass_one_at_a_time(catalog: Catalog) -> None:
    inside, most = 0, 0

    async def enter() -> None:
        nonlocal inside, most
        async with catalog.write() as tx:
            await serialize_writers(tx, 42)
            inside += 1
            most = max(most, inside)
            await tx.execute(text("SELECT 1"))
            inside -= 1

    await asyncio.gather(*(enter() for _ in range(8)))
    assert most == 1


@pytest.mark.both_engines
async def test_the_catalog_reports_its_version(catalog: Catalog, catalog_url: str) -> None:
    name = "SQLite" if catalog_url.startswith("sqlite") else "PostgreSQL"
    assert (await catalog.version()).startswith(f"{name} ")


async def test_sqlite_is_durable_and_checks_references(tmp_path: Path) -> None:
    catalog = await Catalog.open(f"sqlite:///{tmp_path / 'catalog.db'}")
    async with catalog.read() as tx:
        found = [
            (await tx.execute(text(f"PRAGMA {name}"))).scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    await catalog.close()
    assert found == ["wal", 2, 1]


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
        ("sqlite:////dev/null/catalog.db", "cannot open the catalog"),
        ("postgresql://ann:pw@[::1/db", "not a valid URL"),
    ],
)
async def test_an_address_that_cannot_be_used_is_one_sentence(address: str, says: str) -> None:
    with pytest.raises(StartError, match=says):
        await Catalog.open(address)


async def test_a_file_that_is_not_a_database_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    path.write_text("this is a letter, not a database" * 100)
    with pytest.raises(StartError, match="not a database"):
        await Catalog.open(f"sqlite:///{path}")


async def test_an_unreachable_server_is_one_sentence_without_the_password() -> None:
    address = f"postgresql://ann:hunter2@127.0.0.1:{free_port()}/db?password=hunter2"
    with pytest.raises(StartError, match="cannot open the catalog") as refused:
        await Catalog.open(address)
    assert "hunter2" not in refused.value.message
    assert "\n" not in refused.value.message
