"""Routes of single sign-on: to the provider, and back from it.

The token is in no URL: the callback puts it into the cookie of the dashboard.
"""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Cookie, Depends, Query
from starlette.responses import RedirectResponse, Response

from spanwise.api.auth import ClientAddress
from spanwise.api.http.envelope import Failure
from spanwise.api.routing import PrefixRouter
from spanwise.api.services import Use, UseIdentity
from spanwise.model.errors import NotFound
from spanwise.services.single_sign_on.attempts import LIFETIME
from spanwise.services.single_sign_on.refusals import SignInRefused
from spanwise.services.single_sign_on.single_sign_on import Callback, SingleSignOn

router = PrefixRouter("auth", "/auth/oidc")

_COOKIE_PATH = "/api/auth/oidc"
_ATTEMPT = "spanwise_sign_in"
_REDIRECT = 303
Responses = dict[int | str, dict[str, Any]]
_NOT_FOUND: Responses = {404: {"model": Failure, "description": "Single sign-on is not set up."}}
_REDIRECTS: Responses = {
    **_NOT_FOUND,
    _REDIRECT: {"description": "To the provider, or to the dashboard's sign-in page."},
}


async def _find_single_sign_on(identity: UseIdentity) -> SingleSignOn:
    if identity.single_sign_on is None:
        raise NotFound("single sign-on is not set up on this installation")
    return identity.single_sign_on


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
        secure=use.settings.has_https,
        httponly=True,
        # The provider's redirect is a navigation from another site.
        samesite="lax",
    )
    return response


@router.get(
    "/callback", status_code=_REDIRECT, response_class=RedirectResponse, responses=_REDIRECTS
)
async def finish_single_sign_on(
    identity: UseIdentity,
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
    if finished.sign_in is None:
        response = _to_login(error=finished.refusal, next=finished.next_path)
    else:
        response = _to_login(signedIn="1", next=finished.next_path)
        identity.session_cookie.put(finished.sign_in, response)
    response.delete_cookie(_ATTEMPT, path=_COOKIE_PATH)
    return response


def _to_login(**query: str | None) -> RedirectResponse:
    given = {name: value for name, value in query.items() if value is not None}
    return RedirectResponse(f"/login?{urlencode(given)}", _REDIRECT)
