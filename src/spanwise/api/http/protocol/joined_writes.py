"""Sends the headers of a response together with the start of its body.

uvicorn writes them separately, which takes two system calls and wakes the client twice.
"""

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_INFORMATIONAL = b"HTTP/1.1 100 "


class JoinedWritesTransport:
    """Holds the headers of each response back until its body is written."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._headers: bytes | None = None
        self._has_started = False

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- everything else is delegated
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if self._headers is not None:
            self._transport.writelines([self._headers, data])
            self._headers = None
        elif self._has_started or data.startswith(_INFORMATIONAL):
            self._transport.write(data)
        else:
            self._headers, self._has_started = data, True

    def end_response(self) -> None:
        """Send headers that had no body; the next write starts another response."""
        if self._headers is not None:
            self._transport.write(self._headers)
        self._headers, self._has_started = None, False

    def close(self) -> None:
        self.end_response()
        self._transport.close()


class JoinedWrites(HttpToolsProtocol):
    """Gives every connection a JoinedWritesTransport."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._joined = JoinedWritesTransport(cast("asyncio.Transport", transport))
        super().connection_made(cast("asyncio.Transport", self._joined))

    def on_response_complete(self) -> None:
        self._joined.end_response()
        super().on_response_complete()
