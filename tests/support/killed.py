"""Processes of their own for work that is killed, or that must not share this one's engine."""

import signal
from collections.abc import Callable
from multiprocessing.synchronize import Event
from typing import Any

from support.forking import PROCESSES

SECONDS = 180


def new_event() -> Event:
    return PROCESSES.Event()


def start_process(work: Callable[..., None], *arguments: Any) -> Any:
    process = PROCESSES.Process(target=work, args=arguments)
    process.start()
    return process


def run_process(work: Callable[..., None], *arguments: Any) -> bool:
    """Run it to its end; False when it was killed. Anything else that goes wrong fails."""
    process = start_process(work, *arguments)
    process.join(SECONDS)
    assert process.exitcode in {0, -signal.SIGKILL}, process.exitcode
    return bool(process.exitcode == 0)
