"""HTTP as the server speaks it, but for three things.

An answer's head leaves together with its body, a plain request for a variant takes a lane of its
own, and a request that cannot be read gets an envelope.
"""

import asyncio
from functools import partial
from typing import Any, cast

from starlette.types import Scope
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from spanwise.api.assign_lane import AssignLane, Begun
from spanwise.api.errors import answer_error
from spanwise.model.errors import Invalid, Unavailable

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

    def end_answer(self) -> None:
        """Send the head of an answer that has no body; what comes next is another's head."""
        if self._head is not None:
            self._transport.write(self._head)
        self._head, self._has_begun = None, False

    def close(self) -> None:
        self.end_answer()
        self._transport.close()


class EnvelopeProtocol(HttpToolsProtocol):
    """Speaks HTTP; a request for a variant takes the lane, one that is no HTTP gets an envelope."""

    lane: AssignLane

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._joining = JoiningTransport(cast("asyncio.Transport", transport))
        super().connection_made(cast("asyncio.Transport", self._joining))

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        # The one before it may have been answered from within the same packet.
        self._unset_keepalive_if_required()
        # With others in line behind it, an answer at once would begin the next from within.
        is_plain = not cycle.flow.write_paused and not self.pipeline
        begun = None
        if is_plain:
            tell = partial(self._answer_stored, cycle, app)
            begun = self.lane.begin(cast("Scope", cycle.scope), tell)
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
            self.transport.write(b"HTTP/1.1 200 OK\r\n" + head + begun.answer)
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


def with_lane(lane: AssignLane) -> type[EnvelopeProtocol]:
    """Make the class that the server makes an object of for each connection."""
    return type("LaneProtocol", (EnvelopeProtocol,), {"lane": lane})
