"""Tries the fast path before uvicorn starts a task for the ASGI application."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import cast

from starlette.types import Scope
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from spanwise.api.fast_path import ExportFastPath, FastPathRequest, FastPathResponse
from spanwise.api.http.headers import encode_headers
from spanwise.model.errors import Unavailable

# A request whose body takes longer to arrive goes to the normal path.
BODY_WAIT_SECONDS = 1.0


@dataclass(slots=True)
class _PendingRequest:
    """A request for the fast path whose body has not arrived yet."""

    cycle: RequestResponseCycle
    app: ASGI3Application
    fast_path: ExportFastPath
    request: FastPathRequest
    timer: asyncio.TimerHandle


class FastPathDispatch(HttpToolsProtocol):
    fast_path: ExportFastPath | None = None
    _pending: _PendingRequest | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        # The normal path counts and logs a request whose connection was lost.
        self._start_pending_normally()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        # A response sent from here would start the next pipelined request recursively.
        if self.pipeline or cycle.flow.write_paused or cycle.waiting_for_100_continue:
            super()._start_asgi_task(cycle, app)
            return
        fast_path = self.fast_path
        request = fast_path.match(cast("Scope", cycle.scope)) if fast_path is not None else None
        if fast_path is None or request is None:
            super()._start_asgi_task(cycle, app)
        else:
            self._dispatch(cycle, app, fast_path, request)

    def _dispatch(
        self,
        cycle: RequestResponseCycle,
        app: ASGI3Application,
        fast_path: ExportFastPath,
        request: FastPathRequest,
    ) -> None:
        if cycle.more_body:
            timer = self.loop.call_later(BODY_WAIT_SECONDS, self._start_pending_normally)
            self._pending = _PendingRequest(cycle, app, fast_path, request, timer)
            return
        on_committed = partial(self._respond_committed, cycle, app)
        if fast_path.handle(request, bytes(cycle.body), on_committed) is None:
            super()._start_asgi_task(cycle, app)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if (pending := self._take_pending()) is not None:
            self._dispatch(pending.cycle, pending.app, pending.fast_path, pending.request)

    def _start_pending_normally(self) -> None:
        if (pending := self._take_pending()) is not None:
            super()._start_asgi_task(pending.cycle, pending.app)

    def _take_pending(self) -> _PendingRequest | None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.timer.cancel()
        return pending

    def _respond_committed(
        self,
        cycle: RequestResponseCycle,
        app: ASGI3Application,
        response: FastPathResponse,
        failure: Unavailable | None,
    ) -> None:
        if failure is not None:
            # Nothing was stored. The normal path tries again, or responds with the reason.
            super()._start_asgi_task(cycle, app)
        else:
            self._respond(cycle, response)

    def _respond(self, cycle: RequestResponseCycle, response: FastPathResponse) -> None:
        if not cycle.disconnected and not self.transport.is_closing():
            headers = [*self.server_state.default_headers]
            if not cycle.keep_alive:
                headers.append((b"connection", b"close"))
            cycle.response_started = cycle.response_complete = True
            # An idle connection keeps its last cycle, so the body is released here.
            cycle.body = bytearray()
            start = b"HTTP/1.1 200 OK\r\n" + encode_headers(headers)
            self.transport.write(start + response.headers_and_body)
            if not cycle.keep_alive:
                self.transport.close()
            self.on_response_complete()
        response.record_sent()
