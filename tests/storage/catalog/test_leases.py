"""Leases: held by one, taken over when they run out, and lost for good then."""

from datetime import UTC, datetime, timedelta

from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.leases import keep_lease, release_lease, take_lease

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)


async def take(catalog: Catalog, holder: str, now: datetime) -> bool:
    async with catalog.write() as tx:
        return await take_lease(tx, "work", holder, now, now + timedelta(seconds=30))


async def test_one_holds_it_until_it_runs_out(catalog: Catalog) -> None:
    assert await take(catalog, "a", NOW)
    assert not await take(catalog, "b", NOW + timedelta(seconds=29))
    assert await take(catalog, "a", NOW + timedelta(seconds=10))
    assert not await take(catalog, "b", LATER)
    assert await take(catalog, "b", LATER + timedelta(seconds=10))
    assert not await take(catalog, "a", LATER + timedelta(seconds=11))


async def test_who_has_lost_it_cannot_keep_it(catalog: Catalog) -> None:
    assert await take(catalog, "a", NOW)
    assert await take(catalog, "b", LATER)
    async with catalog.write() as tx:
        assert not await keep_lease(tx, "work", "a", LATER)
        assert await keep_lease(tx, "work", "b", LATER + timedelta(minutes=1))


async def test_a_released_lease_is_free_at_once(catalog: Catalog) -> None:
    assert await take(catalog, "a", NOW)
    async with catalog.write() as tx:
        await release_lease(tx, "work", "b", NOW)
    assert not await take(catalog, "b", NOW)
    async with catalog.write() as tx:
        await release_lease(tx, "work", "a", NOW)
    assert await take(catalog, "b", NOW)
