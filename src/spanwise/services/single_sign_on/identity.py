"""Who signed in, according to the provider's claims, and whether the installation lets them in."""

from dataclasses import dataclass
from typing import Any

from spanwise.services.accounts.emails import normalize_email, parse_email
from spanwise.services.single_sign_on.refusals import Reason, SignInRefused

_MAX_NAME = 200
_NAME_CLAIMS = ("name", "preferred_username", "nickname")


@dataclass(frozen=True)
class Identity:
    email: str
    name: str


def read_identity(claims: dict[str, Any]) -> Identity:
    """Return the person with a normalized address."""
    try:
        email = normalize_email(parse_email(str(claims.get("email") or "")))
    except ValueError as error:
        raise SignInRefused(Reason.EMAIL_MISSING, str(error)) from None
    names = (_clean_name(claims.get(name)) for name in _NAME_CLAIMS)
    return Identity(email, next(filter(None, names), email.partition("@")[0]))


def check_address(
    identity: Identity, claims: dict[str, Any], *, domains: tuple[str, ...], trusts_email: bool
) -> None:
    """Refuse an address that the provider has not verified, or of another domain."""
    verified = claims.get("email_verified")
    # Some providers send booleans as text. A number is no boolean, although 1 equals True.
    if not trusts_email and verified is not True and verified != "true":
        raise SignInRefused(Reason.EMAIL_NOT_VERIFIED)
    if domains and identity.email.rpartition("@")[2] not in domains:
        raise SignInRefused(Reason.DOMAIN_NOT_ALLOWED)


def _clean_name(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return "".join(filter(str.isprintable, value)).strip()[:_MAX_NAME]
