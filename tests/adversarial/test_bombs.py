"""Small bodies that become large are refused at every door, and nothing of them is stored."""

import gzip
import time
import zlib

import pytest
import zstandard

from spanwise.api.http.paths import EXPORT_PATHS
from spanwise.api.routes.telemetry.vendor_apis import ENDPOINTS
from spanwise.ingest.compression import MAX_BODY_BYTES
from support.service import Service

pytestmark = pytest.mark.long

ZEROS = bytes(4 * MAX_BODY_BYTES)
BOMBS = {
    "gzip": gzip.compress(ZEROS, 9),
    "deflate": zlib.compress(ZEROS, 9),
    "zstd": zstandard.compress(ZEROS),
}
# Many empty streams, one within the other, and one that is never complete.
BOMBS_WITHOUT_CONTENT = {
    "gzip": gzip.compress(b"") * 100_000,
    "zstd": zstandard.compress(b"") * 100_000,
    "deflate": zlib.compress(ZEROS)[:-100],
}
DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
DOORS = [
    *(path for _, method, path, _ in ENDPOINTS if method == "POST"),
    *EXPORT_PATHS,
    *(f"/api{path}" for path in ("/spans", "/logs", "/signals", "/signals/batch")),
]
SECONDS = 10


@pytest.mark.parametrize("path", DOORS)
async def test_a_bomb_is_refused(service: Service, path: str) -> None:
    person = await service.sign_up()
    key = (await person.new_key(scopes=["ingest"]))["key"]
    address = path.format(trace_id="0" * 31 + "1", span_id="0" * 15 + "1", name="a.png")
    bodies = [
        *((encoding, body) for encoding, body in BOMBS.items()),
        *((encoding, body) for encoding, body in BOMBS_WITHOUT_CONTENT.items()),
        ("gzip", gzip.compress(gzip.compress(ZEROS))),
        ("identity", DEEP),
        ("br", BOMBS["gzip"]),
        ("gzip, gzip", BOMBS["gzip"]),
    ]
    for encoding, body in bodies:
        headers = {
            "x-api-key": key,
            "content-type": "application/json",
            "content-encoding": encoding,
        }
        started = time.monotonic()
        answer = await service.http.post(address, content=body, headers=headers)
        # An image is dropped without being parsed, if it may be as large.
        is_dropped = answer.status_code == 204 and body not in BOMBS.values()
        assert is_dropped or answer.status_code in {400, 413, 415}, (encoding, answer.text[:200])
        assert time.monotonic() - started < SECONDS, encoding
    assert await person.data("GET", "/spans/traces") == []
