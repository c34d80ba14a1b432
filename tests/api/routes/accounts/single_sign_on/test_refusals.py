"""Sign-ins that are refused: each leads to a page with the reason, and is audited."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from spanwise.services.single_sign_on import id_tokens, provider_http
from support.identity_provider import IdentityProvider, identity_provider
from support.service import OPERATOR, Service, new_email
from support.single_sign_on import (
    CALLBACK,
    START,
    Visitor,
    audit_entries,
    person_claims,
    start_sso_service,
)

COOKIE = "spanwise_sign_in"


async def assert_refused(visitor: Visitor, landed: dict[str, str], reason: str) -> None:
    assert landed["error"] == reason
    assert (await visitor.ask_who_is_signed_in()).status_code == 401


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"email": None}, "email_missing"),
        ({"email": "not an address"}, "email_missing"),
        ({"email": ["ann@example.com"]}, "email_missing"),
        ({"email_verified": None}, "email_not_verified"),
    ],
)
async def test_an_address_must_be_there_and_verified(
    provider: IdentityProvider, visitor: Visitor, claims: dict[str, Any], reason: str
) -> None:
    provider.claims = {**person_claims("ann@example.com"), **claims}
    await assert_refused(visitor, await visitor.sign_in(next="/logs"), reason)


async def test_a_refusal_keeps_the_path_and_is_audited(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    email = new_email()
    provider.claims = person_claims(email, email_verified=False)
    landed = await visitor.sign_in(next="/logs")
    assert landed == {"error": "email_not_verified", "next": "/logs"}
    [entry] = [e for e in await audit_entries(service) if e["subject"] == email]
    assert entry["action"] == "login.failed"
    assert entry["data"] == {"method": "oidc", "reason": "email_not_verified"}


async def test_an_address_is_trusted_when_the_operator_says_so(
    tmp_path: Path, provider: IdentityProvider
) -> None:
    provider.claims = {"email": "ann@example.com"}
    async with start_sso_service(tmp_path, provider, oidc_trust_email=True) as service:
        visitor = Visitor(service)
        async with visitor.http:
            assert await visitor.sign_in() == {"signedIn": "1"}


async def test_only_the_allowed_domains_get_in(tmp_path: Path, provider: IdentityProvider) -> None:
    domains = "Corp.example, partner.example"
    async with start_sso_service(tmp_path, provider, oidc_domains=domains) as service:
        for email, expected in {
            "ann@corp.example": {"signedIn": "1"},
            "ann@PARTNER.example": {"signedIn": "1"},
            "ann@sub.corp.example": {"error": "domain_not_allowed"},
            "ann@corp.example.evil": {"error": "domain_not_allowed"},
            "ann@evilcorp.example": {"error": "domain_not_allowed"},
        }.items():
            provider.claims = person_claims(email)
            visitor = Visitor(service)
            async with visitor.http:
                assert await visitor.sign_in() == expected, email


async def test_a_disabled_account_is_refused(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    ann, operator = await service.sign_up(), await service.log_in(OPERATOR)
    await operator.data("PUT", f"/admin/users/{ann.user['id']}", json={"disabled": True})
    provider.claims = person_claims(ann.email)
    await assert_refused(visitor, await visitor.sign_in(), "account_disabled")


async def test_an_account_disabled_after_the_sign_in_is_signed_out(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    ann, operator = await service.sign_up(), await service.log_in(OPERATOR)
    provider.claims = person_claims(ann.email)
    await visitor.sign_in()
    await operator.data("PUT", f"/admin/users/{ann.user['id']}", json={"disabled": True})
    assert (await visitor.ask_who_is_signed_in()).status_code == 401


async def test_a_state_of_another_browser_is_refused(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    """An attacker's callback must not sign the victim in as the attacker."""
    attacker = Visitor(service)
    async with attacker.http:
        callback = await attacker.ask_provider(await attacker.start())
    await assert_refused(visitor, await visitor.come_back(callback), "sign_in_expired")
    await visitor.start()
    await assert_refused(visitor, await visitor.come_back(callback), "sign_in_expired")


@pytest.mark.parametrize("state", [None, "", "é", "x" * 43])
async def test_a_forged_state_is_refused(
    provider: IdentityProvider, visitor: Visitor, state: str | None
) -> None:
    callback = urlsplit(await visitor.ask_provider(await visitor.start()))
    query = {name: value for name, [value] in parse_qs(callback.query).items()}
    forged = {**query, "state": state} if state is not None else {"code": query["code"]}
    landed = await visitor.come_back(f"{CALLBACK}?{urlencode(forged)}")
    await assert_refused(visitor, landed, "sign_in_expired")


async def test_a_changed_cookie_is_refused(provider: IdentityProvider, visitor: Visitor) -> None:
    callback = await visitor.ask_provider(await visitor.start())
    cookie = visitor.http.cookies[COOKIE]
    head, body, signature = cookie.split(".")
    for forged in ("", "x", f"{head}.{body}.", f"{head}.{body[:-2]}AA.{signature}"):
        visitor.http.cookies.clear()
        answer = await visitor.http.get(callback, headers={"Cookie": f"{COOKIE}={forged}"})
        assert answer.headers["Location"] == "/login?error=sign_in_expired"


async def test_a_sign_in_token_is_no_cookie_of_a_sign_in(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    """Both are signed with the same secret."""
    callback = await visitor.ask_provider(await visitor.start())
    token = (await service.sign_up()).token
    cookie = visitor.http.cookies[COOKIE]
    visitor.http.cookies.clear()
    answer = await visitor.http.get(callback, headers={"Cookie": f"{COOKIE}={token}"})
    assert answer.headers["Location"] == "/login?error=sign_in_expired"
    headers = {"Authorization": f"Bearer {cookie}"}
    assert (await service.call("GET", "/users/profile", headers=headers)).status_code == 401


async def test_a_replayed_callback_is_refused(provider: IdentityProvider, visitor: Visitor) -> None:
    callback = await visitor.ask_provider(await visitor.start())
    cookie = {"Cookie": f"{COOKIE}={visitor.http.cookies[COOKIE]}"}
    assert await visitor.come_back(callback) == {"signedIn": "1"}
    await visitor.find_person()
    # The visitor starts again without the session of the first one.
    visitor.http.cookies.clear()
    await assert_refused(visitor, await visitor.come_back(callback), "sign_in_expired")
    # Even with the cookie: the provider accepts a code once.
    answer = await visitor.http.get(callback, headers=cookie)
    assert answer.headers["Location"] == "/login?error=token_rejected"


async def test_a_code_of_another_sign_in_is_refused(
    service: Service, provider: IdentityProvider, visitor: Visitor
) -> None:
    """The provider rejects it: the PKCE verifier belongs to another challenge."""
    attacker = Visitor(service)
    async with attacker.http:
        stolen = parse_qs(urlsplit(await attacker.ask_provider(await attacker.start())).query)
    own = parse_qs(urlsplit(await visitor.ask_provider(await visitor.start())).query)
    query = urlencode({"code": stolen["code"][0], "state": own["state"][0]})
    await assert_refused(visitor, await visitor.come_back(f"{CALLBACK}?{query}"), "token_rejected")


@pytest.mark.parametrize(
    "replaced",
    [
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"iss": "https://evil.example"},
        {"aud": "another client"},
        {"aud": ["spanwise client", "another client"]},
        {"azp": "another client"},
        {"exp": 1_700_000_000},
        {"iat": 4_000_000_000},
        {"sub": None},
    ],
)
async def test_an_id_token_for_something_else_is_refused(
    provider: IdentityProvider, visitor: Visitor, replaced: dict[str, Any]
) -> None:
    provider.replaced = replaced
    await assert_refused(visitor, await visitor.sign_in(), "token_rejected")


async def test_the_response_of_another_issuer_is_refused(
    provider: IdentityProvider, visitor: Visitor
) -> None:
    callback = await visitor.ask_provider(await visitor.start())
    mixed_up = callback.replace(urlencode({"iss": provider.issuer}), "iss=https://evil.example")
    assert mixed_up != callback
    await assert_refused(visitor, await visitor.come_back(mixed_up), "token_rejected")


async def test_userinfo_about_another_person_is_refused(
    provider: IdentityProvider, visitor: Visitor
) -> None:
    provider.claims = {}
    provider.userinfo = {**person_claims("ann@example.com"), "sub": "somebody else"}
    await assert_refused(visitor, await visitor.sign_in(), "token_rejected")


async def test_a_rotated_key_is_fetched(
    tmp_path: Path, provider: IdentityProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start_sso_service(tmp_path, provider) as service:
        visitor = Visitor(service)
        async with visitor.http:
            assert await visitor.sign_in() == {"signedIn": "1"}
            provider.rotate_key()
            monkeypatch.setattr(id_tokens, "REFETCH_SECONDS", 0)
            assert await visitor.sign_in() == {"signedIn": "1"}
    assert provider.requests.count("/jwks") == 2


async def test_an_unknown_key_fetches_the_keys_once_in_a_while(
    tmp_path: Path, provider: IdentityProvider
) -> None:
    async with start_sso_service(tmp_path, provider) as service:
        visitor = Visitor(service)
        async with visitor.http:
            assert await visitor.sign_in() == {"signedIn": "1"}
            provider.rotate_key()
            for _ in range(3):
                assert await visitor.sign_in() == {"error": "token_rejected"}
    assert provider.requests.count("/jwks") == 1


async def test_a_person_who_cancels_comes_back_to_the_sign_in_page(
    provider: IdentityProvider, visitor: Visitor
) -> None:
    await visitor.start()
    landed = await visitor.come_back(f"{CALLBACK}?error=access_denied")
    await assert_refused(visitor, landed, "provider_refused")


async def test_a_callback_without_a_code_is_refused(
    provider: IdentityProvider, visitor: Visitor
) -> None:
    state = parse_qs(urlsplit(await visitor.start()).query)["state"][0]
    landed = await visitor.come_back(f"{CALLBACK}?state={state}")
    await assert_refused(visitor, landed, "provider_refused")


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/token", (500, b"{}")),
        ("/token", (200, b"<html>")),
        ("/token", (200, b"[]")),
        ("/token", (302, b"")),
        ("/token", (200, b'{"x": "' + b"x" * provider_http.MAX_BYTES + b'"}')),
        ("/userinfo", (500, b"{}")),
    ],
)
async def test_an_unusable_answer_of_the_provider_is_refused(
    provider: IdentityProvider, visitor: Visitor, path: str, answer: tuple[int, bytes]
) -> None:
    provider.claims = {}
    provider.userinfo = person_claims("ann@example.com")
    provider.broken[path] = answer
    await assert_refused(visitor, await visitor.sign_in(), "provider_unavailable")


async def test_a_provider_that_is_down_is_reported_at_once_and_asked_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with identity_provider() as provider:
        provider.claims = person_claims("ann@example.com")
        discovery = "/.well-known/openid-configuration"
        provider.broken[discovery] = (503, b"")
        async with start_sso_service(tmp_path, provider) as service:
            visitor = Visitor(service)
            async with visitor.http:
                for _ in range(3):
                    answer = await visitor.http.get(START)
                    assert answer.headers["Location"] == "/login?error=provider_unavailable"
                assert provider.requests.count(discovery) == 1
                monkeypatch.setattr(provider_http, "FAILURE_SECONDS", 0)
                del provider.broken[discovery]
                assert await visitor.sign_in() == {"signedIn": "1"}


async def test_a_provider_that_nobody_runs_is_reported(
    tmp_path: Path, provider: IdentityProvider
) -> None:
    nobody = {"oidc_issuer": "http://127.0.0.1:9"}
    async with start_sso_service(tmp_path, provider, **nobody) as service:
        answer = await service.http.get(START)
        assert answer.headers["Location"] == "/login?error=provider_unavailable"


async def test_next_is_only_a_path_of_this_site(
    provider: IdentityProvider, visitor: Visitor
) -> None:
    assert await visitor.sign_in(next="//evil.example") == {"signedIn": "1"}


async def test_the_provider_is_not_asked_without_an_attempt(
    provider: IdentityProvider, visitor: Visitor
) -> None:
    answer = await visitor.http.get(f"{CALLBACK}?code=x&state=y")
    assert answer.headers["Location"] == "/login?error=sign_in_expired"
    assert "/token" not in provider.requests
