"""Leases have one holder, and can be taken over after they expire."""

from datetime import UTC, datetime, timedelta

import pytest

from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.leases import keep_lease, release_lease, take_lease

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)


async def take(catalog: Catalog, holder: str, now: datetime) -> bool:
    async with catalog.write() as tx:
        return await take_lease(tx, "work", holder, now, now + timedelta(seconds=30))


@pytest.mark.both_engines
async def test_a_lease_has_one_holder_until_it_expires(catalog: Catalog) -> None:
    assert await take(catalog, "a", NOW)
    assert not await take(catalog, "b", NOW + timedelta(seconds=29))
    assert await take(catalog, "a", NOW + timedelta(seconds=10))
    assert not await take(catalog, "b", LATER)
    assert await take(catalog, "b", LATER + timedelta(seconds=10))
    assert not await take(catalog, "a", LATER + timedelta(seconds=11))


async def test_a_lost_lease_cannot_be_renewed(catalog: Catalog) -> None:
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
