"""An installation whose alert rules a test evaluates at the time of its choice."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, null, update

from spanwise.jobs.alert_evaluation import LEASE
from spanwise.storage.catalog import tables
from support.clock import Clock
from support.service import Person, Service
from support.traces import make_span, send_traces

# Settings of a service whose rules are evaluated only when a test asks for it.
UNDISTURBED = {"alert_interval_seconds": 3600}


async def forget_alerting(service: Service, clock: Clock) -> None:
    """Let the next test start now, without the rules, alerts and messages of this one."""
    async with service.services.catalog.write() as tx:
        for table in (
            tables.alert_moves,
            tables.alerts,
            tables.rule_states,
            tables.silences,
            tables.deliveries,
            tables.webhooks,
        ):
            await tx.execute(delete(table))
        await tx.execute(delete(tables.leases).where(tables.leases.c.name == LEASE))
        for table in (tables.agents, tables.workspaces):
            await tx.execute(update(table).values(alert_settings=null()))
    clock.now = datetime.now(UTC)


@dataclass
class RuleDesk:
    """A user, and the clock of the rule evaluation."""

    service: Service
    person: Person
    clock: Clock

    def span(self, agent: str, status: str, *, minutes: float = 0, **fields: Any) -> dict[str, Any]:
        """A trace that starts a second before what will be now in so many minutes."""
        start = self.clock.now + timedelta(minutes=minutes, seconds=-1)
        return make_span(agent, start=start, status=status, **fields)

    async def send(self, *statuses: str, agent: str = "planner", **fields: Any) -> list[str]:
        start = self.clock.now - timedelta(seconds=1)
        spans = [make_span(agent, start=start, status=s, **fields) for s in statuses]
        await send_traces(self.person, spans)
        return [span["traceId"] for span in spans]

    async def evaluate(self, **by: float) -> list[dict[str, Any]]:
        """Advance the clock, evaluate, and return the alerts, latest first."""
        self.clock.turn(**by)
        await self.service.services.alerting.alert_jobs.evaluate()
        alerts: list[dict[str, Any]] = await self.person.data("GET", "/spans/alerts")
        return alerts
