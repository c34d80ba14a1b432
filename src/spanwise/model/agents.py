"""Agents: what traces are of, found by the name that the traces carry."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from spanwise.model.alerts import AlertSettings
from spanwise.model.record import Noun, UtcTime

MAX_NAME = 512
# Per workspace. Traces beyond it keep their agent name, but make no agent.
MAX_AGENTS = 10_000


class AgentStats(Noun):
    """What an agent's traces of the last 24 hours add up to."""

    traces: int = 0
    error_rate: float = 0.0
    p95_latency: float | None = None
    cost: float = 0.0


class Agent(Noun):
    id: str
    name: str
    description: str | None
    tags: list[str]
    metadata: dict[str, Any]
    alert_settings: AlertSettings
    created_at: UtcTime
    updated_at: UtcTime
    first_seen_at: UtcTime | None
    last_seen_at: UtcTime | None
    stats24h: Annotated[AgentStats, Field(alias="stats24h")] = AgentStats()


@dataclass(frozen=True)
class Sighting:
    """That an agent's traces were stored, and when the earliest and the latest of them began."""

    workspace_id: str
    name: str
    first: datetime
    last: datetime

    def join(self, other: "Sighting | None") -> "Sighting":
        if other is None:
            return self
        first, last = min(self.first, other.first), max(self.last, other.last)
        return Sighting(self.workspace_id, self.name, first, last)
