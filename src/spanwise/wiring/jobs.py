"""Starts background jobs; the stack of the service stops them."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Protocol

from spanwise.jobs.alert_evaluation import AlertEvaluator
from spanwise.jobs.notifications import NotificationSender
from spanwise.jobs.periodic import Periodic
from spanwise.services.access import Access
from spanwise.services.agents import AgentDirectory
from spanwise.services.alerts.evaluation_health import AlertJobs
from spanwise.services.workspaces.masking import Masking
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.failures.updates import FailureUpdates
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.text_index import TextIndex
from spanwise.storage.telemetry.write.writer import TelemetryWriter

KEY_USE_SECONDS = 15
ACTIVITY_FLUSH_SECONDS = 15
REAGGREGATION_SECONDS = 10
FAILURE_SECONDS = 10
TEXT_INDEX_SECONDS = 10
# Other replicas may have changed the rules; the docs promise five seconds.
MASKING_REFRESH_SECONDS = 4
ROLLUP_SECONDS = 60.0
# Short, because a query reads the traces that are not in slices yet.
SLICE_SECONDS = 2.0
SEND_SECONDS = 2
CLEANUP_SECONDS = 3600


class Job(Protocol):
    def start(self) -> None: ...

    async def stop(self) -> None: ...


def start_job(stack: AsyncExitStack, job: Job) -> None:
    """Start a job; the stack stops it."""
    job.start()
    stack.push_async_callback(job.stop)


def _buffered(name: str, seconds: float, write: Callable[[], Awaitable[object]]) -> Periodic:
    """Return a job that writes what was collected in memory, at a stop too."""
    return Periodic(name, seconds, write, runs_on_stop=True)


def start_key_uses(stack: AsyncExitStack, access: Access) -> None:
    start_job(stack, _buffered("write_key_uses", KEY_USE_SECONDS, access.write_key_uses))


def start_agent_activity(stack: AsyncExitStack, agents: AgentDirectory) -> None:
    flush = agents.flush_activity
    start_job(stack, _buffered("flush_agent_activity", ACTIVITY_FLUSH_SECONDS, flush))


def start_reaggregation(stack: AsyncExitStack, writer: TelemetryWriter) -> None:
    reaggregate = partial(asyncio.to_thread, writer.reaggregate_settled)
    start_job(stack, _buffered("reaggregate_traces", REAGGREGATION_SECONDS, reaggregate))


def start_masking_refresh(stack: AsyncExitStack, masking: Masking) -> None:
    refresh = Periodic("masking", MASKING_REFRESH_SECONDS, masking.refresh)
    start_job(stack, refresh)


def start_rollup(stack: AsyncExitStack, rollup: Rollup) -> None:
    maintenance = rollup.maintenance
    for work, seconds in (
        (maintenance.update_and_merge, ROLLUP_SECONDS),
        (maintenance.update_slices, SLICE_SECONDS),
    ):
        start_job(stack, Periodic("rollup_maintenance", seconds, work, finishes=True))
    # Before the jobs are stopped: their runs end after the current statement, and the next process
    # continues at the last watermark.
    stack.callback(maintenance.interrupt)


def start_text_index(stack: AsyncExitStack, engine: Engine, writer: TelemetryWriter) -> None:
    index = TextIndex(engine, writer.changes)
    start_job(stack, Periodic("text_index", TEXT_INDEX_SECONDS, index.update))


def start_failures(
    stack: AsyncExitStack, engine: Engine, writer: TelemetryWriter
) -> FailureUpdates:
    updates = FailureUpdates(engine, writer.visible_until, writer.changes)
    start_job(stack, Periodic("failures", FAILURE_SECONDS, updates.run))
    return updates


async def start_alerting(
    stack: AsyncExitStack,
    evaluator: AlertEvaluator,
    sender: NotificationSender,
    *,
    is_only_process: bool,
) -> AlertJobs:
    """Evaluate rules, send notifications, delete old deliveries.

    `is_only_process`: no other process uses the stores, so claims found at start are stale.
    """
    if is_only_process:
        await sender.release_claims()
    stack.push_async_callback(evaluator.release)
    health = evaluator.health
    for name, seconds, work in (
        ("evaluate_alerts", health.interval_seconds, evaluator.run),
        ("send_notifications", SEND_SECONDS, sender.run),
        ("drop_old_deliveries", CLEANUP_SECONDS, sender.drop_old),
    ):
        start_job(stack, Periodic(name, seconds, work))
    return AlertJobs(health, evaluator.run, sender.run, lambda: sender.pending)
