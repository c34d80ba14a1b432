"""Repricing tasks: one worker at a time, restarted when the price changes."""

from datetime import timedelta

import pytest

from spanwise.model.api_model import utc_now
from spanwise.model.page import PageRequest
from spanwise.model.telemetry.prices import PriceKey, RepricingState, RepricingTask
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import repricing as tasks

KEY = PriceKey("wsp_1", "", "gpt-4o")


async def claim(catalog: Catalog, worker: str, seconds: float = 60) -> RepricingTask | None:
    now = utc_now()
    async with catalog.write() as tx:
        return await tasks.claim_repricing(tx, worker, now, now + timedelta(seconds=seconds))


async def request(catalog: Catalog, key: PriceKey = KEY) -> None:
    async with catalog.write() as tx:
        await tasks.request_repricing(tx, key)


async def save(catalog: Catalog, task: RepricingTask, left: list[int]) -> bool:
    async with catalog.write() as tx:
        until = utc_now() + timedelta(seconds=60)
        return await tasks.save_progress(tx, task, left, "one", until)


@pytest.mark.both_engines
async def test_a_claimed_task_is_not_given_to_another_worker(catalog: Catalog) -> None:
    await request(catalog)
    task = await claim(catalog, "one")
    assert task is not None
    assert (task.key, task.months_left) == (KEY, None)
    assert await claim(catalog, "two") is None


async def test_an_expired_claim_goes_to_the_next_worker(catalog: Catalog) -> None:
    await request(catalog)
    assert await claim(catalog, "one", seconds=-1) is not None
    assert await claim(catalog, "two") is not None


async def test_a_released_task_goes_to_the_next_worker(catalog: Catalog) -> None:
    await request(catalog)
    assert await claim(catalog, "one") is not None
    async with catalog.write() as tx:
        await tasks.release_claims(tx, "two")
    assert await claim(catalog, "two") is None
    async with catalog.write() as tx:
        await tasks.release_claims(tx, "one")
    assert await claim(catalog, "two") is not None


async def test_a_task_is_done_when_no_month_is_left(catalog: Catalog) -> None:
    await request(catalog)
    task = await claim(catalog, "one")
    assert task is not None
    assert await save(catalog, task, [202611, 202610])
    assert await save(catalog, task, [])
    assert await claim(catalog, "one") is None
    async with catalog.read() as tx:
        done = (await tasks.find_tasks(tx, KEY.workspace, [KEY.model])).get(KEY)
        assert await tasks.count_unfinished(tx) == 0
    assert done is not None
    assert done.state is RepricingState.DONE


async def test_a_price_change_restarts_its_task(catalog: Catalog) -> None:
    await request(catalog)
    task = await claim(catalog, "one")
    assert task is not None
    await save(catalog, task, [202611])
    await request(catalog)
    assert not await save(catalog, task, [])
    again = await claim(catalog, "one")
    assert again is not None
    assert again.months_left is None


async def test_a_workspace_sees_only_its_tasks(catalog: Catalog) -> None:
    for key in (KEY, PriceKey("wsp_2", "", "gpt-4o"), PriceKey("", "openai", "gpt-4o")):
        await request(catalog, key)
    async with catalog.read() as tx:
        listing = await tasks.list_tasks(tx, "wsp_1", PageRequest())
    assert [task.key for task in listing.items] == [KEY]
    assert listing.total == 1
