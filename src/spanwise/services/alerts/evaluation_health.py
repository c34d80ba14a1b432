"""Watching the watcher: how the evaluation of alert rules is doing."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

EvaluationState = Literal["ok", "failing", "stalled"]

_STALLED_AFTER_INTERVALS = 5
_LEAST_PATIENCE_SECONDS = 30


@dataclass
class EvaluationHealth:
    """Filled by the evaluation itself; a pass that another replica does counts as one."""

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
        """`failing` when the last pass failed, `stalled` when none has ended for long."""
        if self.is_failing:
            return "failing"
        since = self.last_pass_at or self.started_at
        patience = max(self.interval_seconds * _STALLED_AFTER_INTERVALS, _LEAST_PATIENCE_SECONDS)
        return "stalled" if time.monotonic() - since > patience else "ok"


@dataclass(frozen=True)
class AlertWatch:
    """What runs by the clock for alerts, for those who look at it or cannot wait for the clock."""

    health: EvaluationHealth
    evaluate: Callable[[], Awaitable[None]]
    send: Callable[[], Awaitable[None]]
    count_pending: Callable[[], int]
