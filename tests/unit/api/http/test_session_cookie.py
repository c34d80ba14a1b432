"""The cookie of the dashboard: when it counts, and how it is set."""

import pytest
from starlette.datastructures import Headers
from starlette.responses import Response

from spanwise.api.http.session_cookie import SessionCookie
from spanwise.services.tokens import SignIn
from support.accounts import make_account

COOKIE = SessionCookie("a key of at least thirty-two characters", is_secure=False)
DASHBOARD = {"X-Spanwise-Dashboard": "1"}


@pytest.mark.parametrize(
    ("headers", "counts"),
    [
        (DASHBOARD, True),
        ({**DASHBOARD, "Sec-Fetch-Site": "same-origin"}, True),
        ({**DASHBOARD, "Sec-Fetch-Site": "same-site"}, False),
        ({**DASHBOARD, "Sec-Fetch-Site": "cross-site"}, False),
        # A person who opens the address.
        ({**DASHBOARD, "Sec-Fetch-Site": "none"}, False),
        ({**DASHBOARD, "Sec-Fetch-Site": ""}, False),
        ({"Sec-Fetch-Site": "same-origin"}, False),
        ({"Origin": "http://test", "X-Requested-With": "XMLHttpRequest"}, False),
        ({}, False),
    ],
)
def test_the_cookie_counts_only_for_requests_of_the_dashboard(
    headers: dict[str, str], counts: bool
) -> None:
    sent = Headers({"Cookie": f"theme=dark; {COOKIE.name}=abc.def", **headers})
    assert COOKIE.find_token(sent) == ("abc.def" if counts else None)


def test_a_request_without_the_cookie_has_no_token() -> None:
    for cookies in ({}, {"Cookie": ""}, {"Cookie": "spanwise_session_=x"}, {"Cookie": "\xff;;="}):
        assert COOKIE.find_token(Headers({**cookies, **DASHBOARD})) is None


def set_cookie(*, is_secure: bool) -> set[str]:
    cookie, response = SessionCookie("k" * 32, is_secure=is_secure), Response()
    cookie.put(SignIn("abc.def", 3600, make_account().user), response)
    return set(response.headers["Set-Cookie"].split("; ")[1:])


def test_scripts_and_other_sites_cannot_use_the_cookie() -> None:
    flags = {"HttpOnly", "SameSite=lax", "Path=/api", "Max-Age=3600"}
    assert set_cookie(is_secure=False) == flags
    assert set_cookie(is_secure=True) == {*flags, "Secure"}


def test_installations_on_ports_of_one_host_have_different_cookies() -> None:
    assert SessionCookie("k" * 32, is_secure=False).name != COOKIE.name
