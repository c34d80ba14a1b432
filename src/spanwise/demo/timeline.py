"""Timeline of the demo's month: traffic patterns, a past incident, and ongoing failures."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from spanwise.demo.fleet import FAILURES, AgentProfile, Failure

DAYS = 30
INCIDENT_AGENT = "support-assistant"
FLIGHTS_AGENT = "travel-concierge"
LAYOUT_AGENT = "invoice-extractor"
_SATURDAY = 5
_GROWTH = 0.35


@dataclass(frozen=True)
class Timeline:
    """A month of history, with the times of its incidents."""

    end: datetime
    incident_start: datetime
    incident_end: datetime
    flights_down_since: datetime
    flights_gone_since: datetime
    layout_changed_at: datetime
    released_at: datetime

    @classmethod
    def ending(cls, end: datetime) -> "Timeline":
        incident = (end - timedelta(days=6)).replace(hour=13, minute=20, second=0, microsecond=0)
        while incident.weekday() >= _SATURDAY:
            incident -= timedelta(days=1)
        return cls(
            end=end,
            incident_start=incident,
            incident_end=incident + timedelta(minutes=100),
            flights_down_since=end - timedelta(hours=10),
            flights_gone_since=end - timedelta(hours=3),
            layout_changed_at=end - timedelta(days=2, hours=3),
            released_at=end - timedelta(days=5),
        )

    @property
    def start(self) -> datetime:
        return self.end - timedelta(days=DAYS)

    def version_at(self, agent: AgentProfile, at: datetime) -> AgentProfile:
        """Return the version of an agent that runs at that time."""
        return agent.released() if at >= self.released_at else agent

    def is_incident(self, agent: str, at: datetime) -> bool:
        """Return whether the support assistant's provider is overloaded at that time."""
        return agent == INCIDENT_AGENT and self.incident_start <= at < self.incident_end

    def tool_failure_rate(self, agent: str, tool: str, usual: float, at: datetime) -> float:
        is_flights = agent == FLIGHTS_AGENT and tool == "search_flights"
        return 0.75 if is_flights and at >= self.flights_down_since else usual

    def tool_failure(self, tool: str, usual: Failure, at: datetime) -> Failure:
        """Return how a tool fails: lately the flight search does so in a new way."""
        is_gone = tool == "search_flights" and at >= self.flights_gone_since
        return FAILURES["flights_gone"] if is_gone else usual

    def rating_shift(self, agent: str, signal: str, at: datetime) -> float:
        """Return how much a rating differs from its usual mean."""
        if agent == LAYOUT_AGENT and signal == "extraction_accuracy":
            return -0.14 if at >= self.layout_changed_at else 0.0
        return -0.35 if self.is_incident(agent, at) else 0.0


def session_starts(
    agent: AgentProfile, start: datetime, end: datetime, scale: float, rng: Random
) -> Iterator[datetime]:
    """Yield an agent's session starts, by hour of day and weekday, growing over the month."""
    hour = start.replace(minute=0, second=0, microsecond=0)
    share = scale * agent.sessions_per_day / sum(agent.hours)
    while hour < end:
        age_days = (end - hour) / timedelta(days=1)
        growth = 1 + _GROWTH * (1 - age_days / DAYS)
        week = agent.weekend if hour.weekday() >= _SATURDAY else 1.0
        expected = share * agent.hours[hour.hour] * week * growth * rng.lognormvariate(0, 0.15)
        seconds = sorted(rng.uniform(0, 3600) for _ in range(_draw_count(expected, rng)))
        for second in seconds:
            at = hour + timedelta(seconds=second)
            if start <= at < end:
                yield at
        hour += timedelta(hours=1)


def _draw_count(expected: float, rng: Random) -> int:
    """Draw from a Poisson distribution."""
    limit, product, count = math.exp(-min(expected, 500)), rng.random(), 0
    while product > limit:
        product *= rng.random()
        count += 1
    return count
