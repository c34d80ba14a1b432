"""Starts the periodic alert jobs: evaluate rules, send notifications, delete old deliveries."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import datetime

from spanwise.jobs.alert_evaluation import AlertEvaluator
from spanwise.jobs.notifications import NotificationSender
from spanwise.jobs.periodic import Periodic
from spanwise.services.alerts.evaluation_health import AlertJobs

Clock = Callable[[], datetime]

SEND_SECONDS = 2
CLEANUP_SECONDS = 3600


async def start_alerting(
    stack: AsyncExitStack,
    evaluator: AlertEvaluator,
    sender: NotificationSender,
    *,
    is_only_process: bool,
) -> AlertJobs:
    """Start the jobs; the stack stops them. `is_only_process`: no other process uses the stores."""
    if is_only_process:
        await sender.release_claims()
    jobs = [
        Periodic(
            "evaluate_alerts", evaluator.health.interval_seconds, evaluator.run, run_on_stop=False
        ),
        Periodic("send_notifications", SEND_SECONDS, sender.run, run_on_stop=False),
        Periodic("drop_old_deliveries", CLEANUP_SECONDS, sender.drop_old, run_on_stop=False),
    ]
    stack.push_async_callback(evaluator.release)
    for job in jobs:
        job.start()
        stack.push_async_callback(job.stop)
    return AlertJobs(evaluator.health, evaluator.run, sender.run, lambda: sender.pending)
