"""A pytest plugin that shows what each test file costs: `make test-profile`.

Counts what happens in the test processes: batches written, statements of the embedded engine,
services started. Browsers and processes that tests start appear as seconds only.
"""

import functools
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from typing import Any

import pytest
from clickhouse_connect.driver._backend.chdb_backend import ChdbBackend

import support.service
from spanwise.storage.telemetry.write.writer import TelemetryWriter

_STATEMENTS = (
    "execute_query",
    "execute_command",
    "execute_data_insert",
    "execute_raw_insert",
    "execute_raw_query",
    "execute_raw_stream",
)
_COLUMNS = ("seconds", "cpu", "engine", "batches", "statements", "services", "tests")
_MOST_ROWS = 60

_counts: Counter[str] = Counter()


def _count(owner: Any, method: str, name: str, *, timed: str | None = None) -> None:
    original = getattr(owner, method)

    @functools.wraps(original)
    def counted(*args: Any, **options: Any) -> Any:
        _counts[name] += 1
        started = time.perf_counter()
        try:
            return original(*args, **options)
        finally:
            if timed:
                _counts[timed] += int((time.perf_counter() - started) * 1e6)

    setattr(owner, method, counted)


def pytest_configure(config: pytest.Config) -> None:
    for method in _STATEMENTS:
        _count(ChdbBackend, method, "statements", timed="engine")
    _count(TelemetryWriter, "insert", "batches")
    _count(support.service, "open_services", "services")
    config.pluginmanager.register(_Report(), "cost-report")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to each phase what has happened since the phase before it."""
    report = yield
    cost = {**_take_counts(), "seconds": int(call.duration * 1e6), "tests": call.when == "call"}
    report.user_properties.append(("cost", cost))
    return report


_cpu_before = [time.process_time()]


def _take_counts() -> dict[str, int]:
    now = time.process_time()
    taken = {**_counts, "cpu": int((now - _cpu_before[0]) * 1e6)}
    _counts.clear()
    _cpu_before[0] = now
    return taken


class _Report:
    """Sums the costs of all workers by file and by folder."""

    def __init__(self) -> None:
        self._by_file: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, cost in report.user_properties:
            if name == "cost" and isinstance(cost, dict):
                self._by_file[report.nodeid.split("::")[0]].update(cost)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        by_folder: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for path, costs in self._by_file.items():
            by_folder[path.split("/")[1]].update(costs)
        write = terminalreporter.write_line
        total = sum(self._by_file.values(), Counter())
        for title, table in (("folder", by_folder), ("file", self._by_file)):
            write(f"{title:72}" + "".join(f"{name:>11}" for name in _COLUMNS))
            rows = sorted(table.items(), key=lambda row: -row[1]["seconds"])
            for name, costs in [*rows[:_MOST_ROWS], ("sum", total)]:
                write(f"{name[-71:]:72}" + "".join(_show(column, costs) for column in _COLUMNS))


def _show(column: str, costs: Counter[str]) -> str:
    is_time = column in {"seconds", "cpu", "engine"}
    return f"{costs[column] / 1e6:11.1f}" if is_time else f"{costs[column]:11,}"
