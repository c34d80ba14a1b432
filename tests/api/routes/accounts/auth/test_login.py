"""Sign-in, and when a token stops working."""

from pathlib import Path

from sqlalchemy import delete

from spanwise.storage.catalog.tables import users
from support.polling import until
from support.service import (
    OPERATOR,
    PASSWORD,
    Person,
    Service,
    assert_error,
    link_token,
    new_email,
    start_service,
)


async def is_refused(person: Person) -> bool:
    return (await person.call("GET", "/users/profile")).status_code == 401


async def test_login_returns_a_bearer_token_and_the_user(service: Service) -> None:
    ann = await service.sign_up()
    body = {"email": ann.email.upper(), "password": PASSWORD}
    data = (await service.call("POST", "/auth/login", json=body)).json()["data"]
    assert set(data) == {"token", "tokenType", "expiresIn", "user"}
    assert (data["tokenType"], data["expiresIn"]) == ("Bearer", 24 * 3600)
    assert data["user"]["email"] == ann.email
    assert data["user"]["lastLoginAt"] >= data["user"]["createdAt"]


async def test_wrong_password_unknown_and_disabled_account_get_the_same_response(
    service: Service,
) -> None:
    admin = await service.log_in(OPERATOR)
    ann, bob = await service.sign_up(), await service.sign_up()
    await admin.data("PUT", f"/admin/users/{bob.user['id']}", json={"disabled": True})
    tries = [
        {"email": ann.email, "password": "wrong password"},
        {"email": new_email(), "password": PASSWORD},
        {"email": bob.email, "password": PASSWORD},
    ]
    answers = [await service.call("POST", "/auth/login", json=body) for body in tries]
    for answer in answers:
        assert_error(answer, 401)
    assert len({answer.text for answer in answers}) == 1


async def test_an_invalid_field_is_named(service: Service) -> None:
    bodies: list[tuple[object, str]] = [
        ({"email": "ann@example.com"}, "password"),
        ({"password": PASSWORD}, "email"),
        ({"email": "ann", "password": PASSWORD}, "email"),
        ({"email": "ann@example.com", "password": 12345678}, "password"),
        ({"email": ["ann@example.com"], "password": PASSWORD}, "email"),
    ]
    for body, field in bodies:
        assert_error(await service.call("POST", "/auth/login", json=body), 400, field)


async def test_a_token_expires_after_the_configured_time(tmp_path: Path) -> None:
    async with start_service(tmp_path, jwt_hours=2 / 3600) as service:
        ann = await service.sign_up()
        await until(lambda: is_refused(ann), seconds=60)


async def test_malformed_credentials_are_401(service: Service) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Digest abc"},
        {"Authorization": "Basic !!!"},
        {"Authorization": "Basic c3dfOg=="},
        {"Authorization": "Bearer sw_0123"},
        {"x-api-key": "sw_0123"},
        {"x-api-key": "nonsense"},
        {"x-api-key": ""},
    ):
        assert_error(await service.call("GET", "/users/profile", headers=headers), 401)


async def test_a_token_of_a_deleted_user_is_401(service: Service) -> None:
    ann = await service.sign_up()
    async with service.services.catalog.write() as tx:
        await tx.execute(delete(users).where(users.c.id == ann.user["id"]))
    service.services.identity.access.invalidate_user(ann.user["id"])
    assert_error(await ann.call("GET", "/users/profile"), 401)


async def test_a_password_change_invalidates_earlier_tokens_and_returns_a_new_one(
    service: Service,
) -> None:
    ann = await service.sign_up()
    elsewhere = await service.log_in(ann.email)
    answer = await ann.data(
        "PUT",
        "/users/password",
        json={"currentPassword": PASSWORD, "newPassword": "another horse battery"},
    )
    assert await is_refused(ann)
    assert await is_refused(elsewhere)
    renewed = Person(service.http, ann.email, answer["token"], answer["user"])
    assert (await renewed.data("GET", "/users/profile"))["id"] == ann.user["id"]
    await service.log_in(ann.email, "another horse battery")


async def test_a_password_reset_invalidates_earlier_tokens(service: Service) -> None:
    ann = await service.sign_up()
    await service.call("POST", "/auth/forgot-password", json={"email": ann.email})
    token = link_token((await service.mails_to(ann.email))[-1])
    body = {"token": token, "password": "another horse battery"}
    assert (await service.call("POST", "/auth/reset-password", json=body)).status_code == 200
    assert await is_refused(ann)


async def test_disabling_an_account_invalidates_its_tokens_for_good(service: Service) -> None:
    admin, bob = await service.log_in(OPERATOR), await service.sign_up()
    path = f"/admin/users/{bob.user['id']}"
    await admin.data("PUT", path, json={"disabled": True})
    assert await is_refused(bob)
    await admin.data("PUT", path, json={"disabled": False})
    assert await is_refused(bob)
    await service.log_in(bob.email)


async def test_an_unverified_address_cannot_log_in_if_verification_is_required(
    tmp_path: Path,
) -> None:
    async with start_service(tmp_path, require_verified_email=True) as service:
        body = {"email": "ann@example.com", "password": PASSWORD}
        await service.call("POST", "/auth/register", json=body)
        assert_error(await service.call("POST", "/auth/login", json=body), 403)
        wrong = {**body, "password": "wrong password"}
        assert_error(await service.call("POST", "/auth/login", json=wrong), 401)
        token = link_token((await service.mails_to("ann@example.com"))[0])
        await service.call("GET", "/auth/verify-email", params={"token": token})
        await service.log_in("ann@example.com")
