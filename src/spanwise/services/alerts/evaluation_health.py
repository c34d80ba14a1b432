"""Health of alert evaluation, and the handles to run alert jobs on demand."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

EvaluationState = Literal["ok", "failing", "stalled"]

_STALLED_AFTER_INTERVALS = 5
_MIN_STALL_SECONDS = 30


@dataclass
class EvaluationHealth:
    """Updated by the evaluator; passes by another replica count too."""

    interval_seconds: float
    started_at: float = field(default_factory=time.monotonic)
    last_pass_at: float | None = None
    last_success_at: datetime | None = None
    last_seconds: float = 0.0
    passes: int = 0
    failures: int = 0
    is_failing: bool = False
    rules: int = 0

    @property
    def state(self) -> EvaluationState:
        """`failing` if the last pass failed, `stalled` if no pass has ended for too long."""
        if self.is_failing:
            return "failing"
        since = self.last_pass_at or self.started_at
        limit = max(self.interval_seconds * _STALLED_AFTER_INTERVALS, _MIN_STALL_SECONDS)
        return "stalled" if time.monotonic() - since > limit else "ok"


@dataclass(frozen=True)
class AlertJobs:
    """Handles of the periodic alert jobs, for metrics and for running them on demand."""

    health: EvaluationHealth
    evaluate: Callable[[], Awaitable[None]]
    send: Callable[[], Awaitable[None]]
    count_pending: Callable[[], int]
