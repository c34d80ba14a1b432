"""Agents. A trace belongs to the agent whose name it carries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from spanwise.model.alerts import AlertSettings
from spanwise.model.api_model import ApiModel, UtcTime

MAX_NAME = 512
# Per workspace. At the limit, new names stay on their traces but create no agent.
MAX_AGENTS = 10_000

# Agent name -> agent id.
AgentIds = Mapping[str, str]


class AgentStats(ApiModel):
    """Aggregates over an agent's traces of the last 24 hours."""

    traces: int = 0
    error_rate: float = 0.0
    p95_latency: float | None = None
    cost: float = 0.0


class Agent(ApiModel):
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
class AgentActivity:
    """Start times of the earliest and the latest trace stored for an agent."""

    workspace_id: str
    name: str
    first: datetime
    last: datetime

    def merge(self, other: "AgentActivity | None") -> "AgentActivity":
        """Return the range that covers both."""
        if other is None:
            return self
        first, last = min(self.first, other.first), max(self.last, other.last)
        return AgentActivity(self.workspace_id, self.name, first, last)
