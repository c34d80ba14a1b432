"""A sign-in that has started: kept in a signed cookie, so that only this browser can finish it."""

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import jwt

from spanwise.services.single_sign_on.refusals import Reason, SignInRefused

LIFETIME = timedelta(minutes=10)

_ALGORITHM = "HS256"
# Differs from the audience of sign-in tokens, which the same secret signs.
_AUDIENCE = "spanwise-oidc"
# A browser keeps 4,096 bytes of a cookie.
_MAX_PATH = 1_000
_MAX_INVITATION = 100
# Only visible ASCII: browsers remove tabs, so that `/<tab>/host` would become `//host`.
_OWN_PATH = re.compile(r"/(?![/\\])[\x21-\x7e]*")


@dataclass(frozen=True)
class Attempt:
    state: str
    nonce: str
    verifier: str
    next_path: str | None = None
    invitation: str | None = None

    @property
    def challenge(self) -> str:
        """The PKCE challenge, method S256."""
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def new_attempt(next_path: str | None, invitation: str | None) -> Attempt:
    is_short = invitation is not None and len(invitation) <= _MAX_INVITATION
    return Attempt(
        state=secrets.token_urlsafe(32),
        nonce=secrets.token_urlsafe(32),
        verifier=secrets.token_urlsafe(48),
        next_path=next_path if is_own_path(next_path) else None,
        invitation=invitation if is_short else None,
    )


def is_own_path(path: str | None) -> bool:
    """Return whether a path stays on this site when a browser is redirected to it."""
    return path is not None and len(path) <= _MAX_PATH and bool(_OWN_PATH.fullmatch(path))


class AttemptSigner:
    def __init__(self, secret: str) -> None:
        self._secret = secret

    def sign(self, attempt: Attempt, now: datetime) -> str:
        payload = {"aud": _AUDIENCE, "exp": now + LIFETIME, "attempt": asdict(attempt)}
        return jwt.encode(payload, self._secret, algorithm=_ALGORITHM)

    def check(self, cookie: str | None, state: str | None) -> Attempt:
        """Return the attempt of this browser, if the provider returned its state."""
        try:
            payload = jwt.decode(
                cookie or "",
                self._secret,
                algorithms=[_ALGORITHM],
                audience=_AUDIENCE,
                options={"require": ["aud", "exp"]},
            )
        except jwt.InvalidTokenError as error:
            raise SignInRefused(Reason.SIGN_IN_EXPIRED, f"cookie: {error}") from None
        attempt = Attempt(**payload["attempt"])
        if not hmac.compare_digest(attempt.state.encode(), (state or "").encode()):
            raise SignInRefused(Reason.SIGN_IN_EXPIRED, "the state is not the one of the cookie")
        return attempt
