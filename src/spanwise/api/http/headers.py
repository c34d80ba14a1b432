"""Headers that describe a request body, and those of every response."""

import random
import re
from collections.abc import Iterable, Mapping

from starlette.types import Scope

from spanwise.api.http.paths import is_api_path

RawHeader = tuple[bytes, bytes]

_REQUEST_ID = re.compile(rb"[A-Za-z0-9_-]{8,64}")
# Request ids are not secret, and a system call for random bytes would release the GIL.
_random = random.Random()  # noqa: S311

SECURITY_HEADERS: list[RawHeader] = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
        b"object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
]
API_HEADERS: list[RawHeader] = [*SECURITY_HEADERS, (b"cache-control", b"no-store")]


def parse_media_type(content_type: str) -> str:
    """Return the media type in lower case, without parameters such as the charset."""
    return content_type.partition(";")[0].strip().lower()


def parse_encoding(headers: Mapping[str, str]) -> str:
    """Return the content encoding in lower case; empty when the body is not compressed."""
    return headers.get("content-encoding", "").strip().lower()


def encode_headers(headers: Iterable[RawHeader]) -> bytes:
    """Encode headers as HTTP/1.1 header lines."""
    return b"".join(b"%b: %b\r\n" % header for header in headers)


_ENCODED_SECURITY_HEADERS = encode_headers(SECURITY_HEADERS)
_ENCODED_API_HEADERS = encode_headers(API_HEADERS)


def encoded_security_headers(path: str) -> bytes:
    return _ENCODED_API_HEADERS if is_api_path(path) else _ENCODED_SECURITY_HEADERS


def complete_headers(
    headers: Iterable[RawHeader], path: str, request_id: str, limit_headers: Iterable[RawHeader]
) -> list[RawHeader]:
    """Add the headers of every response; security headers set by a route take precedence."""
    complete = [*headers, (b"x-request-id", request_id.encode()), *limit_headers]
    names = {name for name, _ in complete}
    security_headers = API_HEADERS if is_api_path(path) else SECURITY_HEADERS
    complete += [header for header in security_headers if header[0] not in names]
    return complete


def find_request_id(scope: Scope) -> str:
    """Return the request's own id if it is valid, else a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            request_id: str = value.decode()
            return request_id
    return f"req_{_random.getrandbits(96):024x}"
