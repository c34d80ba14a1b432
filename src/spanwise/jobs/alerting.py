"""Starts what runs by the clock for alerts: evaluation, sending, clearing away."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime

from spanwise.jobs.alerts import AlertEvaluator
from spanwise.jobs.notifications import NotificationSender
from spanwise.jobs.periodic import Periodic
from spanwise.services.alerts.evaluation_health import AlertJobs

Clock = Callable[[], datetime]

SEND_SECONDS = 2
CLEAR_SECONDS = 3600


async def start_alerting(
    stack: AsyncExitStack,
    evaluator: AlertEvaluator,
    sender: NotificationSender,
    *,
    is_alone: bool,
) -> AlertJobs:
    """Start the jobs; the stack stops them. `is_alone` says that no other process can run."""
    if is_alone:
        await sender.release_claims()
    jobs = [
        Periodic(
            "evaluate_alerts", evaluator.health.interval_seconds, evaluator.run, once_more=False
        ),
        Periodic("send_notifications", SEND_SECONDS, sender.run, once_more=False),
        Periodic("drop_old_deliveries", CLEAR_SECONDS, sender.drop_old, once_more=False),
    ]
    stack.push_async_callback(evaluator.release)
    for job in jobs:
        job.start()
        stack.push_async_callback(job.stop)
    return AlertJobs(evaluator.health, evaluator.run, sender.run, lambda: sender.pending)
