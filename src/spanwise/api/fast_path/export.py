"""The lane for small OTLP exports in protobuf of which nothing is rejected."""

from functools import partial

from starlette.types import Scope

from spanwise.api.auth import may_ingest
from spanwise.api.fast_path.dispatch import Asked, Begun, Lane, TellBegun
from spanwise.api.http.middleware import RequestMeter
from spanwise.api.http.rate_limits import Tier
from spanwise.api.otlp.responses import PATHS, PROTOBUF
from spanwise.api.services import Services
from spanwise.ingest.compression import unpack_small

# The server holds so much of each connection before anybody asks for it, so `BodyMemory` need not
# count it.
MAX_BODY_BYTES = 65_536
_MAX_DIGITS = len(str(MAX_BODY_BYTES))
_MEDIA_TYPE = PROTOBUF.encode()
_PACKED = (b"content-encoding", b"gzip")
_ENCODINGS = {b"", b"gzip"}


class ExportLane(Lane):
    awaits_body = True

    def __init__(self, services: Services, meter: RequestMeter) -> None:
        super().__init__(services, meter, Tier.INGESTION, may_ingest)
        self._receiver = services.receiver

    def takes(self, scope: Scope) -> bool:
        if scope["method"] != "POST" or scope["path"] not in PATHS:
            return False
        # Of a name that comes twice the first counts, as everywhere.
        headers = dict(scope["headers"][::-1])
        size = headers.get(b"content-length", b"")
        return (
            headers.get(b"content-type") == _MEDIA_TYPE
            and headers.get(b"content-encoding", b"") in _ENCODINGS
            and size.isdigit()
            and len(size) <= _MAX_DIGITS
            and int(size) <= MAX_BODY_BYTES
        )

    def answer(self, asked: Asked, body: bytes, tell: TellBegun) -> Begun | None:
        path = asked.scope["path"]
        is_packed = _PACKED in asked.scope["headers"]
        unpacked = unpack_small(body, MAX_BODY_BYTES) if is_packed else body
        if unpacked is None:
            return None
        # What is safe is said with an empty message.
        begun = self.write(asked, path, _MEDIA_TYPE, b"")
        begun.is_waiting = True
        is_taken = self._receiver.enqueue_otlp(
            asked.caller.workspace_id, PATHS[path], unpacked, partial(tell, begun)
        )
        return begun if is_taken else None
