"""HTTP as the server speaks it, but for three things.

An answer's head leaves together with its body, plain requests of some kinds take a lane of their
own, and a request that cannot be read gets an envelope.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from starlette.types import Scope
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from spanwise.api.errors import answer_error
from spanwise.api.lane import Begun, Lane
from spanwise.model.errors import Invalid, Unavailable

# How long the rest of a request may take that has begun to come.
PATIENCE_SECONDS = 1.0
_INTERIM = b"HTTP/1.1 100 "


class JoiningTransport:
    """Holds the head of each answer back until its body comes, and sends both at once.

    Apart they are two calls to the system and wake the client twice.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head: bytes | None = None
        self._has_begun = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- all else is as it was
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._head is not None:
            self._transport.writelines([self._head, data])
            self._head = None
        elif self._has_begun or data.startswith(_INTERIM):
            self._transport.write(data)
        else:
            self._head, self._has_begun = data, True

    def write_whole(self, answer: bytes) -> None:
        """Send an answer that needs nothing else."""
        self._transport.write(answer)

    def end_answer(self) -> None:
        """Send the head of an answer that has no body; what comes next is another's head."""
        if self._head is not None:
            self._transport.write(self._head)
        self._head, self._has_begun = None, False

    def close(self) -> None:
        self.end_answer()
        self._transport.close()


@dataclass(slots=True)
class _Held:
    """A request for a lane whose body is not there yet."""

    cycle: RequestResponseCycle
    app: ASGI3Application
    lane: Lane
    patience: asyncio.TimerHandle


class EnvelopeProtocol(HttpToolsProtocol):
    """Speaks HTTP; some requests take a lane, one that is no HTTP gets an envelope."""

    lanes: Sequence[Lane]
    _held: _Held | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._joining = JoiningTransport(cast("asyncio.Transport", transport))
        super().connection_made(cast("asyncio.Transport", self._joining))

    def connection_lost(self, exc: Exception | None) -> None:
        self._let_go()
        super().connection_lost(exc)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        # The one before it may have been answered from within the same packet.
        self._unset_keepalive_if_required()
        lane = self._find_lane(cycle)
        if lane is None:
            super()._start_asgi_task(cycle, app)
        elif lane.awaits_body and cycle.more_body:
            patience = self.loop.call_later(PATIENCE_SECONDS, self._lose_patience)
            self._held = _Held(cycle, app, lane, patience)
        else:
            self._begin(cycle, app, lane)

    def _find_lane(self, cycle: RequestResponseCycle) -> Lane | None:
        # With others in line behind it, an answer at once would begin the next from within.
        if self.pipeline or cycle.flow.write_paused or cycle.waiting_for_100_continue:
            return None
        for lane in self.lanes:
            if lane.takes(cast("Scope", cycle.scope)):
                return lane
        return None

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if (held := self._let_go()) is not None:
            self._begin(held.cycle, held.app, held.lane)

    def _lose_patience(self) -> None:
        """Leave a request that comes slowly to the ordinary way, which has its rules for that."""
        if (held := self._let_go()) is not None:
            super()._start_asgi_task(held.cycle, held.app)

    def _let_go(self) -> _Held | None:
        held, self._held = self._held, None
        if held is not None:
            held.patience.cancel()
        return held

    def _begin(self, cycle: RequestResponseCycle, app: ASGI3Application, lane: Lane) -> None:
        tell = partial(self._answer_stored, cycle, app)
        begun = lane.begin(cast("Scope", cycle.scope), bytes(cycle.body), tell)
        if begun is None:
            super()._start_asgi_task(cycle, app)
        elif not begun.is_waiting:
            self._answer(cycle, begun)

    def _answer_stored(
        self,
        cycle: RequestResponseCycle,
        app: ASGI3Application,
        begun: Begun,
        failure: Unavailable | None,
    ) -> None:
        if failure is not None:
            # Nothing was kept. The ordinary way tries again, or says why it cannot be.
            super()._start_asgi_task(cycle, app)
        else:
            self._answer(cycle, begun)

    def _answer(self, cycle: RequestResponseCycle, begun: Begun) -> None:
        if not cycle.disconnected and not self.transport.is_closing():
            headers = [*self.server_state.default_headers]
            if not cycle.keep_alive:
                headers.append((b"connection", b"close"))
            head = b"".join(b"%b: %b\r\n" % header for header in headers)
            cycle.response_started = cycle.response_complete = True
            self._joining.write_whole(b"HTTP/1.1 200 OK\r\n" + head + begun.answer)
            if not cycle.keep_alive:
                self.transport.close()
            self.on_response_complete()
        begun.note_sent()

    def on_response_complete(self) -> None:
        self._joining.end_answer()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        answer = answer_error(Invalid("this is not a valid HTTP request"))
        headers = [*answer.raw_headers, (b"connection", b"close")]
        head = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
        self.transport.write(b"HTTP/1.1 400 Bad Request\r\n" + head + b"\r\n" + bytes(answer.body))
        self.transport.close()


def with_lanes(*lanes: Lane) -> type[EnvelopeProtocol]:
    """Make the class that the server makes an object of for each connection."""
    return type("LaneProtocol", (EnvelopeProtocol,), {"lanes": lanes})
