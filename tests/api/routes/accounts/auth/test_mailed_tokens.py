"""E-mail verification and password reset with mailed single-use tokens."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from spanwise.model.api_model import utc_now
from spanwise.storage.catalog import Transaction
from spanwise.storage.catalog.tables import one_time_tokens
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

ROOT = Path(__file__).parents[5]
NEW_PASSWORD = "another horse battery"


async def verify(service: Service, token: str) -> Any:
    return await service.call("GET", "/auth/verify-email", params={"token": token})


async def reset(service: Service, token: str, password: str = NEW_PASSWORD) -> Any:
    body = {"token": token, "password": password}
    return await service.call("POST", "/auth/reset-password", json=body)


async def request_reset(service: Service, email: str) -> str:
    await service.call("POST", "/auth/forgot-password", json={"email": email})
    return link_token((await service.mails_to(email))[-1])


async def tokens_of(tx: Transaction, person: Person) -> Sequence[Any]:
    mine = one_time_tokens.c.user_id == person.user["id"]
    return (await tx.execute(select(one_time_tokens).where(mine))).all()


async def age_tokens(service: Service, person: Person, by: timedelta) -> None:
    async with service.services.catalog.write() as tx:
        for row in await tokens_of(tx, person):
            await tx.execute(
                update(one_time_tokens)
                .where(one_time_tokens.c.token_hash == row.token_hash)
                .values(expires_at=row.expires_at - by)
            )


async def test_registering_mails_a_link_that_verifies_the_address_once(service: Service) -> None:
    ann = await service.sign_up()
    [mail] = await service.mails_to(ann.email)
    answer = await verify(service, link_token(mail))
    assert answer.status_code == 200
    assert answer.json()["data"]["emailVerified"] is True
    assert (await ann.data("GET", "/users/profile"))["emailVerified"] is True
    assert_error(await verify(service, link_token(mail)), 400, "token")


async def test_the_links_lead_to_pages_of_the_dashboard(service: Service) -> None:
    ann = await service.sign_up()
    await request_reset(service, ann.email)
    pages = (ROOT / "web" / "src" / "app" / "publicPages.ts").read_text()
    for mail in await service.mails_to(ann.email):
        [link] = [word for word in mail.split() if word.startswith("http")]
        path = link.removeprefix(service.services.settings.public_address)
        assert f'path: "{path.partition("?")[0]}"' in pages
        answer = await service.http.get(path, headers={"Accept": "text/html"})
        assert answer.headers["Content-Type"].startswith("text/html")


async def test_links_use_the_public_address(tmp_path: Path) -> None:
    async with start_service(tmp_path, public_url="https://obs.example.com/x/") as service:
        ann = await service.sign_up()
        await request_reset(service, ann.email)
        mails = await service.mails_to(ann.email)
    assert "https://obs.example.com/x/verify-email?token=" in mails[0]
    assert "https://obs.example.com/x/reset-password?token=" in mails[1]


async def test_a_verification_link_lasts_48_hours(service: Service) -> None:
    ann = await service.sign_up()
    token = link_token((await service.mails_to(ann.email))[0])
    await age_tokens(service, ann, timedelta(hours=47, minutes=59))
    assert (await verify(service, token)).status_code == 200
    bob = await service.sign_up()
    token = link_token((await service.mails_to(bob.email))[0])
    await age_tokens(service, bob, timedelta(hours=48))
    assert_error(await verify(service, token), 400, "token")


@pytest.mark.parametrize("query", ["", "?token=", "?token=nonsense", "?token=%ED%A0%80"])
async def test_an_invalid_token_is_400(service: Service, query: str) -> None:
    assert_error(await service.call("GET", f"/auth/verify-email{query}"), 400, "token")


async def test_resending_replaces_the_link(service: Service) -> None:
    ann = await service.sign_up()
    body = {"email": ann.email.upper()}
    assert (await service.call("POST", "/auth/resend-verification", json=body)).status_code == 200
    first, second = await service.mails_to(ann.email)
    assert_error(await verify(service, link_token(first)), 400, "token")
    assert (await verify(service, link_token(second))).status_code == 200


@pytest.mark.parametrize("path", ["/auth/forgot-password", "/auth/resend-verification"])
async def test_known_unknown_and_disabled_addresses_get_the_same_response(
    service: Service, path: str
) -> None:
    admin, unknown = await service.log_in(OPERATOR), new_email()
    ann, bob = await service.sign_up(), await service.sign_up()
    await admin.data("PUT", f"/admin/users/{bob.user['id']}", json={"disabled": True})
    before = len(await service.mails_to(bob.email))
    answers = [
        await service.call("POST", path, json={"email": email})
        for email in (ann.email, bob.email, unknown)
    ]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert len({answer.text for answer in answers}) == 1
    assert await service.mails_to(unknown) == []
    assert len(await service.mails_to(bob.email)) == before
    assert len(await service.mails_to(ann.email)) == 2


async def test_a_verified_address_gets_no_further_mail(service: Service) -> None:
    ann = await service.sign_up()
    await verify(service, link_token((await service.mails_to(ann.email))[0]))
    await service.call("POST", "/auth/resend-verification", json={"email": ann.email})
    assert len(await service.mails_to(ann.email)) == 1


@pytest.mark.parametrize("path", ["/auth/forgot-password", "/auth/resend-verification"])
async def test_an_invalid_address_is_400(service: Service, path: str) -> None:
    assert_error(await service.call("POST", path, json={"email": "ann"}), 400, "email")
    assert_error(await service.call("POST", path, json={}), 400, "email")


async def test_a_reset_token_works_once(service: Service) -> None:
    ann = await service.sign_up()
    token = await request_reset(service, ann.email)
    assert (await reset(service, token)).status_code == 200
    old = {"email": ann.email, "password": PASSWORD}
    assert_error(await service.call("POST", "/auth/login", json=old), 401)
    assert (await service.log_in(ann.email, NEW_PASSWORD)).user["emailVerified"] is True
    assert_error(await reset(service, token), 400, "token")


async def test_a_reset_token_lasts_one_hour(service: Service) -> None:
    ann = await service.sign_up()
    token = await request_reset(service, ann.email)
    await age_tokens(service, ann, timedelta(minutes=59))
    assert (await reset(service, token)).status_code == 200
    token = await request_reset(service, ann.email)
    await age_tokens(service, ann, timedelta(hours=1))
    assert_error(await reset(service, token), 400, "token")


async def test_a_weak_password_does_not_consume_the_token(service: Service) -> None:
    ann = await service.sign_up()
    token = await request_reset(service, ann.email)
    assert_error(await reset(service, token, "password"), 400, "password")
    assert_error(await reset(service, token, "short"), 400, "password")
    assert_error(await reset(service, token, " " * 12), 400, "password")
    assert (await reset(service, token)).status_code == 200


async def test_a_second_request_replaces_the_reset_token(service: Service) -> None:
    ann = await service.sign_up()
    first, second = [await request_reset(service, ann.email) for _ in range(2)]
    assert_error(await reset(service, first), 400, "token")
    assert (await reset(service, second)).status_code == 200


async def test_a_password_change_invalidates_the_reset_token(service: Service) -> None:
    ann = await service.sign_up()
    token = await request_reset(service, ann.email)
    body = {"currentPassword": PASSWORD, "newPassword": NEW_PASSWORD}
    await ann.data("PUT", "/users/password", json=body)
    assert_error(await reset(service, token), 400, "token")


async def test_a_token_is_valid_for_one_purpose(service: Service) -> None:
    ann = await service.sign_up()
    verification = link_token((await service.mails_to(ann.email))[0])
    assert_error(await reset(service, verification), 400, "token")
    assert_error(await verify(service, await request_reset(service, ann.email)), 400, "token")


async def test_tokens_are_stored_as_hashes(service: Service) -> None:
    ann = await service.sign_up()
    await request_reset(service, ann.email)
    secrets = [link_token(mail) for mail in await service.mails_to(ann.email)]
    async with service.services.catalog.read() as tx:
        rows = await tokens_of(tx, ann)
    assert len(rows) == 2
    assert all(row.expires_at > utc_now() for row in rows)
    assert not [secret for secret in secrets if secret in str(rows)]
