"""Starts background jobs; the stack of the service stops them."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from typing import Protocol

from spanwise.jobs.periodic import Periodic
from spanwise.jobs.rollup_maintenance import RollupMaintenance
from spanwise.services.access import Access
from spanwise.services.agents import AgentDirectory
from spanwise.services.workspaces.masking import Masking
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.failures.updates import FailureUpdates
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.text_index import TextIndex
from spanwise.storage.telemetry.writer import TelemetryWriter

KEY_USE_SECONDS = 15
ACTIVITY_FLUSH_SECONDS = 15
REAGGREGATION_SECONDS = 10
FAILURE_SECONDS = 10
TEXT_INDEX_SECONDS = 10
# Other replicas may have changed the rules; the docs promise five seconds.
MASKING_REFRESH_SECONDS = 4


class Job(Protocol):
    def start(self) -> None: ...

    async def stop(self) -> None: ...


def start_job(stack: AsyncExitStack, job: Job) -> None:
    """Start a job; the stack stops it."""
    job.start()
    stack.push_async_callback(job.stop)


def start_key_uses(stack: AsyncExitStack, access: Access) -> None:
    start_job(stack, Periodic("write_key_uses", KEY_USE_SECONDS, access.write_key_uses))


def start_agent_activity(stack: AsyncExitStack, agents: AgentDirectory) -> None:
    flush = agents.flush_activity
    start_job(stack, Periodic("flush_agent_activity", ACTIVITY_FLUSH_SECONDS, flush))


def start_reaggregation(stack: AsyncExitStack, writer: TelemetryWriter) -> None:
    reaggregate = partial(asyncio.to_thread, writer.reaggregate_settled)
    start_job(stack, Periodic("reaggregate_traces", REAGGREGATION_SECONDS, reaggregate))


def start_masking_refresh(stack: AsyncExitStack, masking: Masking) -> None:
    refresh = Periodic("masking", MASKING_REFRESH_SECONDS, masking.refresh, run_on_stop=False)
    start_job(stack, refresh)


def start_maintenance(
    stack: AsyncExitStack, engine: Engine, writer: TelemetryWriter, rollup: Rollup
) -> None:
    start_job(stack, RollupMaintenance(rollup.maintenance))
    index = TextIndex(engine, writer.changes)
    start_job(stack, Periodic("text_index", TEXT_INDEX_SECONDS, index.update, run_on_stop=False))


def start_failures(
    stack: AsyncExitStack, engine: Engine, writer: TelemetryWriter
) -> FailureUpdates:
    updates = FailureUpdates(engine, writer.visible_until, writer.changes)
    start_job(stack, Periodic("failures", FAILURE_SECONDS, updates.run, run_on_stop=False))
    return updates
