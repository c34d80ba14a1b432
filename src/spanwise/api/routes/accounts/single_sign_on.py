"""Routes of single sign-on: to the provider, back from it, and the token for the dashboard.

The token is in no URL: the callback sets a cookie with a one-time code for it.
"""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Cookie, Depends, Query
from starlette.responses import RedirectResponse, Response

from spanwise.api.auth import ClientAddress
from spanwise.api.http.envelope import Failure, Success
from spanwise.api.http.prefix_router import PrefixRouter
from spanwise.api.routes.accounts.auth import LoginAnswer, login_response
from spanwise.api.services import Use
from spanwise.model.errors import NotFound
from spanwise.services.single_sign_on.attempts import LIFETIME
from spanwise.services.single_sign_on.refusals import SignInRefused
from spanwise.services.single_sign_on.single_sign_on import (
    HANDOVER_LIFETIME,
    Callback,
    SingleSignOn,
)

router = PrefixRouter("auth", "/auth/oidc")

_COOKIE_PATH = "/api/auth/oidc"
_ATTEMPT = "spanwise_sign_in"
_SIGN_IN_CODE = "spanwise_handover"
_REDIRECT = 303
Responses = dict[int | str, dict[str, Any]]
_NOT_FOUND: Responses = {404: {"model": Failure, "description": "Single sign-on is not set up."}}
_REDIRECTS: Responses = {
    **_NOT_FOUND,
    _REDIRECT: {"description": "To the provider, or to the dashboard's sign-in page."},
}


async def _find_single_sign_on(use: Use) -> SingleSignOn:
    if use.single_sign_on is None:
        raise NotFound("single sign-on is not set up on this installation")
    return use.single_sign_on


Sso = Annotated[SingleSignOn, Depends(_find_single_sign_on)]


@router.get("/start", status_code=_REDIRECT, response_class=RedirectResponse, responses=_REDIRECTS)
async def start_single_sign_on(
    use: Use,
    sso: Sso,
    next_path: Annotated[str | None, Query(alias="next")] = None,
    invitation: Annotated[str | None, Query()] = None,
) -> Response:
    """Open in a browser: redirects to the provider. `next` is the path to show afterwards.

    `invitation` is the token of an invitation, which is accepted after signing in.
    """
    try:
        started = await sso.start(next_path, invitation)
    except SignInRefused as refused:
        return _to_login(error=refused.reason)
    response = RedirectResponse(started.url, _REDIRECT)
    response.set_cookie(
        _ATTEMPT,
        started.cookie,
        max_age=int(LIFETIME.total_seconds()),
        path=_COOKIE_PATH,
        secure=_is_https(use),
        httponly=True,
        # The provider's redirect is a navigation from another site.
        samesite="lax",
    )
    return response


@router.get(
    "/callback", status_code=_REDIRECT, response_class=RedirectResponse, responses=_REDIRECTS
)
async def finish_single_sign_on(
    use: Use,
    sso: Sso,
    address: ClientAddress,
    code: Annotated[str | None, Query()] = None,
    state: Annotated[str | None, Query()] = None,
    error: Annotated[str | None, Query()] = None,
    iss: Annotated[str | None, Query()] = None,
    attempt: Annotated[str | None, Cookie(alias=_ATTEMPT)] = None,
) -> Response:
    """Where the provider sends the browser back to; redirects to the dashboard."""
    finished = await sso.finish(Callback(code, state, error, iss), attempt, address)
    if finished.sign_in_code is None:
        response = _to_login(error=finished.refusal, next=finished.next_path)
    else:
        response = _to_login(signedIn="1", next=finished.next_path)
        response.set_cookie(
            _SIGN_IN_CODE,
            finished.sign_in_code,
            max_age=int(HANDOVER_LIFETIME.total_seconds()),
            path=_COOKIE_PATH,
            secure=_is_https(use),
            httponly=True,
            samesite="strict",
        )
    response.delete_cookie(_ATTEMPT, path=_COOKIE_PATH)
    return response


@router.post("/token", responses=_NOT_FOUND)
async def take_single_sign_on_token(
    sso: Sso,
    response: Response,
    sign_in_code: Annotated[str | None, Cookie(alias=_SIGN_IN_CODE)] = None,
) -> Success[LoginAnswer]:
    """Exchange the cookie of a finished single sign-on for a token; once, within a minute."""
    sign_in = await sso.redeem(sign_in_code)
    response.delete_cookie(_SIGN_IN_CODE, path=_COOKIE_PATH)
    return login_response(sign_in)


def _to_login(**query: str | None) -> RedirectResponse:
    given = {name: value for name, value in query.items() if value is not None}
    return RedirectResponse(f"/login?{urlencode(given)}", _REDIRECT)


def _is_https(use: Use) -> bool:
    return use.settings.public_address.startswith("https://")
