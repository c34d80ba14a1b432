"""The cookie of a sign-in that has started."""

import base64
import hashlib
from datetime import timedelta

import pytest

from spanwise.model.api_model import utc_now
from spanwise.services.single_sign_on.attempts import (
    LIFETIME,
    AttemptSigner,
    is_own_path,
    new_attempt,
)
from spanwise.services.single_sign_on.refusals import SignInRefused

SECRET = "a secret of more than 32 characters"


def test_the_challenge_is_the_hash_of_the_verifier() -> None:
    attempt = new_attempt(None, None)
    padded = attempt.challenge + "=" * (-len(attempt.challenge) % 4)
    assert base64.urlsafe_b64decode(padded) == hashlib.sha256(attempt.verifier.encode()).digest()
    assert 43 <= len(attempt.verifier) <= 128


def test_the_cookie_returns_the_attempt_until_it_expires() -> None:
    signer, attempt, now = AttemptSigner(SECRET), new_attempt("/logs?page=2", "token"), utc_now()
    assert signer.check(signer.sign(attempt, now), attempt.state) == attempt
    late = signer.sign(attempt, now - LIFETIME - timedelta(seconds=1))
    with pytest.raises(SignInRefused, match="sign_in_expired"):
        signer.check(late, attempt.state)


def test_a_cookie_of_another_secret_is_refused() -> None:
    attempt = new_attempt(None, None)
    cookie = AttemptSigner("another secret of 32 characters!!").sign(attempt, utc_now())
    with pytest.raises(SignInRefused, match="sign_in_expired"):
        AttemptSigner(SECRET).check(cookie, attempt.state)


def test_the_largest_cookie_is_kept_by_browsers() -> None:
    attempt = new_attempt("/" + '"' * 999, "i" * 100)
    assert attempt.next_path is not None
    assert len(AttemptSigner(SECRET).sign(attempt, utc_now())) < 4_000


@pytest.mark.parametrize("path", ["/", "/traces", "/traces?next=//x#a", "/a//b", "/%09/evil"])
def test_a_path_of_this_site_is_kept(path: str) -> None:
    assert is_own_path(path)


@pytest.mark.parametrize(
    "path",
    [
        None,
        "",
        "traces",
        "//evil",
        "/\\evil",
        "\\evil",
        "/\t/evil",
        "/\n/evil",
        " /x",
        "/é",
        "https://x",
    ],
)
def test_anything_else_is_not(path: str | None) -> None:
    assert not is_own_path(path)


def test_what_is_too_long_for_a_cookie_is_left_out() -> None:
    attempt = new_attempt("/" + "x" * 1_000, "i" * 101)
    assert (attempt.next_path, attempt.invitation) == (None, None)
