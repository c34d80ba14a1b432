"""Generates a month of history and sends it through the normal ingest path."""

import asyncio
import heapq
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from random import Random

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

from spanwise.api.services import Services
from spanwise.demo.conversations import Conversation, Turn
from spanwise.demo.experiments import DemoExperiments, variant_index
from spanwise.demo.fleet import FLEET, AgentProfile
from spanwise.demo.timeline import Timeline, session_starts
from spanwise.ingest.otlp.from_rest import to_any_value
from spanwise.ingest.records.record import Kind, Record
from spanwise.ingest.records.rows import encode_exposures
from spanwise.model.accounts import Principal, Sender
from spanwise.model.agents import Agent
from spanwise.model.alerts import AlertSettings
from spanwise.model.api_model import new_id
from spanwise.model.events import SERVICE, EventType
from spanwise.services.notifications.events import record_event
from spanwise.storage.catalog import agents as stored_agents
from spanwise.storage.catalog import experiments as stored_experiments

_SESSIONS_PER_BATCH = 400
_SIGNALS_PER_REQUEST = 1000


@dataclass
class Batch:
    """Generated conversations, ready to send."""

    until: datetime
    turns: list[Turn] = field(default_factory=list)
    exposures: list[Record] = field(default_factory=list)


class History:
    """A month of history for one workspace; deterministic for a given seed and end."""

    def __init__(
        self,
        services: Services,
        caller: Principal,
        timeline: Timeline,
        experiments: DemoExperiments,
        seed: int,
    ) -> None:
        self._services = services
        self._caller = caller
        self._timeline = timeline
        self._experiments = experiments
        self._seed = seed
        self._exposed: set[tuple[str, str]] = set()

    async def add_agents(self) -> None:
        async with self._services.catalog.write() as tx:
            for profile in FLEET:
                agent = _new_agent(profile, self._timeline.start)
                await stored_agents.add_agent(tx, self._caller.workspace_id, agent)
                await record_event(
                    tx,
                    self._caller.workspace_id,
                    EventType.AGENT_CREATED,
                    actor=SERVICE,
                    subject=agent.id,
                    at=agent.created_at,
                    name=agent.name,
                )

    async def add_experiments(self) -> None:
        for experiment in self._experiments.all:
            moves = (
                (EventType.EXPERIMENT_CREATED, experiment.created_at),
                (EventType.EXPERIMENT_STARTED, experiment.started_at),
                (EventType.EXPERIMENT_STOPPED, experiment.stopped_at),
            )
            async with self._services.catalog.write() as tx:
                await stored_experiments.add_experiment(tx, self._caller.workspace_id, experiment)
                for event, at in moves:
                    if at is not None:
                        await record_event(
                            tx,
                            self._caller.workspace_id,
                            event,
                            actor=self._caller.user_id,
                            subject=experiment.id,
                            at=at,
                            name=experiment.name,
                            winner=experiment.winner,
                        )

    async def send_all(self, scale: float, progress: Callable[[float], None]) -> int:
        """Generate and send every conversation; return the number of traces."""
        sessions, traces = self._sessions(scale), 0
        batch = await asyncio.to_thread(self._generate, sessions)
        while batch is not None:
            # The next batch is generated while this one is stored.
            upcoming = asyncio.create_task(asyncio.to_thread(self._generate, sessions))
            await send(self._services, self._caller.sender, batch.turns, batch.exposures)
            traces += len(batch.turns)
            progress(
                (batch.until - self._timeline.start) / (self._timeline.end - self._timeline.start)
            )
            batch = await upcoming
        progress(1.0)
        await self._services.ingest.pipeline.wait_until_visible()
        # Aggregate now instead of waiting until the data has settled.
        await self._services.telemetry.rollup.maintenance.update(quiet_seconds=0)
        return traces

    def _sessions(self, scale: float) -> Iterator[Conversation]:
        starts = (self._starts_of(number, scale) for number in range(len(FLEET)))
        rng = Random(f"{self._seed}/conversations")
        for at, number in heapq.merge(*starts):
            yield Conversation(FLEET[number], at, self._timeline, self._experiments, rng)

    def _starts_of(self, number: int, scale: float) -> Iterator[tuple[datetime, int]]:
        agent = FLEET[number]
        rng = Random(f"{self._seed}/{agent.name}")
        for at in session_starts(agent, self._timeline.start, self._timeline.end, scale, rng):
            yield at, number

    def _generate(self, sessions: Iterator[Conversation]) -> Batch | None:
        batch_sessions = list(islice(sessions, _SESSIONS_PER_BATCH))
        if not batch_sessions:
            return None
        batch = Batch(until=batch_sessions[-1].begins)
        for session in batch_sessions:
            # Turns that would end in the future are left out.
            batch.turns += [turn for turn in session.turns() if turn.ends_at < self._timeline.end]
            batch.exposures += self._expose(session)
        return batch

    def _expose(self, session: Conversation) -> Iterator[Record]:
        experiment_id = session.treatment.experiment_id
        if experiment_id is None or (experiment_id, session.user) in self._exposed:
            return
        self._exposed.add((experiment_id, session.user))
        experiment = next(e for e in self._experiments.all if e.id == experiment_id)
        exposed = [(session.user, variant_index(experiment, session.user))]
        yield encode_exposures(self._caller.workspace_id, experiment_id, session.begins, exposed)


async def send(
    services: Services, sender: Sender, turns: Sequence[Turn], exposures: Sequence[Record] = ()
) -> None:
    """Send turns to the service as an application would."""
    if exposures:
        await services.ingest.pipeline.submit(sender, exposures)
    if not turns:
        return
    body = await asyncio.to_thread(_export, turns)
    await services.ingest.receiver.receive_otlp(sender, Kind.TRACES, body, is_json=False)
    logs = [log for turn in turns for log in turn.logs]
    size = sum(len(log.message) for log in logs)
    await services.ingest.receiver.receive_logs(sender, logs, size=size)
    signals = [signal for turn in turns for signal in turn.signals]
    for first in range(0, len(signals), _SIGNALS_PER_REQUEST):
        part = signals[first : first + _SIGNALS_PER_REQUEST]
        await services.ingest.receiver.receive_signals(sender, part)


def _export(turns: Sequence[Turn]) -> bytes:
    by_service: dict[tuple[str, str, str], list[Turn]] = defaultdict(list)
    for turn in turns:
        by_service[turn.agent.name, turn.agent.version, turn.environment].append(turn)
    request = ExportTraceServiceRequest(
        resource_spans=[
            ResourceSpans(
                resource=_describe_service(*service),
                scope_spans=[ScopeSpans(spans=[span for turn in group for span in turn.spans])],
            )
            for service, group in by_service.items()
        ]
    )
    return request.SerializeToString()


def _describe_service(name: str, version: str, environment: str) -> Resource:
    described = {
        "service.name": name,
        "service.version": version,
        "deployment.environment.name": environment,
        "telemetry.sdk.language": "python",
    }
    return Resource(
        attributes=[KeyValue(key=k, value=to_any_value(v)) for k, v in described.items()]
    )


def _new_agent(profile: AgentProfile, at: datetime) -> Agent:
    return Agent(
        id=new_id("agt"),
        name=profile.name,
        description=profile.description,
        tags=list(profile.tags),
        metadata={"version": profile.released().version},
        alert_settings=AlertSettings(),
        created_at=at,
        updated_at=at,
        first_seen_at=at,
        last_seen_at=at,
    )
