"""The `spanwise` command in a process forked from one that has already imported it.

Imports take most of the time of a start, and hundreds of tests start the command. It is still a
real process with separate memory, signals, standard streams and exit code.
"""

import atexit
import io
import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

# The modules are loaded in the fork server, where no engine runs that a fork would copy.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        *("spanwise.cli.serve", "spanwise.cli.demo", "spanwise.cli.doctor", "spanwise.cli.migrate"),
        *("spanwise.cli.user", "spanwise.cli.export", "spanwise.cli.import_"),
        *("spanwise.storage.telemetry.write.writer", "spanwise.storage.catalog"),
        "spanwise.ingest.otlp.from_rest",
    ]
)


class Process(Protocol):
    """The part of `subprocess.Popen` that tests use."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


class ForkedProcess:
    """A command that was started by the fork server."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        *streams: Path | None,
    ) -> None:
        given = (list(arguments), folder, dict(environment), streams)
        self._process = PROCESSES.Process(target=_run_command, args=given)
        self._process.start()
        self.pid = self._process.pid or 0

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise TimeoutError(f"the process has not ended within {timeout} s")
        return code

    def send_signal(self, sig: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _run_command(
    arguments: list[str],
    folder: Path,
    environment: dict[str, str],
    streams: tuple[Path | None, ...],
) -> None:
    """Run the command as if it had just been started; `streams` are stdin, stdout and stderr."""
    for number, path in enumerate(streams):
        if path is not None:
            mode = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
            os.dup2(os.open(path, mode, 0o644), number)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["spanwise", *arguments]
    main: Any = __import__("spanwise.cli", fromlist=["main"]).main
    try:
        main()
    finally:
        # Processes of `multiprocessing` leave these out.
        atexit._run_exitfuncs()
