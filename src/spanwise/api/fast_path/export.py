"""The fast path for small OTLP exports in protobuf that are accepted as a whole."""

from functools import partial

from starlette.types import Scope

from spanwise.api.auth import may_ingest
from spanwise.api.fast_path.fast_path import (
    FastPath,
    FastPathRequest,
    FastPathResponse,
    OnCommitted,
)
from spanwise.api.http.rate_limits import Tier
from spanwise.api.http.request_log import RequestLog
from spanwise.api.otlp.responses import ACCEPTED_PROTOBUF, PATHS, PROTOBUF
from spanwise.api.services import Services
from spanwise.ingest.compression import unpack_small

# uvicorn buffers this much per connection anyway, so ingest need not account for the memory.
MAX_BODY_BYTES = 65_536
_MAX_DIGITS = len(str(MAX_BODY_BYTES))
_MEDIA_TYPE = PROTOBUF.encode()
_GZIP = b"gzip"
_ENCODINGS = {b"", _GZIP}


class ExportFastPath(FastPath):
    def __init__(self, services: Services, request_log: RequestLog) -> None:
        super().__init__(services, request_log, Tier.INGESTION, may_ingest)
        self._receiver = services.receiver

    def is_candidate(self, scope: Scope) -> bool:
        if scope["method"] != "POST" or scope["path"] not in PATHS:
            return False
        headers = _first_headers(scope)
        size = headers.get(b"content-length", b"")
        return (
            headers.get(b"content-type") == _MEDIA_TYPE
            and headers.get(b"content-encoding", b"") in _ENCODINGS
            and size.isdigit()
            and len(size) <= _MAX_DIGITS
            and int(size) <= MAX_BODY_BYTES
        )

    def respond(
        self, request: FastPathRequest, body: bytes, on_committed: OnCommitted
    ) -> FastPathResponse | None:
        path = request.scope["path"]
        is_gzip = _first_headers(request.scope).get(b"content-encoding") == _GZIP
        message = unpack_small(body, MAX_BODY_BYTES) if is_gzip else body
        if message is None:
            return None
        response = self.build_response(request, path, _MEDIA_TYPE, ACCEPTED_PROTOBUF)
        is_accepted = self._receiver.enqueue_otlp(
            request.caller.sender, PATHS[path], message, partial(on_committed, response)
        )
        return response if is_accepted else None


def _first_headers(scope: Scope) -> dict[bytes, bytes]:
    """Return headers by name; the first of a repeated header wins, as on the normal path."""
    return dict(scope["headers"][::-1])
