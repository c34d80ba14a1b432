"""Signing in through a provider that behaves: the flow, the account, and what is recorded."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx

from support.identity_provider import CLIENT_ID, IdentityProvider
from support.provider_process import run_provider
from support.service import (
    PASSWORD,
    SESSION_COOKIE,
    Service,
    assert_error,
    new_email,
    start_service,
)
from support.single_sign_on import (
    START,
    Visitor,
    audit_entries,
    person_claims,
    start_sso_service,
)


async def test_the_provider_is_asked_for_a_code_with_pkce(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    answer = await visitor.http.get(START)
    query = {
        name: value
        for name, [value] in parse_qs(urlsplit(answer.headers["Location"]).query).items()
    }
    assert answer.headers["Location"].startswith(f"{provider.issuer}/authorize?")
    assert query["response_type"] == "code"
    assert query["client_id"] == CLIENT_ID
    assert query["redirect_uri"] == "http://test/api/auth/oidc/callback"
    assert query["scope"] == "openid email profile"
    assert query["code_challenge_method"] == "S256"
    assert len({query["state"], query["nonce"], query["code_challenge"]}) == 3


async def test_cookies_are_out_of_reach_for_scripts_and_other_sites(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    started = await visitor.http.get(START)
    cookie = started.headers["Set-Cookie"].lower()
    assert {"httponly", "samesite=lax", "path=/api/auth/oidc", "max-age=600"} <= {
        *cookie.split("; ")
    }
    callback = await visitor.ask_provider(started.headers["Location"])
    finished = await visitor.http.get(callback)
    session, attempt = sorted(finished.headers.get_list("Set-Cookie"))
    assert session.startswith(SESSION_COOKIE)
    assert {"HttpOnly", "SameSite=lax", "Path=/api", "Max-Age=86400"} <= {*session.split("; ")}
    assert attempt.startswith('spanwise_sign_in="";')
    assert session.split("=")[1].split(";")[0] not in finished.headers["Location"]


async def test_a_new_person_gets_an_account_with_a_workspace(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    email = new_email()
    provider.claims = person_claims(email.upper(), name="Ann\x00 Example")
    assert await visitor.sign_in(next="/traces?page=2") == {
        "signedIn": "1",
        "next": "/traces?page=2",
    }
    ann = await visitor.find_person()
    assert (ann.email, ann.user["name"]) == (email, "Ann Example")
    assert ann.user["emailVerified"] is True
    assert ann.user["role"] == "member"
    assert ann.user["lastLoginAt"] is not None
    [workspace] = await ann.data("GET", "/workspaces")
    assert (workspace["name"], workspace["role"]) == ("Ann Example's workspace", "owner")
    assert workspace["id"] == ann.user["defaultWorkspaceId"]


async def test_the_next_sign_in_finds_the_same_account(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    provider.claims = person_claims(new_email())
    await visitor.sign_in()
    first = await visitor.find_person()
    await visitor.sign_in()
    again = await visitor.find_person()
    assert again.user["id"] == first.user["id"]
    assert len(await again.data("GET", "/workspaces")) == 1


async def test_two_browsers_of_a_person_do_not_disturb_each_other(
    service: Service, provider: IdentityProvider
) -> None:
    one, other = Visitor(service), Visitor(service)
    async with one.http, other.http:
        await one.sign_in()
        await other.sign_in()
        assert (await one.find_person()).user == (await other.find_person()).user


async def test_an_account_without_a_password_cannot_sign_in_with_one(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    email = new_email()
    provider.claims = person_claims(email)
    await visitor.sign_in()
    # The second is the password of the hash that is verified for unknown accounts.
    for password in ("", "a password that nobody has", PASSWORD):
        body = {"email": email, "password": password}
        assert_error(await service.call("POST", "/auth/login", json=body), 401)


async def test_sign_ins_are_audited(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    provider.claims = person_claims(new_email())
    await visitor.sign_in()
    ann = await visitor.find_person()
    entries = [e for e in await audit_entries(service) if e["actor"] == ann.user["id"]]
    assert {e["action"]: e["data"] for e in entries} == {
        "login.succeeded": {"method": "oidc"},
        "account.registered": {"method": "oidc"},
    }


async def test_claims_that_the_id_token_lacks_come_from_userinfo(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    email = new_email()
    provider.claims, provider.userinfo = {}, person_claims(email)
    assert await visitor.sign_in() == {"signedIn": "1"}
    assert (await visitor.find_person()).email == email


async def test_the_first_account_is_admin_and_others_need_no_open_registration(
    tmp_path: Path, provider: IdentityProvider
) -> None:
    settings = {"password_login": False, "open_registration": False}
    async with start_sso_service(tmp_path, provider, **settings) as service:
        for role in ("admin", "member"):
            provider.claims = person_claims(new_email())
            visitor = Visitor(service)
            async with visitor.http:
                await visitor.sign_in()
                assert (await visitor.find_person()).user["role"] == role


async def test_discovery_and_keys_are_fetched_once(
    tmp_path: Path, provider: IdentityProvider
) -> None:
    async with start_sso_service(tmp_path, provider) as service:
        for _ in range(3):
            visitor = Visitor(service)
            async with visitor.http:
                await visitor.sign_in()
    assert provider.requests.count("/.well-known/openid-configuration") == 1
    assert provider.requests.count("/jwks") == 1


async def test_without_a_provider_there_is_no_single_sign_on(tmp_path: Path) -> None:
    async with start_service(tmp_path) as service:
        assert_error(await service.call("GET", "/auth/oidc/start"), 404)
        assert_error(await service.call("GET", "/auth/oidc/callback"), 404)


async def test_a_real_provider_signs_a_person_in(tmp_path: Path) -> None:
    with run_provider() as real:
        real.add_person("ann", **person_claims("ann@example.com"))
        given = {"public_url": "http://test", **real.settings}
        async with start_service(tmp_path, **given) as service:
            visitor = Visitor(service)
            async with visitor.http, httpx.AsyncClient(timeout=30) as http:
                form = await http.post(await visitor.start(next="/logs"), data={"sub": "ann"})
                landed = await visitor.come_back(form.headers["Location"])
                assert landed == {"signedIn": "1", "next": "/logs"}
                assert (await visitor.find_person()).email == "ann@example.com"
