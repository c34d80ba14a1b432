"""Reads from /proc what a process and all its descendants use, and what others use meanwhile."""

import os
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_SAMPLE_SECONDS = 1.0
_IDLE_WINDOW_SECONDS = 2.0
_IDLE_SHARE = 0.2


def find_tree(root: int) -> list[int]:
    """Return a process and its descendants, parents first."""
    children: dict[int, list[int]] = {}
    for path in _PROC.glob("[0-9]*/stat"):
        if fields := _read_stat(path):
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    tree = [root]
    for pid in tree:
        tree += children.get(pid, [])
    return tree


def cpu_seconds(root: int) -> float:
    stats = [_read_stat(_PROC / str(pid) / "stat") for pid in find_tree(root)]
    return sum(int(fields[11]) + int(fields[12]) for fields in stats if fields) / _TICKS


class OtherLoad:
    """Measures the CPU time of all processes but a tree and the benchmark itself."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._started = time.monotonic()
        self._before = self._cpu_seconds()

    def share(self) -> float:
        """Return the share of the cores that others used since the start."""
        capacity = (time.monotonic() - self._started) * (os.cpu_count() or 1)
        return max(0.0, self._cpu_seconds() - self._before) / capacity

    def _cpu_seconds(self) -> float:
        own = sum(os.times()[:4])
        return _busy_seconds() - cpu_seconds(self._root) - own


def _busy_seconds() -> float:
    """Return the CPU time of the machine since its start, without idle and waiting for disks."""
    user, nice, system, _idle, _wait, irq, softirq = (
        int(field) for field in (_PROC / "stat").read_text().split()[1:8]
    )
    return (user + nice + system + irq + softirq) / _TICKS


def wait_until_idle(root: int, max_seconds: float) -> None:
    """Wait until a product has finished the work that it still does after its start."""
    deadline = time.monotonic() + max_seconds
    while time.monotonic() < deadline:
        before = cpu_seconds(root)
        time.sleep(_IDLE_WINDOW_SECONDS)
        if cpu_seconds(root) - before < _IDLE_SHARE * _IDLE_WINDOW_SECONDS:
            return


class PeakMemory:
    """Samples the memory of a process tree in a thread, until the end of the block.

    The samples count pages that processes share once. A single process is known exactly, since the
    kernel keeps its peak: the larger of both is the result.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._peak_kb = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def megabytes(self) -> float:
        return self._peak_kb / 1024

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()
        self._sample()

    def _run(self) -> None:
        while not self._stopped.wait(_SAMPLE_SECONDS):
            self._sample()

    def _sample(self) -> None:
        tree = find_tree(self._root)
        together = sum(_read_kb(pid, "smaps_rollup", "Pss:") for pid in tree)
        peaks = [_read_kb(pid, "status", "VmHWM:") for pid in tree]
        self._peak_kb = max(self._peak_kb, together, *peaks)


def _read_stat(path: Path) -> list[str]:
    """Return the fields after the name, of which the second is the parent; empty if it ended."""
    try:
        return path.read_text().rpartition(") ")[2].split()
    except OSError:
        return []


def _read_kb(pid: int, file: str, name: str) -> int:
    try:
        lines = (_PROC / str(pid) / file).read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)
