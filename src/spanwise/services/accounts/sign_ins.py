"""A sign-in: the token that a person gets, whichever way they signed in."""

from dataclasses import dataclass

from spanwise.model.accounts import Account, User
from spanwise.model.api_model import utc_now
from spanwise.services.tokens import Claims, TokenSigner


@dataclass(frozen=True)
class SignIn:
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
