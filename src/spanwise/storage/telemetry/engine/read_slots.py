"""Shares query threads fairly: workspaces take turns, and none may occupy all of them."""

import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from clickhouse_connect.driver.client import Client

T = TypeVar("T")
Work = Callable[[Client], T]

# The workspace of the service's internal queries; it has no limit.
SERVICE = ""


class ReadSlots:
    """A few threads with one client each; queries of a workspace start in submission order.

    A client is opened when it is first needed: each takes 20 ms.
    """

    def __init__(
        self,
        name: str,
        size: int,
        new_client: Callable[[], Client],
        per_workspace: int,
        prepare_thread: Callable[[], None] = lambda: None,
    ) -> None:
        self._size = size
        self._new_client = new_client
        self._opened = 0
        self._idle: SimpleQueue[Client] = SimpleQueue()
        self._per_workspace = per_workspace
        self._prepare_thread = prepare_thread
        self._changed = threading.Condition()
        # Ordered: the workspace whose turn is next comes first.
        self._waiting: dict[str, deque[tuple[Future[Any], Work[Any]]]] = {}
        self._running: Counter[str] = Counter()
        self._is_closing = False
        # Daemon threads: a process that exits without closing the engine must not wait for them.
        self._threads = [
            threading.Thread(target=self._serve, name=f"telemetry-{name}-{number}", daemon=True)
            for number in range(size)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, workspace: str, work: Work[T]) -> Future[T]:
        """Run work with a client when it is the workspace's turn."""
        future: Future[T] = Future()
        with self._changed:
            if self._is_closing:
                raise RuntimeError("the telemetry engine is closed")
            self._waiting.setdefault(workspace, deque()).append((future, work))
            self._changed.notify()
        return future

    def take_client(self) -> Client:
        """Return an idle client, or a new one while there are fewer than slots."""
        try:
            return self._idle.get_nowait()
        except Empty:
            pass
        with self._changed:
            is_new = self._opened < self._size
            self._opened += is_new
        if not is_new:
            return self._idle.get()
        try:
            return self._new_client()
        except BaseException:
            with self._changed:
                self._opened -= 1
            raise

    def return_client(self, client: Client) -> None:
        self._idle.put(client)

    def close(self) -> None:
        """Finish all submitted work, then stop the threads."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        self._prepare_thread()
        while (taken := self._take()) is not None:
            workspace, future, work = taken
            if future.set_running_or_notify_cancel():
                self._run(future, work)
            with self._changed:
                self._running[workspace] -= 1
                if not self._running[workspace]:
                    del self._running[workspace]
                self._changed.notify_all()
            # Release the last query's result while this thread waits for the next.
            del taken, future, work

    def _run(self, future: Future[Any], work: Work[Any]) -> None:
        client = None
        try:
            client = self.take_client()
            outcome = work(client)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(outcome)
        finally:
            if client is not None:
                self.return_client(client)

    def _take(self) -> tuple[str, Future[Any], Work[Any]] | None:
        """Wait for a query that may start; None when closing and nothing is left."""
        with self._changed:
            while True:
                for workspace in self._waiting:
                    if workspace == SERVICE or self._running[workspace] < self._per_workspace:
                        return self._start(workspace)
                if self._is_closing and not self._waiting:
                    return None
                self._changed.wait()

    def _start(self, workspace: str) -> tuple[str, Future[Any], Work[Any]]:
        queries = self._waiting.pop(workspace)
        future, work = queries.popleft()
        if queries:
            self._waiting[workspace] = queries
        self._running[workspace] += 1
        return workspace, future, work
