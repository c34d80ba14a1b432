"""Routes for the signed-in user's profile and password."""

from spanwise.api.auth import ClientAddress, SignedIn
from spanwise.api.http.envelope import Success, succeed
from spanwise.api.http.prefix_router import PrefixRouter
from spanwise.api.requests.fields import Name, NewPassword
from spanwise.api.routes.accounts.auth import PASSWORD_LOGIN, LoginAnswer, login_response
from spanwise.api.services import Use
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
async def get_profile(caller: SignedIn, use: Use) -> Success[User]:
    """Get your own account."""
    return succeed(await use.accounts.find_profile(caller))


@router.put("/profile")
async def update_profile(body: ProfileChange, caller: SignedIn, use: Use) -> Success[User]:
    """Change your name, or the workspace of requests that name none."""
    return succeed(await use.accounts.update_profile(caller, body.name, body.default_workspace_id))


@router.put("/password", dependencies=PASSWORD_LOGIN)
async def change_password(
    body: PasswordChange, caller: SignedIn, use: Use, address: ClientAddress
) -> Success[LoginAnswer]:
    """Change the password. All earlier tokens become invalid; the response has a new one."""
    sign_in = await use.accounts.change_password(
        caller, body.current_password, body.new_password, address
    )
    return login_response(sign_in)
