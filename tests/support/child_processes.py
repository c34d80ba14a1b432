"""Runs functions in child processes: to be killed, or because a process has one engine."""

import signal
from collections.abc import Callable
from multiprocessing.synchronize import Event
from typing import Any

from support.forking import PROCESSES

TIMEOUT_SECONDS = 180


def new_event() -> Event:
    return PROCESSES.Event()


def start_process(work: Callable[..., None], *arguments: Any) -> Any:
    process = PROCESSES.Process(target=work, args=arguments)
    process.start()
    return process


def run_process(work: Callable[..., None], *arguments: Any) -> bool:
    """Run to the end; False when it was killed. Any other failure fails the test."""
    process = start_process(work, *arguments)
    process.join(TIMEOUT_SECONDS)
    assert process.exitcode in {0, -signal.SIGKILL}, process.exitcode
    return bool(process.exitcode == 0)
