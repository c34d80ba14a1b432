"""The dashboard's sign-in: a cookie that scripts cannot read and other sites cannot use."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from support.service import (
    DASHBOARD,
    PASSWORD,
    SESSION_COOKIE,
    Person,
    Service,
    assert_error,
    start_service,
)

SESSION = "/api/auth/session"
PROFILE = "/api/users/profile"
# What a browser says about requests that others cause.
FOREIGN = [
    {},
    {"Sec-Fetch-Site": "same-origin"},
    {**DASHBOARD, "Sec-Fetch-Site": "same-site", "Origin": "https://other.test"},
    {**DASHBOARD, "Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    {"Origin": "https://evil.example"},
]


@pytest.fixture
async def browser(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client that keeps cookies; those of `service.http` are shared by all tests."""
    async with service.client_at("127.0.0.1") as client:
        yield client


async def sign_in(browser: httpx.AsyncClient, person: Person) -> httpx.Response:
    body = {"email": person.email, "password": PASSWORD}
    answer = await browser.post(SESSION, json=body, headers=DASHBOARD)
    assert answer.status_code == 200, answer.text
    return answer


def token_in(browser: httpx.AsyncClient) -> str:
    [token] = [one.value for one in browser.cookies.jar if one.name.startswith(SESSION_COOKIE)]
    return token or ""


async def test_the_dashboard_gets_its_token_only_in_a_cookie(
    browser: httpx.AsyncClient, person: Person
) -> None:
    answer = await sign_in(browser, person)
    cookie = answer.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=lax", "Path=/api", "Max-Age=86400"} <= {*cookie.split("; ")}
    assert "Secure" not in cookie
    assert set(answer.json()["data"]) == {"expiresIn", "user"}
    assert token_in(browser) not in answer.text


async def test_with_an_https_address_the_cookie_is_sent_over_https_only(tmp_path: Path) -> None:
    async with start_service(tmp_path, public_url="https://spanwise.example.com") as service:
        person = await service.sign_up()
        async with service.client_at("127.0.0.1") as browser:
            assert "; Secure" in (await sign_in(browser, person)).headers["Set-Cookie"]


async def test_a_script_that_logs_in_gets_no_cookie(
    browser: httpx.AsyncClient, person: Person
) -> None:
    body = {"email": person.email, "password": PASSWORD}
    for headers in ({}, DASHBOARD):
        answer = await browser.post("/api/auth/login", json=body, headers=headers)
        assert "Set-Cookie" not in answer.headers
        assert answer.json()["data"]["token"]


@pytest.mark.parametrize("headers", FOREIGN)
async def test_another_site_can_sign_nobody_in_or_out(
    browser: httpx.AsyncClient, person: Person, headers: dict[str, str]
) -> None:
    body = {"email": person.email, "password": PASSWORD}
    for answer in (
        await browser.post(SESSION, json=body, headers=headers),
        await browser.delete(SESSION, headers=headers),
    ):
        assert_error(answer, 403)
        assert "Set-Cookie" not in answer.headers


async def test_the_dashboard_reads_and_writes_with_the_cookie(
    browser: httpx.AsyncClient, person: Person
) -> None:
    await sign_in(browser, person)
    for more in ({}, {"Sec-Fetch-Site": "same-origin", "Origin": "http://test"}):
        headers = {**DASHBOARD, **more}
        profile = (await browser.get(PROFILE, headers=headers)).json()["data"]
        assert profile["id"] == person.user["id"]
        changed = await browser.put(PROFILE, json={"name": "Ann"}, headers=headers)
        assert changed.status_code == 200
        workspace = {**headers, "X-Workspace-Id": "wsp_unknown"}
        assert_error(await browser.get("/api/keys", headers=workspace), 404)


@pytest.mark.parametrize("headers", FOREIGN)
async def test_requests_that_other_sites_cause_are_those_of_nobody(
    browser: httpx.AsyncClient, person: Person, headers: dict[str, str]
) -> None:
    await sign_in(browser, person)
    assert_error(await browser.get(PROFILE, headers=headers), 401)
    assert_error(await browser.post("/api/keys", json={"name": "x"}, headers=headers), 401)
    assert_error(await browser.put(PROFILE, json={"name": "Eve"}, headers=headers), 401)
    assert (await person.data("GET", "/users/profile"))["name"] == person.user["name"]


async def test_origins_of_the_settings_cannot_use_the_cookie(tmp_path: Path) -> None:
    origin = "https://app.example.com"
    async with start_service(tmp_path, cors_origins=origin) as service:
        person = await service.sign_up()
        async with service.client_at("127.0.0.1") as browser:
            await sign_in(browser, person)
            asked = {
                "Origin": origin,
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "x-spanwise-dashboard",
            }
            preflight = await browser.options("/api/keys", headers=asked)
            page = {**DASHBOARD, "Origin": origin, "Sec-Fetch-Site": "same-site"}
            answer = await browser.get(PROFILE, headers=page)
        # Without this header a browser sends no request with cookies after the preflight.
        assert "Access-Control-Allow-Credentials" not in {**preflight.headers, **answer.headers}
        assert_error(answer, 401)


async def test_credentials_in_a_header_come_before_the_cookie(
    service: Service, browser: httpx.AsyncClient, person: Person
) -> None:
    await sign_in(browser, person)
    other = await service.sign_up()
    key = (await other.new_key(scopes=["read"]))["key"]

    async def ask(path: str, **headers: str) -> httpx.Response:
        return await browser.get(path, headers={**DASHBOARD, **headers})

    by_token = await ask(PROFILE, Authorization=f"Bearer {other.token}")
    assert by_token.json()["data"]["email"] == other.email
    # A key is not enough for a profile, and reads the workspace of its own.
    assert_error(await ask(PROFILE, **{"x-api-key": key}), 403)
    for wrong in ("Bearer nonsense", "Bearer", "Basic !!!", "Digest abc", f"Bearer {key}x"):
        assert_error(await ask(PROFILE, Authorization=wrong), 401)
    assert_error(await ask(PROFILE, **{"x-api-key": "sw_unknown"}), 401)


async def test_signing_out_removes_the_cookie(browser: httpx.AsyncClient, person: Person) -> None:
    await sign_in(browser, person)
    answer = await browser.delete(SESSION, headers=DASHBOARD)
    assert answer.json()["data"] == {"message": "signed out"}
    assert not [one for one in browser.cookies.jar if one.name.startswith(SESSION_COOKIE)]
    assert_error(await browser.get(PROFILE, headers=DASHBOARD), 401)
    # It does not matter whether somebody was signed in.
    assert (await browser.delete(SESSION, headers=DASHBOARD)).status_code == 200


async def test_a_password_change_renews_the_cookie_and_ends_earlier_ones(
    service: Service, browser: httpx.AsyncClient, person: Person
) -> None:
    await sign_in(browser, person)
    before = token_in(browser)
    change = {"currentPassword": PASSWORD, "newPassword": "another horse battery"}
    answer = await browser.put("/api/users/password", json=change, headers=DASHBOARD)
    assert set(answer.json()["data"]) == {"expiresIn", "user"}
    assert token_in(browser) != before
    assert (await browser.get(PROFILE, headers=DASHBOARD)).status_code == 200
    async with service.client_at("127.0.0.1") as elsewhere:
        old = {"Cookie": f"{service.services.identity.session_cookie.name}={before}"}
        assert_error(await elsewhere.get(PROFILE, headers={**DASHBOARD, **old}), 401)
