"""Alert rules of the demo agents, and a replay of the real evaluator over the demo's month."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from spanwise.api.services import Services
from spanwise.demo.timeline import FLIGHTS_AGENT, INCIDENT_AGENT, LAYOUT_AGENT, Timeline
from spanwise.jobs.alert_evaluation import AlertEvaluator
from spanwise.model.accounts import Principal
from spanwise.model.alerts import (
    AlertFilter,
    AlertMetric,
    AlertRule,
    AlertStatus,
    Condition,
    Severity,
)
from spanwise.model.api_model import utc_now
from spanwise.model.page import PageRequest

RULES: dict[str, list[AlertRule]] = {
    INCIDENT_AGENT: [
        AlertRule(
            name="Answers fail",
            metric=AlertMetric.ERROR_RATE,
            condition=Condition.ABOVE,
            threshold=0.2,
            window_minutes=30,
            for_minutes=5,
            min_samples=8,
            severity=Severity.CRITICAL,
        ),
        AlertRule(
            name="Unusually slow",
            metric=AlertMetric.AVG_LATENCY,
            condition=Condition.ANOMALY,
            window_minutes=30,
            min_samples=10,
            severity=Severity.WARNING,
        ),
    ],
    FLIGHTS_AGENT: [
        AlertRule(
            name="Flight searches fail",
            metric=AlertMetric.ERROR_RATE,
            condition=Condition.ABOVE,
            threshold=0.1,
            window_minutes=360,
            min_samples=15,
            severity=Severity.CRITICAL,
        ),
    ],
    LAYOUT_AGENT: [
        AlertRule(
            name="Low extraction accuracy",
            metric=AlertMetric.SIGNAL,
            signal_name="extraction_accuracy",
            condition=Condition.BELOW,
            threshold=0.9,
            window_minutes=720,
            min_samples=20,
            severity=Severity.WARNING,
        ),
    ],
    "research-analyst": [
        AlertRule(
            name="Daily budget",
            metric=AlertMetric.COST,
            condition=Condition.ABOVE,
            threshold=40.0,
            window_minutes=1440,
            severity=Severity.INFO,
        ),
    ],
}
_NOTES = {
    INCIDENT_AGENT: "The provider is overloaded; following their status page.",
    LAYOUT_AGENT: "A vendor changed its layout. The fix is in review.",
}
_ACKNOWLEDGE_AFTER = timedelta(minutes=9)


class ReplayClock:
    """Clock of the alert evaluator: the current time, or a past moment during the replay."""

    def __init__(self) -> None:
        self.moment: datetime | None = None

    def __call__(self) -> datetime:
        return self.moment or utc_now()


async def set_rules(services: Services, caller: Principal) -> None:
    for agent, rules in RULES.items():
        changes = {"rules": [rule.model_dump(by_alias=False) for rule in rules]}
        await services.alerts.change_settings(caller, agent, changes)


async def replay_alerts(
    services: Services,
    caller: Principal,
    timeline: Timeline,
    clock: ReplayClock,
    progress: Callable[[float], None],
) -> None:
    """Evaluate the rules around the incidents, and acknowledge alerts as a team would."""
    evaluator = AlertEvaluator(
        services.catalog,
        services.engine,
        services.pipeline,
        services.settings.alert_interval_seconds,
        # The same holder as the service's evaluator, so that the lease is shared.
        holder="embedded",
        clock=clock,
    )
    moments = list(_moments(timeline))
    try:
        for number, moment in enumerate(moments, 1):
            clock.moment = moment
            await evaluator.run()
            await _acknowledge(services, caller, moment)
            progress(number / len(moments))
    finally:
        clock.moment = None


def _moments(timeline: Timeline) -> Iterator[datetime]:
    periods = (
        (
            timeline.incident_start - timedelta(minutes=10),
            timeline.incident_end + timedelta(hours=1),
            5,
        ),
        (timeline.layout_changed_at, timeline.flights_down_since, 120),
        (timeline.flights_down_since, timeline.end, 20),
    )
    for at, end, minutes in periods:
        moment = at
        while moment < end:
            yield moment
            moment += timedelta(minutes=minutes)


async def _acknowledge(services: Services, caller: Principal, moment: datetime) -> None:
    active = AlertFilter(status=AlertStatus.ACTIVE)
    found = await services.alerts.list(caller, active, PageRequest(limit=50, skip=0))
    for alert in found.items:
        note = _NOTES.get(alert.agent_name)
        if note is not None and moment - alert.triggered_at >= _ACKNOWLEDGE_AFTER:
            await services.alerts.acknowledge(caller, alert.id, note)
