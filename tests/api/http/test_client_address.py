"""Clients behind a trusted proxy are identified by their forwarded address."""

from pathlib import Path

import httpx
import pytest

from support.listening import listening
from support.service import PASSWORD, Service, start_service

LIMIT = 3


async def statuses(service: Service, peer: str, clients: list[str]) -> list[int]:
    """Send one request per client through the proxy at this address."""
    async with service.client_at(peer) as proxy:
        return [
            (await proxy.get("/api/users/profile", headers={"X-Forwarded-For": client})).status_code
            for client in clients
        ]


async def test_callers_behind_a_trusted_proxy_have_separate_limits(tmp_path: Path) -> None:
    limits = {"rate_limit_standard": LIMIT, "trusted_proxies": "10.0.0.0/8"}
    async with start_service(tmp_path, **limits) as service:
        many = [f"198.51.100.{number}" for number in range(LIMIT + 2)]
        assert await statuses(service, "10.1.2.3", many) == [401] * (LIMIT + 2)
        one = ["203.0.113.1"] * (LIMIT + 1)
        assert await statuses(service, "10.1.2.3", one) == [401] * LIMIT + [429]


async def test_a_caller_cannot_choose_its_address(tmp_path: Path) -> None:
    async with start_service(tmp_path, rate_limit_standard=LIMIT) as service:
        made_up = [f"198.51.100.{number}" for number in range(LIMIT + 1)]
        assert await statuses(service, "203.0.113.1", made_up) == [401] * LIMIT + [429]


async def test_the_audit_trail_has_the_address_behind_the_proxy(tmp_path: Path) -> None:
    async with start_service(tmp_path, trusted_proxies="10.0.0.1") as service:
        admin = await service.sign_up()
        body = {"email": admin.email, "password": PASSWORD}
        async with service.client_at("10.0.0.1") as proxy:
            forwarded = {"X-Forwarded-For": "203.0.113.1, 198.51.100.7"}
            answer = await proxy.post("/api/auth/login", json=body, headers=forwarded)
            assert answer.status_code == 200
        trail = await admin.data("GET", "/admin/audit")
        assert "198.51.100.7" in str(trail)
        assert "203.0.113.1" not in str(trail)


async def test_the_environment_variable_of_uvicorn_is_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    settings = {"rate_limit_standard": LIMIT, "trusted_proxies": "192.0.2.1"}
    async with start_service(tmp_path, **settings) as service, listening(service) as here:
        answers: list[httpx.Response] = [
            await here.http.get("/api/users/profile", headers={"X-Forwarded-For": f"10.0.0.{n}"})
            for n in range(LIMIT + 1)
        ]
    assert [answer.status_code for answer in answers] == [401] * LIMIT + [429]
