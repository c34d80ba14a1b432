"""Clients behind a trusted proxy are identified by their forwarded address."""

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from support.listening import listening
from support.service import PASSWORD, Service, start_service

LIMIT = 3


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service behind proxies in one network, with a low limit for each caller."""
    settings = {"rate_limit_standard": LIMIT, "trusted_proxies": "10.0.0.0/8"}
    async with start_service(tmp_path_factory.mktemp("proxied"), **settings) as running:
        yield running


async def statuses(service: Service, peer: str, clients: list[str]) -> list[int]:
    """Send one request per client through the proxy at this address."""
    async with service.client_at(peer) as proxy:
        return [
            (await proxy.get("/api/users/profile", headers={"X-Forwarded-For": client})).status_code
            for client in clients
        ]


async def test_callers_behind_a_trusted_proxy_have_separate_limits(service: Service) -> None:
    many = [f"198.51.100.{number}" for number in range(LIMIT + 2)]
    assert await statuses(service, "10.1.2.3", many) == [401] * (LIMIT + 2)
    one = ["203.0.113.1"] * (LIMIT + 1)
    assert await statuses(service, "10.1.2.3", one) == [401] * LIMIT + [429]


async def test_a_caller_cannot_choose_its_address(service: Service) -> None:
    made_up = [f"198.51.100.{100 + number}" for number in range(LIMIT + 1)]
    assert await statuses(service, "203.0.113.2", made_up) == [401] * LIMIT + [429]


async def test_the_audit_trail_has_the_address_behind_the_proxy(service: Service) -> None:
    async with service.client_at("203.0.113.3") as elsewhere:
        admin = await replace(service, http=elsewhere).sign_up()
        body = {"email": admin.email, "password": PASSWORD}
        async with service.client_at("10.0.0.1") as proxy:
            forwarded = {"X-Forwarded-For": "203.0.113.4, 198.51.100.77"}
            answer = await proxy.post("/api/auth/login", json=body, headers=forwarded)
            assert answer.status_code == 200
        trail = await admin.data("GET", "/admin/audit")
    assert "198.51.100.77" in str(trail)
    assert "203.0.113.4" not in str(trail)


async def test_the_environment_variable_of_uvicorn_is_ignored(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    async with listening(service) as here:
        answers: list[httpx.Response] = [
            await here.http.get("/api/users/profile", headers={"X-Forwarded-For": f"10.0.0.{n}"})
            for n in range(LIMIT + 1)
        ]
    assert [answer.status_code for answer in answers] == [401] * LIMIT + [429]
