"""The cookie that keeps the dashboard's token where scripts cannot read it.

A browser also sends cookies with requests that other sites cause. So the cookie counts only if the
request has a header that other origins cannot set without a CORS preflight, which never allows
credentials, and if the browser, where it says so, names our own origin as the sender. This holds
for reads too, because some have effects.
"""

import hashlib
from collections.abc import Mapping

from fastapi import Depends, Request
from starlette.requests import cookie_parser
from starlette.responses import Response

from spanwise.model.errors import Forbidden
from spanwise.services.tokens import SignIn

DASHBOARD_HEADER = "x-spanwise-dashboard"
_SAME_ORIGIN = "same-origin"
# Only the API needs the cookie; the host may have other services at other paths.
_PATH = "/api"


class SessionCookie:
    """Finds, sets and removes the cookie of this installation."""

    def __init__(self, secret_key: str, *, is_secure: bool) -> None:
        # Ports of one host share their cookies, so installations on them need different names.
        # Four digits are enough for that and help nobody to guess the key.
        digest = hashlib.sha256(b"session cookie\0" + secret_key.encode()).hexdigest()
        self.name = f"spanwise_session_{digest[:4]}"
        self._is_secure = is_secure

    def find_token(self, headers: Mapping[str, str]) -> str | None:
        """Return the token in the cookie, if the dashboard sent it."""
        if not is_from_dashboard(headers):
            return None
        return cookie_parser(headers.get("cookie", "")).get(self.name)

    def put(self, sign_in: SignIn, response: Response) -> None:
        response.set_cookie(
            self.name,
            sign_in.token,
            max_age=sign_in.expires_in_seconds,
            path=_PATH,
            secure=self._is_secure,
            httponly=True,
            samesite="lax",
        )

    def remove(self, response: Response) -> None:
        response.delete_cookie(
            self.name, path=_PATH, secure=self._is_secure, httponly=True, samesite="lax"
        )


def is_from_dashboard(headers: Mapping[str, str]) -> bool:
    """Return whether a page of our own origin sent the request.

    Browsers send `Sec-Fetch-Site` over https and on localhost only.
    """
    if DASHBOARD_HEADER not in headers:
        return False
    return headers.get("sec-fetch-site", _SAME_ORIGIN) == _SAME_ORIGIN


async def _require_dashboard(request: Request) -> None:
    if not is_from_dashboard(request.headers):
        raise Forbidden(f"this is for the dashboard, which sends {DASHBOARD_HEADER}")


# Checked before the body is validated. Without it, another site could sign a browser in or out.
DASHBOARD_ONLY = [Depends(_require_dashboard)]
