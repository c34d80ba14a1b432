"""The audit trail, on both engines."""

from datetime import UTC, datetime, timedelta

import pytest

from spanwise.model.accounts import AuditEntry, AuditFilter
from spanwise.model.page import PageRequest
from spanwise.model.times import TimeRange
from spanwise.services import audit
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.accounts.audit import add_entry, list_entries

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def entry(number: int) -> AuditEntry:
    return AuditEntry(
        id=f"aud_{number}",
        workspace_id=None,
        at=NOON + number * HOUR,
        action="login.failed" if number % 2 else "login.succeeded",
        actor="usr_1",
        subject=None,
        address="::1",
        data={"number": number, "text": "ünï \u2028"},
    )


@pytest.fixture
async def filled(catalog: Catalog) -> Catalog:
    async with catalog.write() as tx:
        for number in range(4):
            await add_entry(tx, entry(number))
    return catalog


@pytest.mark.both_engines
async def test_entries_come_back_newest_first_a_page_at_a_time(filled: Catalog) -> None:
    async with filled.read() as tx:
        page = await list_entries(tx, AuditFilter(TimeRange()), PageRequest(2, 1))
    assert page.total == 4
    assert page.items == [entry(2), entry(1)]


async def test_a_period_includes_its_start_and_excludes_its_end(filled: Catalog) -> None:
    async with filled.read() as tx:
        period = TimeRange(NOON + HOUR, NOON + 3 * HOUR)
        found = await list_entries(tx, AuditFilter(period), PageRequest())
    assert (found.total, found.items) == (2, [entry(2), entry(1)])


async def test_entries_can_be_filtered_by_action(filled: Catalog) -> None:
    async with filled.read() as tx:
        found = await list_entries(
            tx, AuditFilter(TimeRange(), action="login.failed"), PageRequest()
        )
    assert (found.total, found.items) == (2, [entry(3), entry(1)])


async def test_a_failed_action_leaves_no_entry(catalog: Catalog) -> None:
    async def fail() -> None:
        async with catalog.write() as tx:
            await audit.record(tx, "key.created", actor="usr_1", subject="s" * 1000)
            assert (await list_entries(tx, AuditFilter(TimeRange()), PageRequest())).total == 1
            raise RuntimeError("after all")

    with pytest.raises(RuntimeError, match="after all"):
        await fail()
    async with catalog.read() as tx:
        assert (await list_entries(tx, AuditFilter(TimeRange()), PageRequest())).total == 0
