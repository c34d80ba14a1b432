"""An installation whose alert rules a test evaluates at the time of its choice."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from support.clock import Clock
from support.service import Person, Service
from support.traces import make_span, send_traces


@dataclass
class RuleDesk:
    """A user, and the clock of the rule evaluation."""

    service: Service
    person: Person
    clock: Clock

    async def send(self, *statuses: str, agent: str = "planner", **fields: Any) -> list[str]:
        start = self.clock.now - timedelta(seconds=1)
        spans = [make_span(agent, start=start, status=s, **fields) for s in statuses]
        await send_traces(self.person, spans)
        return [span["traceId"] for span in spans]

    async def evaluate(self, **by: float) -> list[dict[str, Any]]:
        """Advance the clock, evaluate, and return the alerts, latest first."""
        self.clock.turn(**by)
        await self.service.services.alert_jobs.evaluate()
        alerts: list[dict[str, Any]] = await self.person.data("GET", "/spans/alerts")
        return alerts
