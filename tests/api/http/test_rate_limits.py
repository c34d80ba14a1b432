"""Rate limits: three tiers, counted per caller, shown in the response headers."""

import itertools
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from spanwise.storage.counters import Limit
from spanwise.wiring.stores import open_counters
from support.service import PASSWORD, Service, assert_error, start_service

STANDARD, STRICT, INGESTION = 12, 5, 8


@pytest.fixture(scope="module")
async def limited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    limits = {
        "rate_limit_standard": STANDARD,
        "rate_limit_strict": STRICT,
        "rate_limit_ingestion": INGESTION,
    }
    async with start_service(tmp_path_factory.mktemp("limited"), **limits) as running:
        yield running


_addresses = (f"198.51.100.{number}" for number in itertools.count(1))


@pytest.fixture
async def service(limited: Service) -> AsyncIterator[Service]:
    """The same service, called from an address that has not called it before."""
    async with limited.client_at(next(_addresses)) as http:
        yield replace(limited, http=http)


def limits_of(response: httpx.Response) -> tuple[int, int, int]:
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
    limit, remaining, reset = (int(response.headers[name]) for name in names)
    return limit, remaining, reset


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/users/profile", STANDARD),
        ("/keys", STRICT),
        ("/spans/traces", INGESTION),
    ],
)
async def test_a_tier_allows_exactly_its_limit(service: Service, path: str, limit: int) -> None:
    responses = [await service.call("GET", path) for _ in range(limit + 2)]
    assert [r.status_code == 429 for r in responses] == [False] * limit + [True, True]
    shown = [limits_of(r) for r in responses]
    assert {each[0] for each in shown} == {limit}
    assert [each[1] for each in shown] == [*range(limit - 1, -1, -1), 0, 0]
    assert len({each[2] for each in shown}) == 1


async def test_a_refused_request_has_a_retry_delay(service: Service) -> None:
    for _ in range(STRICT):
        assert "Retry-After" not in (await service.call("GET", "/keys")).headers
    refused = await service.call("GET", "/keys")
    assert_error(refused, 429)
    _, remaining, reset = limits_of(refused)
    assert remaining == 0
    assert time.time() < reset <= time.time() + 61
    assert 1 <= int(refused.headers["Retry-After"]) <= 61


async def test_tiers_are_counted_separately(service: Service) -> None:
    for _ in range(STRICT + 1):
        await service.call("GET", "/keys")
    assert (await service.call("GET", "/users/profile")).status_code == 401


async def test_callers_are_counted_separately(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    key, other_key = await ann.new_key(), await ann.new_key()

    async def remaining(**headers: str) -> int:
        response = await service.call("GET", "/users/profile", headers=headers)
        return limits_of(response)[1]

    for left in (STANDARD - 1, STANDARD - 2):
        assert await remaining(Authorization=f"Bearer {ann.token}") == left
        assert await remaining(Authorization=f"Bearer {bob.token}") == left
        assert await remaining(**{"x-api-key": key["key"]}) == left
        assert await remaining(**{"x-api-key": other_key["key"]}) == left


async def test_two_tokens_of_one_account_are_one_caller(service: Service) -> None:
    ann = await service.sign_up()
    again = await service.log_in(ann.email)
    first = await ann.call("GET", "/users/profile")
    second = await again.call("GET", "/users/profile")
    assert (limits_of(first)[1], limits_of(second)[1]) == (STANDARD - 1, STANDARD - 2)


async def test_anonymous_callers_are_counted_by_address(service: Service) -> None:
    for _ in range(STRICT + 1):
        response = await service.call("GET", "/keys", headers={"x-api-key": "sw_invented"})
    assert response.status_code == 429
    async with service.client_at("192.0.2.7") as elsewhere:
        assert (await elsewhere.get("/api/keys")).status_code == 401


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/users/profile", 401),
        ("GET", "/nothing-here", 404),
        ("DELETE", "/users/profile", 404),
        ("POST", "/auth/login", 400),
        ("GET", "/auth/verify-email", 400),
    ],
)
async def test_failures_carry_the_headers_too(
    service: Service, method: str, path: str, status: int
) -> None:
    response = await service.call(method, path)
    assert response.status_code == status
    assert limits_of(response)[:2] == (STANDARD, STANDARD - 1)


async def test_success_carries_the_headers_too(service: Service) -> None:
    body = {"email": "ann@example.com", "password": PASSWORD}
    created = await service.call("POST", "/auth/register", json=body)
    assert created.status_code == 201
    assert limits_of(created)[:2] == (STANDARD, STANDARD - 1)


async def test_a_batch_counts_as_one_request(service: Service) -> None:
    ann = await service.sign_up()
    body = {"requests": [{"path": "/users/profile"}] * 20}
    for left in (STANDARD - 1, STANDARD - 2):
        batch = await ann.call("POST", "/analytics/batch", json=body)
        assert [one["status"] for one in batch.json()["data"]] == [200] * 20
        assert limits_of(batch)[1] == left
    for _ in range(STANDARD - 2):
        await ann.call("GET", "/users/profile")
    assert_error(await ann.call("POST", "/analytics/batch", json=body), 429)


async def test_some_paths_are_not_limited(service: Service) -> None:
    for _ in range(STANDARD + 2):
        response = await service.http.get("/api/health")
        assert response.status_code == 200
    assert not [name for name in response.headers if name.startswith("x-ratelimit")]


async def test_zero_means_no_limit_and_no_headers(shared_service: Service) -> None:
    # All of its limits are zero.
    response = await shared_service.call("GET", "/keys")
    assert "X-RateLimit-Limit" not in response.headers


async def test_replicas_on_one_redis_count_together(tmp_path: Path, redis_url: str) -> None:
    async with start_service(tmp_path, rate_limit_strict=3, redis_url=redis_url) as service:
        replica = await open_counters(redis_url)
        async with service.client_at("192.0.2.99") as client:
            assert limits_of(await client.get("/api/keys"))[1] == 2
            await replica.hit(Limit("strict", 3), "192.0.2.99")
            assert limits_of(await client.get("/api/keys"))[1] == 0
            assert_error(await client.get("/api/keys"), 429)
        await replica.close()
