"""Routes for the signed-in user's profile and password."""

from fastapi import Request, Response

from spanwise.api.auth import ClientAddress, SignedIn
from spanwise.api.http.envelope import Success, succeed
from spanwise.api.http.session_cookie import is_from_dashboard
from spanwise.api.requests.fields import Name, NewPassword
from spanwise.api.routes.accounts.auth import (
    PASSWORD_LOGIN,
    DashboardSession,
    LoginAnswer,
    answer_with_cookie,
    answer_with_token,
)
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import UseIdentity
from spanwise.model.accounts import User
from spanwise.model.api_model import ApiModel

router = PrefixRouter("users", "/users")


class ProfileChange(ApiModel):
    name: Name | None = None
    default_workspace_id: str | None = None


class PasswordChange(ApiModel):
    current_password: str
    new_password: NewPassword


@router.get("/profile")
async def get_profile(caller: SignedIn, identity: UseIdentity) -> Success[User]:
    """Get your own account."""
    return succeed(await identity.accounts.find_profile(caller))


@router.put("/profile")
async def update_profile(
    body: ProfileChange, caller: SignedIn, identity: UseIdentity
) -> Success[User]:
    """Change your name, or the workspace of requests that name none."""
    return succeed(
        await identity.accounts.update_profile(caller, body.name, body.default_workspace_id)
    )


@router.put("/password", dependencies=PASSWORD_LOGIN)
async def change_password(
    body: PasswordChange,
    caller: SignedIn,
    identity: UseIdentity,
    address: ClientAddress,
    request: Request,
    response: Response,
) -> Success[LoginAnswer | DashboardSession]:
    """Change the password. All earlier tokens become invalid; the response has a new one.

    The dashboard gets the new one in its cookie.
    """
    sign_in = await identity.accounts.change_password(
        caller, body.current_password, body.new_password, address
    )
    if is_from_dashboard(request.headers):
        return succeed(answer_with_cookie(sign_in, identity.session_cookie, response))
    return succeed(answer_with_token(sign_in))
