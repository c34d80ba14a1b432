"""The headers that every response carries, on the normal path and on the fast paths."""

import pytest

from spanwise.api.http.headers import (
    complete_headers,
    encode_headers,
    encoded_security_headers,
    find_request_id,
)


@pytest.mark.parametrize("path", ["/api/spans/traces", "/v1/traces"])
def test_both_paths_send_the_same_security_headers(path: str) -> None:
    normal = complete_headers([], path, "request-1", [])[1:]
    assert encode_headers(normal) == encoded_security_headers(path)


def test_only_api_responses_forbid_caching() -> None:
    assert b"cache-control: no-store" in encoded_security_headers("/api/keys")
    assert b"cache-control" not in encoded_security_headers("/assets/index.js")


def test_a_header_set_by_a_route_takes_precedence() -> None:
    own = (b"content-security-policy", b"default-src 'none'")
    headers = complete_headers([own], "/api/docs", "request-1", [(b"x-ratelimit-limit", b"9")])
    assert [value for name, value in headers if name == own[0]] == [own[1]]
    assert (b"x-request-id", b"request-1") in headers
    assert (b"x-ratelimit-limit", b"9") in headers


@pytest.mark.parametrize("value", [b"short", b"with space", b"x" * 65, b"new\nline"])
def test_an_invalid_request_id_is_replaced(value: bytes) -> None:
    request_id = find_request_id({"headers": [(b"x-request-id", value)]})
    assert request_id.startswith("req_")
    assert len(request_id) == 28


def test_a_valid_request_id_is_kept() -> None:
    assert find_request_id({"headers": [(b"x-request-id", b"my-request-1")]}) == "my-request-1"
