"""Sign-ins with their signed tokens (JWT), and random tokens for links in mails."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import jwt

from spanwise.model.accounts import Account, User
from spanwise.model.api_model import utc_now
from spanwise.model.errors import Unauthorized

_ALGORITHM = "HS256"
_ISSUER = "spanwise"
_AUDIENCE = "spanwise-api"
# Our tokens have about 250 characters. The library parses a token's JSON, which may take twenty
# times its size in memory, before it checks the signature.
_MAX_CHARACTERS = 512


@dataclass(frozen=True)
class Claims:
    user_id: str
    token_version: int


class TokenSigner:
    """Signs and checks sign-in tokens with one pinned algorithm."""

    def __init__(self, secret: str, lifetime: timedelta) -> None:
        self._secret = secret
        self.lifetime = lifetime

    def sign(self, claims: Claims, now: datetime) -> str:
        payload = {
            "sub": claims.user_id,
            "ver": claims.token_version,
            "iss": _ISSUER,
            "aud": _AUDIENCE,
            "iat": now,
            "exp": now + self.lifetime,
        }
        return jwt.encode(payload, self._secret, algorithm=_ALGORITHM)

    def check(self, token: str) -> Claims:
        if len(token) > _MAX_CHARACTERS:
            raise Unauthorized("the token is not valid")
        try:
            payload = jwt.decode(
                token,
                self._secret,
                algorithms=[_ALGORITHM],
                issuer=_ISSUER,
                audience=_AUDIENCE,
                # A replica whose clock is slightly behind must accept tokens of other replicas.
                options={
                    "require": ["sub", "ver", "iat", "exp", "iss", "aud"],
                    "verify_iat": False,
                },
            )
        except jwt.ExpiredSignatureError:
            raise Unauthorized("the token has expired; log in again") from None
        except jwt.InvalidTokenError:
            raise Unauthorized("the token is not valid") from None
        if not isinstance(payload["ver"], int):
            raise Unauthorized("the token is not valid")
        return Claims(payload["sub"], payload["ver"])


@dataclass(frozen=True)
class SignIn:
    """The token that a person gets, whichever way they signed in."""

    token: str
    expires_in_seconds: int
    user: User


def new_sign_in(signer: TokenSigner, account: Account) -> SignIn:
    claims = Claims(account.user.id, account.token_version)
    return SignIn(
        token=signer.sign(claims, utc_now()),
        expires_in_seconds=int(signer.lifetime.total_seconds()),
        user=account.user,
    )


def new_secret() -> str:
    """Return a random token for a link in a mail."""
    return secrets.token_urlsafe(32)


def hash_secret(secret: str) -> str:
    """Hash a random token for storage; it has enough entropy for plain SHA-256."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()
