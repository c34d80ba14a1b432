"""Names and addresses in the claims of a provider."""

from typing import Any

import pytest

from spanwise.services.single_sign_on.identity import check_address, read_identity
from spanwise.services.single_sign_on.refusals import SignInRefused


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"name": " Ann Example "}, "Ann Example"),
        ({"name": "", "preferred_username": "ann"}, "ann"),
        ({"name": 7, "nickname": "annie"}, "annie"),
        ({"name": "a\x00\nb"}, "ab"),
        ({"name": "x" * 300}, "x" * 200),
        ({}, "me"),
    ],
)
def test_the_name_is_what_the_provider_knows(claims: dict[str, Any], name: str) -> None:
    assert read_identity({"email": "me@example.com", **claims}).name == name


def test_the_address_is_compared_in_lower_case() -> None:
    assert read_identity({"email": "Me@Example.COM"}).email == "me@example.com"


@pytest.mark.parametrize("verified", [True, "true"])
def test_verified_is_a_boolean_or_its_text(verified: object) -> None:
    claims = {"email": "me@example.com", "email_verified": verified}
    check_address(read_identity(claims), claims, domains=("example.com",), trusts_email=False)


@pytest.mark.parametrize("verified", [False, None, "false", ["true"], 1, 1.0, "1", "True"])
def test_anything_else_is_not_verified(verified: object) -> None:
    claims = {"email": "me@example.com", "email_verified": verified}
    with pytest.raises(SignInRefused, match="email_not_verified"):
        check_address(read_identity(claims), claims, domains=(), trusts_email=False)
