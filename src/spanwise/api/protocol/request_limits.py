"""Limits what a connection may use before authentication, and rejects invalid HTTP.

The number, size and arrival time of headers are limited, excess pipelined requests stay unparsed,
and a client that does not read its response is disconnected. Invalid HTTP gets an error in the
envelope, and upgrades are ignored.
"""

import asyncio
import re
from typing import cast

import httptools
from starlette.types import Scope
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from spanwise.api.http.anonymous_limits import (
    MAX_FRAMING_BYTES,
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MAX_PARAMETERS,
    MAX_PIPELINED,
    MAX_URL_BYTES,
    REQUEST_SECONDS,
)
from spanwise.api.http.errors import error_response
from spanwise.api.http.headers import encode_headers
from spanwise.model.accounts import Principal
from spanwise.model.errors import Invalid

# Occurs in every request line, so it bounds the number of requests in a packet.
_HTTP_VERSION = b" HTTP/1."
_CHUNK_BYTES = 512
# The size of a chunk and two line ends, with some space for an extension.
_CHUNK_FRAMING_BYTES = 64
# A host name or an address with an optional port, or nothing.
_HOST = re.compile(rb"(?:[\w.-]+|\[[\da-fA-F:.]+\])?(?::\d{1,5})?")


class RequestLimits(HttpToolsProtocol):
    request_seconds = REQUEST_SECONDS
    # True from the first byte of a request to the end of its headers.
    _is_in_headers = False
    _header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    # Received since the request began that are neither complete headers nor content of a body.
    _unparsed_bytes = 0
    _rejection: Invalid | None = None
    _is_feeding_backlog = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast("asyncio.Transport", transport))
        self._backlog = bytearray()
        self._start_header_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_header_timer()
        self._stop_write_timer()

    def data_received(self, data: bytes) -> None:
        if self._backlog or data.count(_HTTP_VERSION) > MAX_PIPELINED:
            self._backlog += data
            self._feed_backlog()
        else:
            self._feed(data)

    def _feed_backlog(self) -> None:
        """Parse up to MAX_PIPELINED requests and keep the others as bytes.

        A request of 18 bytes takes 4 KB once it is parsed.
        """
        if self._is_feeding_backlog:
            return
        self._is_feeding_backlog = True
        while self._backlog and len(self.pipeline) < MAX_PIPELINED:
            chunk = bytes(self._backlog[:_CHUNK_BYTES])
            del self._backlog[:_CHUNK_BYTES]
            self._feed(chunk)
        self._is_feeding_backlog = False
        if self._backlog:
            self.flow.pause_reading()

    def _feed(self, data: bytes) -> None:
        if self._rejection is not None or self.transport.is_closing():
            return
        self._unparsed_bytes += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if self._is_upgrade():
                self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError as error:
            # An exception raised in our callbacks is the context of the parser's error.
            cause = error.__context__ if isinstance(error.__context__, Invalid) else None
            self._reject(cause or Invalid("this is not a valid HTTP request"))
        else:
            self._limit_unparsed_bytes()

    def _limit_unparsed_bytes(self) -> None:
        """Reject an endless header, trailer or chunk extension, which the parser would buffer."""
        if self._is_in_headers and self._unparsed_bytes > MAX_HEAD_BYTES:
            self._reject(_headers_too_large())
        elif not self._is_in_headers and self._unparsed_bytes > MAX_FRAMING_BYTES:
            reason = f"chunk extensions and trailers are larger than {MAX_FRAMING_BYTES:,} bytes"
            self._reject(Invalid(reason))
        elif self._is_in_headers and self._header_timer is None:
            self._start_header_timer()

    def _reject(self, reason: Invalid) -> None:
        """Respond 400 and close, after the responses to earlier requests on the connection."""
        self._rejection = reason
        self._stop_header_timer()
        if self._is_idle() or not self._is_in_headers:
            self._send_rejection()

    def _is_idle(self) -> bool:
        """Return whether every request so far has its response."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete

    def _send_rejection(self) -> None:
        if self._rejection is None or self.transport.is_closing():
            return
        # In the middle of another response it would be read as part of that response.
        if self._is_idle() or not self.cycle.response_started:
            response = error_response(self._rejection)
            headers = encode_headers([*response.raw_headers, (b"connection", b"close")])
            body = bytes(response.body)
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\n%b\r\n%b" % (headers, body))
        self.transport.close()

    def _start_header_timer(self) -> None:
        self._header_timer = self.loop.call_later(self.request_seconds, self._end_slow_headers)

    def _stop_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _end_slow_headers(self) -> None:
        if self.flow.read_paused or self._backlog:
            # Reading is paused, so the delay is not the client's.
            self._start_header_timer()
        elif self._is_in_headers:
            self._reject(Invalid(f"the headers did not arrive within {self.request_seconds:g} s"))
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
        """Close the connection of an unauthenticated caller that does not read the response.

        An authenticated one may be saving a download to a slow disk.
        """
        state = cast("Scope", self.cycle.scope)["state"]
        if not isinstance(state.get("principal"), Principal):
            self.transport.abort()

    def _ignore_upgrade(self, rest: bytes) -> None:
        """Parse a request with an `Upgrade` header again, without that header.

        The parser treats everything after such a request as another protocol. It would skip the
        body, and an export would be acknowledged without being stored.
        """
        parser = httptools.HttpRequestParser(self)
        parser.set_dangerous_leniencies(lenient_data_after_close=True)
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        headers = encode_headers(header for header in self.headers if header[0] != b"upgrade")
        self.parser = parser
        self._feed(b"%b %b HTTP/%b\r\n%b\r\n" % (method, self.url, version, headers) + rest)

    def _is_upgrade(self) -> bool:
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._is_in_headers = True
        self._unparsed_bytes = 0
        # Only a new request stops the keep-alive timer. uvicorn stops it on any data, so the rest
        # of an unread body could keep the connection open.
        self._unset_keepalive_if_required()

    def on_header(self, name: bytes, value: bytes) -> None:
        # Trailers have no effect, and uvicorn would keep them all.
        if not self._is_in_headers:
            return
        if len(self.headers) == MAX_HEADERS:
            raise Invalid(f"a request may have {MAX_HEADERS} headers at most")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._check_headers()
        self._stop_header_timer()
        self._is_in_headers = False
        self._unparsed_bytes = 0
        if not self._is_upgrade():
            super().on_headers_complete()

    def _check_headers(self) -> None:
        if len(self.url) > MAX_URL_BYTES:
            raise Invalid(f"the URL is longer than {MAX_URL_BYTES:,} bytes")
        if self.url.count(b"&") >= MAX_PARAMETERS:
            raise Invalid(f"the URL has more than {MAX_PARAMETERS} parameters")
        size_bytes = len(self.url)
        hosts = []
        for name, value in self.headers:
            size_bytes += len(name) + len(value)
            if name == b"host":
                hosts.append(value)
        if size_bytes > MAX_HEAD_BYTES:
            raise _headers_too_large()
        if len(hosts) != 1 and (hosts or self.parser.get_http_version() != "1.0"):
            raise Invalid("a request must have one Host header")
        if hosts and not _HOST.fullmatch(hosts[0]):
            raise Invalid("the Host header is not a host name with an optional port")

    def on_chunk_header(self) -> None:
        self._parsed_bytes(_CHUNK_FRAMING_BYTES)

    def on_body(self, body: bytes) -> None:
        self._parsed_bytes(len(body))
        super().on_body(body)

    def _parsed_bytes(self, size_bytes: int) -> None:
        self._unparsed_bytes = max(0, self._unparsed_bytes - size_bytes)

    def on_message_complete(self) -> None:
        self._unparsed_bytes = 0
        if not self._is_upgrade():
            super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_in_headers:
            self._unset_keepalive_if_required()
        if self._backlog:
            self._feed_backlog()
        if self._is_idle():
            self._send_rejection()


def _headers_too_large() -> Invalid:
    return Invalid(f"the headers are larger than {MAX_HEAD_BYTES:,} bytes")
