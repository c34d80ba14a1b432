"""A periodic job runs repeatedly, survives failures, and stops cleanly."""

import asyncio

import pytest

from spanwise.jobs.periodic import Periodic


async def test_a_job_runs_again_after_it_has_failed() -> None:
    runs = 0
    twice = asyncio.Event()

    async def work() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise RuntimeError("the first run fails")
        twice.set()

    job = Periodic("test", 0.001, work)
    job.start()
    await asyncio.wait_for(twice.wait(), 5)
    await job.stop()


async def test_stopping_runs_the_work_one_last_time() -> None:
    runs = 0

    async def work() -> None:
        nonlocal runs
        runs += 1

    job = Periodic("test", 3600, work, runs_on_stop=True)
    job.start()
    await job.stop()
    assert runs == 1
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "test"]


async def test_a_job_that_was_never_started_can_be_stopped() -> None:
    ran = asyncio.Event()

    async def work() -> None:
        ran.set()

    await Periodic("test", 3600, work, runs_on_stop=True).stop()
    assert ran.is_set()


async def test_waking_a_job_runs_it_before_its_interval_ends() -> None:
    ran = asyncio.Event()

    async def work() -> None:
        ran.set()

    job = Periodic("test", 3600, work)
    job.start()
    job.wake()
    await asyncio.wait_for(ran.wait(), 5)
    await job.stop()


@pytest.mark.parametrize("finishes", [True, False])
async def test_a_stop_finishes_the_run_in_progress_or_cancels_it(finishes: bool) -> None:
    running, may_end = asyncio.Event(), asyncio.Event()
    ended: list[str] = []

    async def work() -> None:
        running.set()
        try:
            await may_end.wait()
            ended.append("finished")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    job = Periodic("test", 3600, work, runs_on_start=True, finishes=finishes)
    job.start()
    await asyncio.wait_for(running.wait(), 5)
    stop = asyncio.create_task(job.stop())
    await asyncio.sleep(0)
    may_end.set()
    await stop
    assert ended == ["finished" if finishes else "cancelled"]
