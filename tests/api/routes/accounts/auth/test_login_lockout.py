"""An account is locked for 15 minutes after twenty failed logins, for every caller."""

import asyncio
from typing import Any

from support.service import PASSWORD, Service, assert_error, new_email

LIMIT = 20


async def try_login(service: Service, email: str, password: str) -> Any:
    body = {"email": email, "password": password}
    return await service.call("POST", "/auth/login", json=body)


async def test_after_twenty_failures_even_the_right_password_is_429(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    for _ in range(LIMIT):
        assert_error(await try_login(service, ann.email.upper(), "wrong password"), 401)
    for password in ("wrong password", PASSWORD):
        locked = await try_login(service, ann.email, password)
        assert_error(locked, 429)
        assert 1 <= int(locked.headers["Retry-After"]) <= 15 * 60 + 1
    await service.log_in(bob.email)
    assert (await ann.call("GET", "/users/profile")).status_code == 200


async def test_an_unknown_account_is_limited_the_same(service: Service) -> None:
    unknown = new_email()
    for _ in range(LIMIT):
        assert_error(await try_login(service, unknown, PASSWORD), 401)
    assert_error(await try_login(service, unknown, PASSWORD), 429)


async def test_concurrent_failures_are_all_counted(service: Service) -> None:
    ann = await service.sign_up()
    answers = await asyncio.gather(
        *(try_login(service, ann.email, f"guess number {number}") for number in range(LIMIT + 10)),
    )
    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(401), statuses.count(429)) == (LIMIT, 10)


async def test_a_success_among_concurrent_failures_does_not_reset_the_count(
    service: Service,
) -> None:
    ann = await service.sign_up()
    wrong = [try_login(service, ann.email, f"guess number {number}") for number in range(LIMIT)]
    *_, right = await asyncio.gather(*wrong, try_login(service, ann.email, PASSWORD))
    assert right.status_code in {200, 429}
    assert_error(await try_login(service, ann.email, PASSWORD), 429)


async def test_nineteen_failures_and_a_success_do_not_lock_the_account(service: Service) -> None:
    ann = await service.sign_up()
    for _ in range(LIMIT - 1):
        await try_login(service, ann.email, "wrong password")
    await service.log_in(ann.email)
    await service.log_in(ann.email)
