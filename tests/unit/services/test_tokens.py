"""Sign-in tokens: one pinned algorithm, every claim required."""

from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from spanwise.model.errors import Unauthorized
from spanwise.services.tokens import Claims, TokenSigner, hash_secret, new_secret

SECRET = "s" * 32
CLAIMS = Claims("usr_1", 3)
signer = TokenSigner(SECRET, timedelta(hours=1))


def forge(secret: str | None = SECRET, algorithm: str = "HS256", **changes: Any) -> str:
    now = datetime.now(UTC)
    payload = {
        "sub": "usr_1",
        "ver": 3,
        "iss": "spanwise",
        "aud": "spanwise-api",
        "iat": now,
        "exp": now + timedelta(hours=1),
        **changes,
    }
    kept = {name: value for name, value in payload.items() if value is not None}
    # The library accepts None for the algorithm `none`, unlike its annotation.
    return jwt.encode(kept, secret, algorithm=algorithm)  # type: ignore[arg-type]


def test_a_signed_token_returns_its_claims() -> None:
    assert signer.check(signer.sign(CLAIMS, datetime.now(UTC))) == CLAIMS
    assert signer.check(forge()) == CLAIMS


def test_a_token_expires_after_its_lifetime() -> None:
    token = signer.sign(CLAIMS, datetime.now(UTC) - timedelta(hours=1, seconds=1))
    with pytest.raises(Unauthorized, match="expired"):
        signer.check(token)


def test_a_token_of_a_replica_whose_clock_is_ahead_is_accepted() -> None:
    assert signer.check(signer.sign(CLAIMS, datetime.now(UTC) + timedelta(seconds=30))) == CLAIMS


@pytest.mark.parametrize("claim", ["sub", "ver", "iss", "aud", "iat", "exp"])
def test_a_token_without_one_of_its_claims_is_refused(claim: str) -> None:
    with pytest.raises(Unauthorized):
        signer.check(forge(SECRET, "HS256", **{claim: None}))


FOREIGN = {
    "another secret": forge(secret="t" * 32),
    "another algorithm": forge(secret=SECRET * 2, algorithm="HS512"),
    "no algorithm": forge(secret=None, algorithm="none"),
    "another issuer": forge(iss="another"),
    "another audience": forge(aud="another"),
    "a version of another type": forge(ver="3"),
    "a subject of another type": forge(sub=7),
    "a short signature": forge()[:-2],
    "nothing": "",
    "too long": forge(padding="x" * 600),
    "no JSON": "a.b.c",
    "no ASCII": "é.é.é",
}


# With ids, because tokens differ from second to second, and workers must collect the same tests.
@pytest.mark.parametrize("token", FOREIGN.values(), ids=FOREIGN)
def test_a_foreign_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthorized):
        signer.check(token)


def test_a_mailed_secret_is_long_random_and_stored_as_a_hash() -> None:
    assert len({new_secret() for _ in range(100)}) == 100
    assert len(new_secret()) >= 43
    assert hash_secret("a") != hash_secret("b")
    assert len(hash_secret("a")) == 64
