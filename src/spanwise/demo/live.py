"""Live traffic: starts conversations in real time until cancelled."""

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
from spanwise.model.api_model import utc_now
from spanwise.model.errors import SpanwiseError

SECONDS_BETWEEN_SESSIONS = 20.0
# A longer gap would look like an outage.
_MAX_PAUSE_SECONDS = 30.0


async def send_live_traffic(
    services: Services,
    caller: Principal,
    timeline: Timeline,
    experiments: DemoExperiments,
    rng: Random,
) -> None:
    """Start conversations at random intervals; send each turn when it ends."""
    waiting: list[tuple[float, int, Turn]] = []
    numbers = count()
    next_session = utc_now()
    while True:
        now = utc_now()
        if now >= next_session:
            # Starts in the past, so that the first turn ends soon.
            session = _start_session(now - timedelta(seconds=5), timeline, experiments, rng)
            await _assign(services, caller, session)
            for turn in session.turns():
                heapq.heappush(waiting, (turn.ends_at.timestamp(), next(numbers), turn))
            pause = min(rng.expovariate(1 / SECONDS_BETWEEN_SESSIONS), _MAX_PAUSE_SECONDS)
            next_session = now + timedelta(seconds=pause)
        due = []
        while waiting and waiting[0][0] <= now.timestamp():
            due.append(heapq.heappop(waiting)[2])
        # The service may be temporarily unavailable.
        with suppress(SpanwiseError):
            await send(services, caller.sender, due)
        await asyncio.sleep(1)


def _start_session(
    at: datetime, timeline: Timeline, experiments: DemoExperiments, rng: Random
) -> Conversation:
    weights = [profile.sessions_per_day * profile.hours[at.hour] for profile in FLEET]
    return Conversation(rng.choices(FLEET, weights)[0], at, timeline, experiments, rng)


async def _assign(services: Services, caller: Principal, session: Conversation) -> None:
    """Request the variant as an application would, which records the exposure."""
    if session.treatment.experiment_id is not None:
        with suppress(SpanwiseError):
            await services.experimentation.assignments.assign(
                caller.sender, session.treatment.experiment_id, session.user
            )
