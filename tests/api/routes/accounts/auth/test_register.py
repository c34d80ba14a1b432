"""Registration."""

import asyncio
from pathlib import Path

import pytest

from support.service import PASSWORD, Service, assert_error, new_email, start_service


async def register(service: Service, **body: object) -> dict[str, object]:
    given = {"email": new_email(), "password": PASSWORD, **body}
    response = await service.call("POST", "/auth/register", json=given)
    assert response.status_code == 201, response.text
    user: dict[str, object] = response.json()["data"]
    return user


async def test_registering_returns_the_user(service: Service) -> None:
    user = await register(service, name="Ann")
    assert set(user) == {
        "id",
        "email",
        "name",
        "role",
        "emailVerified",
        "createdAt",
        "lastLoginAt",
        "defaultWorkspaceId",
    }
    assert str(user["id"]).startswith("usr_")
    assert str(user["createdAt"]).endswith("Z")
    assert (user["name"], user["emailVerified"], user["lastLoginAt"]) == ("Ann", False, None)


@pytest.mark.own_service
async def test_one_of_two_concurrent_first_accounts_is_admin(service: Service) -> None:
    users = await asyncio.gather(
        *(register(service, email=f"p{number}@example.com") for number in range(4))
    )
    assert sorted(str(user["role"]) for user in users) == ["admin", "member", "member", "member"]


async def test_the_default_name_comes_from_the_address(service: Service) -> None:
    email = new_email()
    assert (await register(service, email=email))["name"] == email.removesuffix("@example.com")


async def test_addresses_are_compared_without_case(service: Service) -> None:
    email = new_email()
    assert (await register(service, email=email.title()))["email"] == email
    again = {"email": email.upper(), "password": PASSWORD}
    assert_error(await service.call("POST", "/auth/register", json=again), 400, "email")


async def test_concurrent_registrations_of_an_address_create_one_account(service: Service) -> None:
    body = {"email": new_email(), "password": PASSWORD}
    answers = await asyncio.gather(
        *(service.call("POST", "/auth/register", json=body) for _ in range(4))
    )
    assert sorted(answer.status_code for answer in answers) == [201, 400, 400, 400]


async def test_an_invalid_address_is_refused(service: Service) -> None:
    for email in (
        "ann",
        "@example.com",
        "ann@",
        "a b@example.com",
        "ann@ex ample.com",
        "a\x00@b.c",
    ):
        body = {"email": email, "password": PASSWORD}
        assert_error(await service.call("POST", "/auth/register", json=body), 400, "email")


@pytest.mark.parametrize("email", ["ann@corp.local", "ann@localhost", "jürgen@exämple.com"])
async def test_internal_and_non_ascii_addresses_are_accepted(service: Service, email: str) -> None:
    await register(service, email=email)
    assert (await service.log_in(email)).user["email"] == email
    assert len(await service.mails_to(email)) == 1


async def test_a_weak_password_is_refused_and_creates_no_account(service: Service) -> None:
    email = new_email()
    for password in ("short", "PassWord"):
        body = {"email": email, "password": password}
        assert_error(await service.call("POST", "/auth/register", json=body), 400, "password")
    await service.sign_up(email)


async def test_the_longest_password_is_accepted(service: Service) -> None:
    password = "ж" * 128
    user = await register(service, password=password)
    await service.log_in(str(user["email"]), password)


async def test_an_invalid_name_is_refused(service: Service) -> None:
    names: list[object] = ["", "   ", "x" * 201, "a\x00b", 7, ["Ann"]]
    for name in names:
        body = {"email": new_email(), "password": PASSWORD, "name": name}
        assert_error(await service.call("POST", "/auth/register", json=body), 400, "name")


async def test_every_missing_field_is_named(service: Service) -> None:
    response = await service.call("POST", "/auth/register", json={})
    assert_error(response, 400, "email", "password")


async def test_unknown_fields_are_ignored(service: Service) -> None:
    await service.sign_up()
    user = await register(service, role="admin", emailVerified=True, id="usr_mine")
    assert (user["role"], user["emailVerified"]) == ("member", False)
    assert user["id"] != "usr_mine"


async def test_closed_registration_accepts_only_the_first_account(tmp_path: Path) -> None:
    async with start_service(tmp_path, open_registration=False) as service:
        await service.sign_up()
        body = {"email": "bob@example.com", "password": PASSWORD}
        assert_error(await service.call("POST", "/auth/register", json=body), 403)
