"""ID tokens: allowed algorithms, the choice of a key, and clock skew."""

import base64
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ec_key

from spanwise.services.single_sign_on.id_tokens import CLOCK_SKEW_SECONDS, IdTokenVerifier
from spanwise.services.single_sign_on.provider_http import CachedDocument
from spanwise.services.single_sign_on.refusals import SignInRefused
from support.identity_provider import CLIENT_ID, SigningKey, new_signing_key

ISSUER = "https://login.example.com"
NONCE = "a nonce"


@pytest.fixture(scope="module")
def key() -> SigningKey:
    return new_signing_key()


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    standard = {"iss": ISSUER, "sub": "ann", "aud": CLIENT_ID, "nonce": NONCE}
    return {**standard, "iat": now, "exp": now + 300, **changes}


async def verify(token: str, *keys: Any) -> dict[str, Any]:
    async def fetch() -> dict[str, Any]:
        return {"keys": list(keys)}

    verifier = IdTokenVerifier(CLIENT_ID, CachedDocument(fetch))
    return await verifier.verify(token, ISSUER, NONCE)


@pytest.mark.parametrize("algorithm", ["RS256", "RS512", "PS256"])
async def test_a_key_verifies_the_algorithms_of_its_type(key: SigningKey, algorithm: str) -> None:
    token = jwt.encode(claims(), key.private, algorithm, headers={"kid": key.kid})
    assert (await verify(token, key.public))["sub"] == "ann"


async def test_elliptic_curves_are_supported() -> None:
    private = generate_ec_key(SECP256R1())
    public = jwt.algorithms.ECAlgorithm.to_jwk(private.public_key(), as_dict=True)
    token = jwt.encode(claims(), private, "ES256", headers={"kid": "ec"})
    assert (await verify(token, {**public, "kid": "ec"}))["sub"] == "ann"


@pytest.mark.parametrize("algorithm", ["HS256", "none"])
async def test_symmetric_and_unsigned_tokens_are_refused(algorithm: str) -> None:
    secret = b"a symmetric key of 32 characters" * 2
    symmetric = {"kty": "oct", "kid": "s", "k": base64.urlsafe_b64encode(secret).decode()}
    signing = secret if algorithm == "HS256" else None
    token = jwt.encode(claims(), signing, algorithm, headers={"kid": "s"})  # type: ignore[arg-type]
    with pytest.raises(SignInRefused, match="not allowed"):
        await verify(token, symmetric)


async def test_a_token_without_a_key_id_uses_the_only_key(key: SigningKey) -> None:
    token = jwt.encode(claims(), key.private, "RS256")
    encryption = {**new_signing_key().public, "use": "enc"}
    assert (await verify(token, encryption, key.public))["sub"] == "ann"
    with pytest.raises(SignInRefused, match="no key"):
        await verify(token, key.public, new_signing_key().public)


@pytest.mark.parametrize(
    "change", [{"alg": "RS512"}, {"use": "enc"}, {"kid": "other"}, {"kty": "EC"}, {"n": "!"}]
)
async def test_a_key_for_something_else_is_not_used(
    key: SigningKey, change: dict[str, str]
) -> None:
    token = jwt.encode(claims(), key.private, "RS256", headers={"kid": key.kid})
    with pytest.raises(SignInRefused, match="no key"):
        await verify(token, {**key.public, **change}, "not a key")


async def test_a_signature_of_another_key_is_refused(key: SigningKey) -> None:
    token = jwt.encode(claims(), new_signing_key().private, "RS256", headers={"kid": key.kid})
    with pytest.raises(SignInRefused, match="InvalidSignatureError"):
        await verify(token, key.public)


async def test_clocks_may_differ_by_a_minute(key: SigningKey) -> None:
    now, near = int(time.time()), CLOCK_SKEW_SECONDS - 20
    for accepted in ({"exp": now - near}, {"iat": now + near}, {"nbf": now + near}):
        token = jwt.encode(claims(**accepted), key.private, "RS256", headers={"kid": key.kid})
        await verify(token, key.public)
    far = CLOCK_SKEW_SECONDS + 20
    for refused in ({"exp": now - far}, {"iat": now + far}, {"nbf": now + far}):
        token = jwt.encode(claims(**refused), key.private, "RS256", headers={"kid": key.kid})
        with pytest.raises(SignInRefused, match="token_rejected"):
            await verify(token, key.public)


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é.é.é"])
async def test_what_is_no_token_is_refused(key: SigningKey, token: str) -> None:
    with pytest.raises(SignInRefused, match="token_rejected"):
        await verify(token, key.public)
