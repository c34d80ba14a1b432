"""What the sign-in page is told, and an installation without passwords."""

from pathlib import Path

import pytest

from support.service import PASSWORD, Service, assert_error, start_service

PROVIDER = {
    "oidc_issuer": "https://login.example.com",
    "oidc_client_id": "spanwise",
    "oidc_client_secret": "secret",
}


async def find_options(service: Service) -> object:
    return (await service.call("GET", "/auth/options")).json()["data"]


@pytest.mark.own_service
async def test_a_fresh_installation_has_no_accounts(service: Service) -> None:
    fresh = {
        "hasAccounts": False,
        "openRegistration": True,
        "passwordLogin": True,
        "singleSignOn": None,
    }
    assert await find_options(service) == fresh
    await service.sign_up()
    assert await find_options(service) == {**fresh, "hasAccounts": True}


async def test_the_options_follow_the_settings(tmp_path: Path) -> None:
    settings = {"oidc_name": "Corp", "password_login": False, "open_registration": False}
    async with start_service(tmp_path, **PROVIDER, **settings) as service:
        assert await find_options(service) == {
            "hasAccounts": False,
            "openRegistration": False,
            "passwordLogin": False,
            "singleSignOn": {"name": "Corp"},
        }


async def test_without_passwords_every_password_route_is_403(tmp_path: Path) -> None:
    async with start_service(tmp_path) as service:
        ann = await service.sign_up()
    async with start_service(tmp_path, **PROVIDER, password_login=False) as service:
        ann.http = service.http
        email = {"email": ann.email}
        for path, body in {
            "/auth/register": {"email": "bob@example.com", "password": PASSWORD},
            "/auth/login": {**email, "password": PASSWORD},
            "/auth/forgot-password": email,
            "/auth/reset-password": {"token": "x", "password": PASSWORD},
        }.items():
            answer = await service.call("POST", path, json=body)
            assert_error(answer, 403)
            assert "use single sign-on" in answer.json()["error"]["message"]
            assert_error(await service.call("POST", path, json={}), 403)
        change = {"currentPassword": PASSWORD, "newPassword": "another good one"}
        assert_error(await ann.call("PUT", "/users/password", json=change), 403)
        assert await service.mails_to("bob@example.com") == []
        assert (await ann.call("GET", "/users/profile")).status_code == 200
