"""HTTP as the server speaks it, but for four things.

An answer's head leaves together with its body, plain requests of some kinds take a lane of their
own, an offer to speak something else than HTTP/1.1 is declined, and a request that cannot be read
gets an envelope.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import httptools
from starlette.types import Scope
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from spanwise.api.errors import answer_error
from spanwise.api.lane import Asked, Begun, Lane
from spanwise.model.errors import Invalid, Unavailable

# How long a lane waits for the rest of a request before it leaves it to the ordinary way.
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
    asked: Asked
    patience: asyncio.TimerHandle


class EnvelopeProtocol(HttpToolsProtocol):
    """Speaks HTTP; some requests take a lane, one that is no HTTP gets an envelope."""

    lanes: Sequence[Lane]
    _held: _Held | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._joining = JoiningTransport(cast("asyncio.Transport", transport))
        super().connection_made(cast("asyncio.Transport", self._joining))

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        # The ordinary way counts a request that was not finished.
        self._lose_patience()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            if self._is_offer():
                self._decline(data[offer.args[0] :])
        except httptools.HttpParserError:
            self.send_400_response("")

    def _decline(self, rest: bytes) -> None:
        """Read a request again that offers to go on in another protocol, without the offer.

        The parser would leave out its body, and an export would be told that it is stored.
        """
        parser = httptools.HttpRequestParser(self)
        parser.set_dangerous_leniencies(lenient_data_after_close=True)
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        headers = [header for header in self.headers if header[0] != b"upgrade"]
        lines = b"".join(b"%b: %b\r\n" % header for header in headers)
        self.parser = parser
        self.data_received(b"%b %b HTTP/%b\r\n%b\r\n" % (method, self.url, version, lines) + rest)

    def _is_offer(self) -> bool:
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def on_headers_complete(self) -> None:
        if not self._is_offer():
            super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        # The one before it may have been answered from within the same packet.
        self._unset_keepalive_if_required()
        # With others in line behind it, an answer at once would begin the next from within.
        if self.pipeline or cycle.flow.write_paused or cycle.waiting_for_100_continue:
            super()._start_asgi_task(cycle, app)
            return
        for lane in self.lanes:
            if (asked := lane.ask(cast("Scope", cycle.scope))) is not None:
                self._take(cycle, app, lane, asked)
                return
        super()._start_asgi_task(cycle, app)

    def _take(
        self, cycle: RequestResponseCycle, app: ASGI3Application, lane: Lane, asked: Asked
    ) -> None:
        if lane.awaits_body and cycle.more_body:
            patience = self.loop.call_later(PATIENCE_SECONDS, self._lose_patience)
            self._held = _Held(cycle, app, lane, asked, patience)
            return
        tell = partial(self._answer_stored, cycle, app)
        begun = lane.begin(asked, bytes(cycle.body), tell)
        if begun is None:
            super()._start_asgi_task(cycle, app)
        elif not begun.is_waiting:
            self._answer(cycle, begun)

    def on_message_complete(self) -> None:
        if self._is_offer():
            return
        super().on_message_complete()
        if (held := self._let_go()) is not None:
            self._take(held.cycle, held.app, held.lane, held.asked)

    def _lose_patience(self) -> None:
        """Leave a request that comes slowly to the ordinary way, which has its rules for that."""
        if (held := self._let_go()) is not None:
            super()._start_asgi_task(held.cycle, held.app)

    def _let_go(self) -> _Held | None:
        held, self._held = self._held, None
        if held is not None:
            held.patience.cancel()
        return held

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
            # An idle connection keeps its last cycle.
            cycle.body = bytearray()
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


def with_lanes(*lanes: Lane) -> type[EnvelopeProtocol]:
    """Make the class that the server makes an object of for each connection."""
    return type("LaneProtocol", (EnvelopeProtocol,), {"lanes": lanes})
