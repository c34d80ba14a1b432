"""ID tokens: signature, issuer, audience, expiry and nonce. Keys are fetched again on rotation."""

import hmac
from typing import Any

import jwt

from spanwise.services.single_sign_on.provider_http import CachedDocument, Json
from spanwise.services.single_sign_on.refusals import Reason, SignInRefused

# Only asymmetric: with HS256, the public key or the client secret could sign tokens.
ALGORITHMS = (
    *("RS256", "RS384", "RS512"),
    *("PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA"),
)
CLOCK_SKEW_SECONDS = 60
# An unknown key id fetches the keys again, at most this often.
REFETCH_SECONDS = 5.0

_REQUIRED = ["iss", "sub", "aud", "exp", "iat"]


class IdTokenVerifier:
    def __init__(self, client_id: str, keys: CachedDocument[Json]) -> None:
        self._client_id = client_id
        self._keys = keys

    async def verify(self, token: str, issuer: str, nonce: str) -> Json:
        """Return the claims of a valid token that answers the request with this nonce."""
        try:
            key = await self._find_key(jwt.get_unverified_header(token))
            claims: Json = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                issuer=issuer,
                audience=self._client_id,
                leeway=CLOCK_SKEW_SECONDS,
                options={"require": _REQUIRED, "enforce_minimum_key_length": True},
            )
        except jwt.PyJWTError as error:
            raise _rejected(f"{type(error).__name__}: {error}") from None
        self._check_authorized_party(claims)
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise _rejected("the nonce is not the one of the request")
        return claims

    def _check_authorized_party(self, claims: Json) -> None:
        audience = claims["aud"]
        has_others = isinstance(audience, list) and len(audience) > 1
        if claims.get("azp", None if has_others else self._client_id) != self._client_id:
            raise _rejected("the token was issued for another client")

    async def _find_key(self, header: dict[str, Any]) -> jwt.PyJWK:
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise _rejected(f"algorithm {algorithm} is not allowed")
        kid = header.get("kid")
        key = _select_key(await self._keys.get(), kid, algorithm)
        if key is None:
            key = _select_key(await self._keys.get(REFETCH_SECONDS), kid, algorithm)
        if key is None:
            raise _rejected(f"there is no key {kid} for {algorithm}")
        return key


def _select_key(document: Json, kid: object, algorithm: str) -> jwt.PyJWK | None:
    """Return the signing key with this id; without an id, the only one that fits."""
    fitting = []
    keys = document.get("keys")
    for entry in keys if isinstance(keys, list) else ():
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
            continue
        if entry.get("alg", algorithm) != algorithm or kid not in (None, entry.get("kid")):
            continue
        try:
            fitting.append(jwt.PyJWK(entry, algorithm))
        except jwt.PyJWTError:
            # The type of the key does not fit the algorithm.
            continue
    return fitting[0] if len(fitting) == 1 else None


def _rejected(detail: str) -> SignInRefused:
    return SignInRefused(Reason.TOKEN_REJECTED, detail)
