"""A periodic job runs repeatedly, survives failures, and stops cleanly."""

import asyncio

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

    job = Periodic("test", 3600, work)
    job.start()
    await job.stop()
    assert runs == 1
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "test"]


async def test_a_job_that_was_never_started_can_be_stopped() -> None:
    ran = asyncio.Event()

    async def work() -> None:
        ran.set()

    await Periodic("test", 3600, work).stop()
    assert ran.is_set()
