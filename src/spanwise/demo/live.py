"""A trickle of traffic as it happens, for as long as somebody watches."""

import asyncio
import heapq
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import count
from random import Random

from spanwise.api.services import Services
from spanwise.demo.conversations import Conversation, Turn
from spanwise.demo.experiments import DemoExperiments
from spanwise.demo.fleet import FLEET
from spanwise.demo.history import send
from spanwise.demo.timeline import Timeline
from spanwise.model.accounts import Principal
from spanwise.model.errors import SpanwiseError
from spanwise.model.record import utc_now

SECONDS_BETWEEN_SESSIONS = 20.0
# Whoever watches would take a longer silence for a fault.
_MAX_PAUSE_SECONDS = 30.0


async def send_live_traffic(
    services: Services,
    caller: Principal,
    timeline: Timeline,
    experiments: DemoExperiments,
    rng: Random,
) -> None:
    """Begin a conversation now and then; send each of its turns when it ends."""
    waiting: list[tuple[float, int, Turn]] = []
    numbers = count()
    next_session = utc_now()
    while True:
        now = utc_now()
        if now >= next_session:
            # One that began a moment ago, so that something happens at once.
            session = _begin(now - timedelta(seconds=5), timeline, experiments, rng)
            await _assign(services, caller, session)
            for turn in session.turns():
                heapq.heappush(waiting, (turn.ends_at.timestamp(), next(numbers), turn))
            pause = min(rng.expovariate(1 / SECONDS_BETWEEN_SESSIONS), _MAX_PAUSE_SECONDS)
            next_session = now + timedelta(seconds=pause)
        due = []
        while waiting and waiting[0][0] <= now.timestamp():
            due.append(heapq.heappop(waiting)[2])
        # A service that cannot take more for a moment is no reason to stop.
        with suppress(SpanwiseError):
            await send(services, caller.workspace_id, due)
        await asyncio.sleep(1)


def _begin(
    at: datetime, timeline: Timeline, experiments: DemoExperiments, rng: Random
) -> Conversation:
    busy = [profile.sessions_per_day * profile.hours[at.hour] for profile in FLEET]
    return Conversation(rng.choices(FLEET, busy)[0], at, timeline, experiments, rng)


async def _assign(services: Services, caller: Principal, session: Conversation) -> None:
    """Ask for the variant as the application would, which counts the user in."""
    if session.treatment.experiment_id is not None:
        with suppress(SpanwiseError):
            await services.assignments.assign(
                caller.workspace_id, session.treatment.experiment_id, session.user
            )
