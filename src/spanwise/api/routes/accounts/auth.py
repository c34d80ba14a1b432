"""Routes for registration, sign-in, verification and password reset."""

from typing import Annotated, Literal

from fastapi import Depends, Query, Response

from spanwise.api.auth import ClientAddress
from spanwise.api.http.envelope import Done, Success, succeed
from spanwise.api.http.session_cookie import DASHBOARD_ONLY, SessionCookie
from spanwise.api.requests.fields import Email, Name, NewPassword
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import Use, UseIdentity
from spanwise.model.accounts import SignInOptions, User
from spanwise.model.api_model import ApiModel
from spanwise.model.errors import Forbidden
from spanwise.services.tokens import SignIn

router = PrefixRouter("auth", "/auth")


class Registration(ApiModel):
    email: Email
    password: NewPassword
    name: Name | None = None
    invitation: str | None = None


class Login(ApiModel):
    email: Email
    password: str


class DashboardSession(ApiModel):
    """A sign-in whose token is in the cookie of the dashboard."""

    expires_in: int
    user: User


class LoginAnswer(ApiModel):
    token: str
    token_type: Literal["Bearer"] = "Bearer"
    expires_in: int
    user: User


class EmailOnly(ApiModel):
    email: Email


class PasswordReset(ApiModel):
    token: str
    password: NewPassword


def answer_with_token(sign_in: SignIn) -> LoginAnswer:
    return LoginAnswer(
        token=sign_in.token, expires_in=sign_in.expires_in_seconds, user=sign_in.user
    )


def answer_with_cookie(
    sign_in: SignIn, cookie: SessionCookie, response: Response
) -> DashboardSession:
    cookie.put(sign_in, response)
    return DashboardSession(expires_in=sign_in.expires_in_seconds, user=sign_in.user)


async def require_password_login(use: Use) -> None:
    if not use.settings.password_login:
        raise Forbidden("passwords are turned off on this installation; use single sign-on")


# Checked before the body is validated.
PASSWORD_LOGIN = [Depends(require_password_login)]


@router.get("/options")
async def get_sign_in_options(identity: UseIdentity) -> Success[SignInOptions]:
    """What the sign-in page offers: passwords, registration, single sign-on."""
    return succeed(await identity.accounts.find_sign_in_options())


@router.post("/register", status_code=201, dependencies=PASSWORD_LOGIN)
async def register(
    body: Registration, identity: UseIdentity, address: ClientAddress
) -> Success[User]:
    """Create an account with its own workspace. The first account becomes admin.

    `invitation` is the token of an invitation; it works even if registration is closed.
    """
    name = body.name or body.email.partition("@")[0]
    return succeed(
        await identity.accounts.register(body.email, body.password, name, address, body.invitation)
    )


@router.post("/login", dependencies=PASSWORD_LOGIN)
async def login(body: Login, identity: UseIdentity, address: ClientAddress) -> Success[LoginAnswer]:
    """Sign in; the token goes into `Authorization: Bearer …`."""
    return succeed(
        answer_with_token(await identity.accounts.login(body.email, body.password, address))
    )


@router.post("/session", dependencies=[*DASHBOARD_ONLY, *PASSWORD_LOGIN])
async def start_session(
    body: Login, identity: UseIdentity, address: ClientAddress, response: Response
) -> Success[DashboardSession]:
    """Sign in to the dashboard; the token goes into a cookie that scripts cannot read."""
    sign_in = await identity.accounts.login(body.email, body.password, address)
    return succeed(answer_with_cookie(sign_in, identity.session_cookie, response))


@router.delete("/session", dependencies=DASHBOARD_ONLY)
async def end_session(identity: UseIdentity, response: Response) -> Success[Done]:
    """Sign out of the dashboard: removes its cookie."""
    identity.session_cookie.remove(response)
    return succeed(Done(message="signed out"))


@router.get("/verify-email")
async def verify_email(
    token: Annotated[str, Query()], identity: UseIdentity, address: ClientAddress
) -> Success[User]:
    """Verify an e-mail address with the mailed token; single use, valid for 48 hours."""
    return succeed(await identity.accounts.verify_email(token, address))


@router.post("/resend-verification")
async def resend_verification(body: EmailOnly, identity: UseIdentity) -> Success[Done]:
    """Mail a new verification link. The response is the same whether or not the account exists."""
    await identity.accounts.resend_verification(body.email)
    return succeed(Done(message="if the address needs verifying, a mail is on its way"))


@router.post("/forgot-password", dependencies=PASSWORD_LOGIN)
async def forgot_password(
    body: EmailOnly, identity: UseIdentity, address: ClientAddress
) -> Success[Done]:
    """Mail a reset link. The response is the same whether or not the account exists."""
    await identity.accounts.forgot_password(body.email, address)
    return succeed(Done(message="if the address has an account, a mail is on its way"))


@router.post("/reset-password", dependencies=PASSWORD_LOGIN)
async def reset_password(
    body: PasswordReset, identity: UseIdentity, address: ClientAddress
) -> Success[Done]:
    """Set a new password with the mailed token; single use, valid for one hour."""
    await identity.accounts.reset_password(body.token, body.password, address)
    return succeed(Done(message="the password is changed; log in with the new one"))
