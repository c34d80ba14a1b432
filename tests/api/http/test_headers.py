"""Headers of every response: request id, security headers, CORS."""

from collections.abc import AsyncIterator

import httpx
import pytest

from support.service import Service, assert_error, start_service

ORIGIN = "https://app.example.com"


@pytest.fixture(scope="module")
async def open_service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service with limits that pages of two origins may call, with a route that crashes."""
    folder, origins = tmp_path_factory.mktemp("cors"), f"{ORIGIN},https://b.example"
    async with start_service(folder, cors_origins=origins, rate_limit_standard=9) as service:

        @service.app.get("/api/crash")
        async def crash() -> None:
            raise RuntimeError

        yield service


PATHS = ["/api/health", "/api/keys", "/api/nothing", "/", "/api/docs", "/metrics"]


@pytest.mark.parametrize("path", PATHS)
async def test_every_response_has_the_security_headers(service: Service, path: str) -> None:
    headers = (await service.http.get(path)).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"


async def test_no_inline_script_and_no_foreign_content_may_run(service: Service) -> None:
    policy = (await service.http.get("/api/docs")).headers["Content-Security-Policy"]
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    assert rules["default-src"] == ["'self'"]
    assert "script-src" not in rules
    assert rules["img-src"] == ["'self'", "data:"]
    assert rules["frame-ancestors"] == rules["object-src"] == rules["base-uri"] == ["'none'"]


async def test_api_responses_are_not_cached(service: Service) -> None:
    assert (await service.call("GET", "/keys")).headers["Cache-Control"] == "no-store"


async def test_responses_have_no_server_header(service: Service) -> None:
    assert "Server" not in (await service.call("GET", "/health")).headers


@pytest.mark.parametrize("path", PATHS)
async def test_every_response_has_a_unique_request_id(service: Service, path: str) -> None:
    ids = {(await service.http.get(path)).headers["X-Request-Id"] for _ in range(3)}
    assert len(ids) == 3


async def test_a_valid_request_id_is_kept_and_an_invalid_one_replaced(service: Service) -> None:
    good = {"X-Request-Id": "0123-abcd_EFGH"}
    assert (await service.call("GET", "/health", headers=good)).headers[
        "X-Request-Id"
    ] == "0123-abcd_EFGH"
    for bad in ("short", "x" * 65, "a b c d e f g", '{"json":"injection"}'):
        answer = await service.call("GET", "/health", headers={"X-Request-Id": bad})
        assert answer.headers["X-Request-Id"].startswith("req_")


def preflight(**headers: str) -> dict[str, str]:
    return {"Origin": ORIGIN, "Access-Control-Request-Method": "POST", **headers}


def cors_headers(response: httpx.Response) -> list[str]:
    return [name for name in response.headers if name.startswith("access-control")]


async def test_cors_is_off_by_default(service: Service) -> None:
    plain = await service.call("GET", "/health", headers={"Origin": ORIGIN})
    preflighted = await service.call("OPTIONS", "/keys", headers=preflight())
    assert cors_headers(plain) == cors_headers(preflighted) == []
    assert_error(preflighted, 404)


async def test_an_allowed_origin_may_call_and_read_the_limit_headers(
    open_service: Service,
) -> None:
    asked = preflight(**{"Access-Control-Request-Headers": "x-api-key"})
    preflighted = await open_service.call("OPTIONS", "/keys", headers=asked)
    answer = await open_service.call("GET", "/keys", headers={"Origin": ORIGIN})
    assert preflighted.status_code == 200
    assert preflighted.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "x-api-key" in preflighted.headers["Access-Control-Allow-Headers"]
    assert_error(answer, 401)
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    readable = answer.headers["Access-Control-Expose-Headers"]
    assert {"X-Request-Id", "X-RateLimit-Limit", "Retry-After"} <= set(readable.split(", "))
    assert "Access-Control-Allow-Credentials" not in answer.headers


async def test_other_origins_are_rejected(open_service: Service) -> None:
    foreign = {"Origin": "https://evil.example"}
    preflighted = await open_service.call("OPTIONS", "/keys", headers=preflight(**foreign))
    answer = await open_service.call("GET", "/health", headers=foreign)
    assert_error(preflighted, 400)
    assert "Access-Control-Allow-Origin" not in preflighted.headers
    assert "Access-Control-Allow-Origin" not in answer.headers


async def test_a_crash_can_be_read_by_an_allowed_origin_and_has_the_limit_headers(
    open_service: Service,
) -> None:
    answer = await open_service.call("GET", "/crash", headers={"Origin": ORIGIN})
    assert_error(answer, 500)
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert answer.headers["X-RateLimit-Limit"] == "9"
    assert int(answer.headers["X-RateLimit-Remaining"]) < 9
