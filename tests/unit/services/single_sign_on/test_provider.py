"""The discovery document, and how the client authenticates."""

from typing import Any

import pytest

from spanwise.services.single_sign_on.attempts import new_attempt
from spanwise.services.single_sign_on.provider import (
    ClientConfig,
    Provider,
    merge_claims,
    read_metadata,
)
from spanwise.services.single_sign_on.refusals import SignInRefused
from support.identity_provider import CLIENT_ID, CLIENT_SECRET, identity_provider

ISSUER = "https://login.example.com"


def document(**changes: Any) -> dict[str, Any]:
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    return {"issuer": ISSUER, **{name: f"{ISSUER}/{name}" for name in names}, **changes}


@pytest.mark.parametrize("found", [ISSUER, f"{ISSUER}/"])
@pytest.mark.parametrize("configured", [ISSUER, f"{ISSUER}/"])
def test_a_slash_at_the_end_of_the_issuer_does_not_matter(found: str, configured: str) -> None:
    assert read_metadata(document(issuer=found), configured).issuer == found


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": None},
        {"token_endpoint": "http://login.example.com/token"},
        {"jwks_uri": "file:///etc/passwd"},
        {"authorization_endpoint": ["https://login.example.com"]},
        {"userinfo_endpoint": "http://login.example.com/userinfo"},
    ],
)
def test_a_discovery_document_of_something_else_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(SignInRefused, match="provider_unavailable"):
        read_metadata(document(**changes), ISSUER)


@pytest.mark.parametrize(
    ("methods", "uses_basic_auth"),
    [
        (None, True),
        (["client_secret_post", "client_secret_basic"], True),
        (["client_secret_post", "private_key_jwt"], False),
    ],
)
def test_the_secret_is_sent_as_the_provider_wants(methods: Any, uses_basic_auth: bool) -> None:
    found = document(token_endpoint_auth_methods_supported=methods)
    assert read_metadata(found, ISSUER).uses_basic_auth is uses_basic_auth


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
@pytest.mark.parametrize("secret", [CLIENT_SECRET, "wrong"])
async def test_the_provider_checks_the_secret(method: str, secret: str) -> None:
    with identity_provider() as running:
        running.metadata = {"token_endpoint_auth_methods_supported": [method]}
        attempt = new_attempt(None, None)
        config = ClientConfig(running.issuer, CLIENT_ID, secret, "https://x/callback", "openid")
        provider = Provider(config)
        running.codes["code"] = {
            "redirect_uri": config.redirect_uri,
            "code_challenge": attempt.challenge,
            "nonce": attempt.nonce,
        }
        try:
            exchange = provider.exchange_code(attempt, "code", None, ())
            if secret == CLIENT_SECRET:
                assert (await exchange)["aud"] == CLIENT_ID
            else:
                with pytest.raises(SignInRefused, match="invalid_client"):
                    await exchange
        finally:
            await provider.close()


async def test_a_query_of_the_authorization_endpoint_is_kept() -> None:
    with identity_provider() as running:
        running.metadata = {"authorization_endpoint": f"{running.issuer}/authorize?tenant=x"}
        provider = Provider(ClientConfig(running.issuer, "client", "secret", "https://x", "openid"))
        url = await provider.authorization_url(new_attempt(None, None))
        await provider.close()
    assert url.startswith(f"{running.issuer}/authorize?tenant=x&response_type=code&")


@pytest.mark.parametrize(
    ("claims", "userinfo", "is_verified"),
    [
        ({}, {"email": "a", "email_verified": True}, True),
        ({"email": "a"}, {"email": "a", "email_verified": True}, True),
        ({"email": "a", "email_verified": True}, {"email": "b"}, True),
        ({"email": "a"}, {"email": "b", "email_verified": True}, False),
        ({"email": "a"}, {"email_verified": True}, False),
        ({"email": "a", "email_verified": False}, {"email": "a", "email_verified": True}, False),
        ({"email_verified": True}, {"email": "a"}, False),
        ({"email_verified": True}, {"email": "a", "email_verified": True}, True),
    ],
)
def test_a_verification_counts_for_the_address_that_it_was_given_with(
    claims: dict[str, Any], userinfo: dict[str, Any], is_verified: bool
) -> None:
    merged = merge_claims(claims, userinfo)
    assert merged["email"] == "a"
    assert (merged.get("email_verified") is True) is is_verified
