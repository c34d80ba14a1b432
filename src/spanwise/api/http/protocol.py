"""uvicorn's HTTP protocol with five changes.

An answer's head leaves together with its body, plain requests of some kinds take a lane of their
own, an offer to speak something else than HTTP/1.1 is declined, a request that cannot be read gets
an envelope, and what a request costs before its caller is known is bounded.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import httptools
from starlette.types import Scope
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from spanwise.api.fast_path.dispatch import Asked, Begun, Lane
from spanwise.api.http.anonymous_limits import (
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_PARAMETERS,
    MAX_PIPELINED,
    MAX_URL_BYTES,
    READ_BYTES,
    REQUEST_SECONDS,
)
from spanwise.api.http.errors import answer_error
from spanwise.model.accounts import Principal
from spanwise.model.errors import Invalid, Unavailable

# How long a lane waits for the rest of a request before it leaves it to the ordinary way.
PATIENCE_SECONDS = 1.0
_INTERIM = b"HTTP/1.1 100 "
_REQUEST_SIGN = b" HTTP/1."
_PIECE_BYTES = 512


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

    lanes: Sequence[Lane] = ()
    request_seconds = REQUEST_SECONDS
    _held: _Held | None = None
    # From the first byte of a request to the end of its headers.
    _is_in_head = False
    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _has_progressed = False
    _stuck_bytes = 0
    _refusal: Invalid | None = None
    _is_feeding_backlog = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._joining = JoiningTransport(cast("asyncio.Transport", transport))
        super().connection_made(cast("asyncio.Transport", self._joining))
        self._backlog = bytearray()
        self._start_head_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_head_timer()
        self._stop_write_timer()
        # The ordinary way counts a request that was not finished.
        self._lose_patience()

    def data_received(self, data: bytes) -> None:
        if self._backlog or data.count(_REQUEST_SIGN) > MAX_PIPELINED:
            self._backlog += data
            self._feed_backlog()
        else:
            self._feed(data)

    def _feed_backlog(self) -> None:
        """Parse as many requests as may wait for their turn; the others stay as they were sent.

        A request of 18 bytes takes 4 KB once it is parsed.
        """
        if self._is_feeding_backlog:
            return
        self._is_feeding_backlog = True
        while self._backlog and len(self.pipeline) < MAX_PIPELINED:
            piece = bytes(self._backlog[:_PIECE_BYTES])
            del self._backlog[:_PIECE_BYTES]
            self._feed(piece)
        self._is_feeding_backlog = False
        if self._backlog:
            self.flow.pause_reading()

    def _feed(self, data: bytes) -> None:
        if self._refusal is not None or self.transport.is_closing():
            return
        self._has_progressed = False
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            if self._is_offer():
                self._decline(data[offer.args[0] :])
        except httptools.HttpParserError as error:
            # What a callback of ours has raised is in the context.
            ours = error.__context__ if isinstance(error.__context__, Invalid) else None
            self._refuse(ours or Invalid("this is not a valid HTTP request"))
        else:
            self._bound_stuck_bytes(len(data))

    def _bound_stuck_bytes(self, size_bytes: int) -> None:
        """Bound what completes neither a head nor a piece of a body: the parser gathers it.

        That is an endless header, or trailer field.
        """
        self._stuck_bytes = 0 if self._has_progressed else self._stuck_bytes + size_bytes
        if self._stuck_bytes > MAX_HEAD_BYTES:
            self._refuse(_head_too_large())
        elif self._is_in_head and self._head_timer is None:
            self._start_head_timer()

    def _refuse(self, reason: Invalid) -> None:
        """Answer 400 and close, after the answers to earlier requests on the connection."""
        self._refusal = reason
        self._stop_head_timer()
        if self._is_answered() or not self._is_in_head:
            self._send_refusal()

    def _is_answered(self) -> bool:
        """Say whether every request that came so far has its answer."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _send_refusal(self) -> None:
        if self._refusal is None or self.transport.is_closing():
            return
        # In the midst of an answer it would be taken for a part of it.
        if self._is_answered() or not self.cycle.response_started:
            answer = answer_error(self._refusal)
            headers = [*answer.raw_headers, (b"connection", b"close")]
            head = b"".join(b"%b: %b\r\n" % header for header in headers)
            body = bytes(answer.body)
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\n%b\r\n%b" % (head, body))
        self.transport.close()

    def _start_head_timer(self) -> None:
        self._head_timer = self.loop.call_later(self.request_seconds, self._end_slow_head)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _end_slow_head(self) -> None:
        if self.flow.read_paused or self._backlog:
            # The client cannot go on before the request ahead of this one is answered.
            self._start_head_timer()
        elif self._is_in_head:
            self._refuse(Invalid(f"the headers did not arrive within {self.request_seconds:g} s"))
        else:
            self.transport.close()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(self.request_seconds, self._end_slow_reader)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_write_timer()

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _end_slow_reader(self) -> None:
        """Close the connection of an unknown caller who does not take the answer.

        A known one may pass a download on to something slow.
        """
        state = cast("Scope", self.cycle.scope)["state"]
        if not isinstance(state.get("principal"), Principal):
            self.transport.abort()

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
        self._feed(b"%b %b HTTP/%b\r\n%b\r\n" % (method, self.url, version, lines) + rest)

    def _is_offer(self) -> bool:
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_head = self._has_progressed = True
        # Only a new request keeps the connection: the rest of a body that was not wanted has no
        # longer to come than a next request would have.
        self._unset_keepalive_if_required()

    def on_header(self, name: bytes, value: bytes) -> None:
        # Fields after a chunked body come too late to matter, and uvicorn would keep them all.
        if not self._is_in_head:
            return
        if len(self.headers) == MAX_HEADERS:
            raise Invalid(f"a request may have {MAX_HEADERS} headers at most")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._check_head()
        self._stop_head_timer()
        self._is_in_head = False
        self._has_progressed = True
        if not self._is_offer():
            super().on_headers_complete()

    def _check_head(self) -> None:
        if len(self.url) > MAX_URL_BYTES:
            raise Invalid(f"the address is longer than {MAX_URL_BYTES:,} bytes")
        if self.url.count(b"&") >= MAX_PARAMETERS:
            raise Invalid(f"the address has more than {MAX_PARAMETERS} parameters")
        size_bytes = len(self.url)
        for name, value in self.headers:
            size_bytes += len(name) + len(value)
        if size_bytes > MAX_HEAD_BYTES:
            raise _head_too_large()

    def on_body(self, body: bytes) -> None:
        self._has_progressed = True
        super().on_body(body)

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
        if self._is_in_head:
            self._unset_keepalive_if_required()
        if self._backlog:
            self._feed_backlog()
        if self._is_answered():
            self._send_refusal()


def _head_too_large() -> Invalid:
    return Invalid(f"the headers are larger than {MAX_HEAD_BYTES:,} bytes")


class BoundedReads(asyncio.BufferedProtocol):
    """Reads no more of a connection at a time than what may wait for its caller to be known.

    uvloop reads up to 250 KiB, all of which the request would have to hold.
    """

    # Filled and emptied within one turn of the loop, so all connections share it.
    _buffer = memoryview(bytearray(READ_BYTES))

    def __init__(self, protocol: EnvelopeProtocol) -> None:
        self._data_received = protocol.data_received
        self.connection_made = protocol.connection_made  # type: ignore[method-assign]
        self.connection_lost = protocol.connection_lost  # type: ignore[method-assign]
        self.pause_writing = protocol.pause_writing  # type: ignore[method-assign]
        self.resume_writing = protocol.resume_writing  # type: ignore[method-assign]

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._data_received(bytes(self._buffer[:nbytes]))


def with_lanes(
    *lanes: Lane, request_seconds: float = REQUEST_SECONDS
) -> Callable[..., BoundedReads]:
    """Make what the server calls for each connection."""
    protocol = type(
        "LaneProtocol", (EnvelopeProtocol,), {"lanes": lanes, "request_seconds": request_seconds}
    )

    def new_protocol(**options: Any) -> BoundedReads:  # noqa: ANN401 -- they are uvicorn's own
        return BoundedReads(protocol(**options))

    return new_protocol
