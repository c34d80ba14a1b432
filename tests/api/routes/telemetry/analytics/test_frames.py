"""An analytics query takes at most five of our frames from the route function to the driver."""

import asyncio
import sys
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

import spanwise
from support.service import Person, Service
from support.slices import slice_everything
from support.spans import child_of, new_span, send

MAX_FRAMES = 5
SOURCE = str(Path(spanwise.__file__).parent)
ROUTES = str(Path(SOURCE, "api", "routes"))
DAY = datetime(2026, 3, 10, 12, tzinfo=UTC)
RANGE = {"startDate": "2026-03-08T06:30:00Z", "endDate": "2026-03-12T18:45:00Z"}
PATHS = {
    "/metrics": "analytics.Analytics.metrics",
    "/costs": "analytics.Analytics.costs",
    "/traces/success-failure": "analytics.Analytics.outcomes",
    "/traces/requests-over-time": "analytics.Analytics.requests",
    "/traces/latency-percentiles": "analytics.Analytics.percentiles",
    "/traces/latency-distribution": "analytics.Analytics.latencies",
    "/traces/token-usage": "analytics.Analytics.tokens",
    "/traces/errors-by-type": "analytics.Analytics.errors",
    "/traces/error-rate": "analytics.Analytics.error_rate",
    "/traces/tool-usage": "analytics.Analytics.tools",
}

Frames = list[CodeType]


def running_frames(frame: FrameType | None) -> Frames:
    """Return our functions on the stack of this thread, the innermost first."""
    found = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(SOURCE):
            found.append(frame.f_code)
        frame = frame.f_back
    return found


def awaiting_frames(task: asyncio.Task[Any]) -> Frames:
    """Return our coroutines that await a task by `gather`, the innermost first."""
    for parent in asyncio.all_tasks():
        if task in getattr(parent._fut_waiter, "_children", ()):  # type: ignore[attr-defined]
            coroutine: Any = parent.get_coro()
            found = []
            while hasattr(coroutine, "cr_code"):
                if coroutine.cr_code.co_filename.startswith(SOURCE):
                    found.append(coroutine.cr_code)
                coroutine = coroutine.cr_await
            return [*reversed(found), *awaiting_frames(parent)]
    return []


class StackRecorder:
    """Records the frames of every engine query: up to the hand-over, and in the reader thread."""

    def __init__(self) -> None:
        self.stacks: list[list[str]] = []
        self.thread_stacks: list[list[str]] = []

    def clear(self) -> None:
        self.stacks.clear()
        self.thread_stacks.clear()

    def record_hand_over(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        frames = [*running_frames(sys._getframe()), *awaiting_frames(task)]
        # Up to the route function; the frames outside are the same for every request.
        files = [frame.co_filename.startswith(ROUTES) for frame in frames]
        if any(files):
            self.stacks.append([name_of(code) for code in frames[: files.index(True) + 1]])

    def record_driver_call(self) -> None:
        frames = running_frames(sys._getframe())
        # The outermost frame is the loop of the reader thread, which waits for the next query.
        pool = frames[-1].co_filename
        self.thread_stacks.append([name_of(code) for code in frames if code.co_filename != pool])


def name_of(code: CodeType) -> str:
    return f"{Path(code.co_filename).stem}.{code.co_qualname}"


@pytest.fixture
def recorder(service: Service, monkeypatch: pytest.MonkeyPatch) -> StackRecorder:
    found = StackRecorder()
    wrap, driver = asyncio.wrap_future, type(service.services.engine._all_clients[0])
    query = driver.query

    def wrap_future(future: Future[Any], **options: Any) -> asyncio.Future[Any]:
        found.record_hand_over()
        return wrap(future, **options)

    def record_query(client: Client, *arguments: Any, **options: Any) -> Any:
        # Background jobs query for all workspaces.
        if "workspace" in options.get("parameters", {}):
            found.record_driver_call()
        return query(client, *arguments, **options)

    monkeypatch.setattr(asyncio, "wrap_future", wrap_future)
    monkeypatch.setattr(driver, "query", record_query)
    return found


@pytest.fixture
async def ada(service: Service) -> Person:
    """A user with traces in clean hours, in clean slices and in dirty ones."""
    ada = await service.sign_up()
    rollup = await slice_everything(service, service.services.prices._price_sync._writer)
    service.services.analytics._rollup = rollup
    for hours in (-30, 0):
        root = new_span(DAY + timedelta(hours=hours), 100, agentName="planner")
        await send(ada, root, child_of(root, kind="llm", model="m", inputTokens=100))
    await service.services.pipeline.wait_until_visible()
    await rollup.maintenance.update()
    await rollup.maintenance.update_slices()
    await send(ada, new_span(DAY))
    # Dirty ranges and watermarks are cached from here on.
    await ada.data("GET", "/analytics/traces/list", params=RANGE)
    await ada.data("GET", "/analytics/traces/error-rate", params={**RANGE, "granularity": "weekly"})
    return ada


async def test_an_analytics_query_takes_at_most_five_frames(
    ada: Person, recorder: StackRecorder
) -> None:
    for path, method in PATHS.items():
        recorder.clear()
        await ada.data("GET", f"/analytics{path}", params=RANGE)
        assert recorder.stacks
        assert recorder.thread_stacks
        for stack in recorder.stacks:
            # The innermost is the engine, the outermost the route.
            assert stack[1:-1] == ["rollup.Rollup.answer", method]
            for in_thread in recorder.thread_stacks:
                assert in_thread
                assert len(stack) + len(in_thread) <= MAX_FRAMES, (in_thread, stack)
