"""The protocol that the server runs for each connection."""

import asyncio
from collections.abc import Callable
from typing import Any

from spanwise.api.fast_path import ExportFastPath
from spanwise.api.http.anonymous_limits import READ_BYTES, REQUEST_SECONDS
from spanwise.api.protocol.fast_path_dispatch import FastPathDispatch
from spanwise.api.protocol.request_limits import RequestLimits


class ServerProtocol(FastPathDispatch, RequestLimits):
    """uvicorn's protocol with limits and the fast path; each base calls the next one."""


class BoundedReads(asyncio.BufferedProtocol):
    """Passes at most READ_BYTES per read to the protocol.

    uvloop reads up to 250 KiB at once, which an unauthenticated request would have to hold.
    """

    # Filled and emptied within one iteration of the event loop, so all connections share it.
    _buffer = memoryview(bytearray(READ_BYTES))

    def __init__(self, protocol: ServerProtocol) -> None:
        self._data_received = protocol.data_received
        # Assigned instead of delegated: one call less per event; mypy rejects it for methods.
        self.connection_made = protocol.connection_made  # type: ignore[method-assign]
        self.connection_lost = protocol.connection_lost  # type: ignore[method-assign]
        self.pause_writing = protocol.pause_writing  # type: ignore[method-assign]
        self.resume_writing = protocol.resume_writing  # type: ignore[method-assign]

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._data_received(bytes(self._buffer[:nbytes]))


def new_protocol_factory(
    fast_path: ExportFastPath | None = None, request_seconds: float = REQUEST_SECONDS
) -> Callable[..., BoundedReads]:
    """Return the function that uvicorn calls for each connection."""
    attributes = {"fast_path": fast_path, "request_seconds": request_seconds}
    protocol = type("ConfiguredProtocol", (ServerProtocol,), attributes)

    def new_protocol(**options: Any) -> BoundedReads:  # noqa: ANN401 -- uvicorn's options
        return BoundedReads(protocol(**options))

    return new_protocol
