"""Alert rules of the demo agents, and a replay of the real evaluator over the demo's month."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from spanwise.api.services import Services
from spanwise.demo.data import FromData
from spanwise.demo.timeline import FLIGHTS_AGENT, LAYOUT_AGENT, Timeline
from spanwise.jobs.alert_evaluation import AlertEvaluator
from spanwise.model.accounts import Principal
from spanwise.model.alerts import AlertFilter, AlertRule, AlertStatus, NewSilence
from spanwise.model.api_model import utc_now
from spanwise.model.page import PageRequest


class _Alerts(FromData):
    """The rules, and what the team writes about the alerts."""

    workspace_rule: AlertRule
    rules: dict[str, list[AlertRule]]
    # By the agent of the alert.
    notes: dict[str, str]
    comment: str
    silence: str


ALERTS = _Alerts.read("alerts")
_ACKNOWLEDGE_AFTER = timedelta(minutes=9)


class ReplayClock:
    """Clock of the alert evaluator: the current time, or a past moment during the replay."""

    def __init__(self) -> None:
        self.moment: datetime | None = None

    def __call__(self) -> datetime:
        return self.moment or utc_now()


async def set_rules(services: Services, caller: Principal) -> None:
    for agent, rules in ALERTS.rules.items():
        changes = {"rules": [rule.model_dump(by_alias=False) for rule in rules]}
        await services.alerting.alert_rules.change_agent(caller, agent, changes, None)
    rule = ALERTS.workspace_rule.model_dump(by_alias=False)
    await services.alerting.alert_rules.change(caller, {"rules": [rule]}, None)


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
        services.alerting.rule_windows,
        services.ingest.pipeline,
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
    await _comment_and_silence(services, caller)


async def _comment_and_silence(services: Services, caller: Principal) -> None:
    """Comment on the active alert of the flight search, and silence the known problem."""
    active = AlertFilter(status=AlertStatus.ACTIVE, agent=FLIGHTS_AGENT)
    found = await services.alerting.alerts.list(caller, active, PageRequest(limit=1, skip=0))
    for alert in found.items:
        await services.alerting.alerts.comment(caller, alert.id, ALERTS.comment)
    ends_at = utc_now() + timedelta(days=1)
    silence = NewSilence(agent_id=LAYOUT_AGENT, reason=ALERTS.silence, ends_at=ends_at)
    await services.alerting.silences.create(caller, silence, None)


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
    found = await services.alerting.alerts.list(caller, active, PageRequest(limit=50, skip=0))
    for alert in found.items:
        note = ALERTS.notes.get(alert.agent_name)
        if note is not None and moment - alert.triggered_at >= _ACKNOWLEDGE_AFTER:
            await services.alerting.alerts.acknowledge(caller, alert.id, note)
