"""Chromium with tabs that record errors, requests to other hosts and accessibility problems."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Request,
    Response,
    ViewportSize,
    expect,
    sync_playwright,
)

from support.process import ANSWER_SECONDS
from support.service import DASHBOARD

WEB = Path(__file__).parents[2] / "web"
AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
# Flags for a headless browser without background traffic.
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# The headless shell runs the tests in about half the time of the others.
_BROWSERS = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable"),
)
_DESKTOP: ViewportSize = {"width": 1440, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
# Only a test that fails takes this long; shared machines are several times slower at times.
WAIT_MS = 90_000
_FIRST_ERROR = 400
# The page has a heading and shows no skeleton.
_SETTLED = """() => document.querySelector('h1, h2')
    && !document.querySelector('.animate-pulse, [aria-busy=true]')"""
# The router of the page, which the dashboard's framework offers to tools; is there one?
_GO = """path => {
    const router = window.__TSR_ROUTER__;
    if (!router) return false;
    window.leftLocation = router.state.resolvedLocation;
    router.history.push(path);
    return true;
}"""
_ARRIVED = """() => {
    const { status, location, resolvedLocation } = window.__TSR_ROUTER__.state;
    return status === 'idle' && resolvedLocation !== window.leftLocation
        && resolvedLocation.href === location.href;
}"""
# Base UI listens to keys a moment after an overlay is drawn, and moves the focus after that.
_IS_FOCUS_IN_OVERLAY = """() => [...document.querySelectorAll('[data-overlay]')].at(-1)
    ?.contains(document.activeElement)"""
# Base UI uses hidden focusable elements to move the focus on at the edges of a popup.
_FOCUS_GUARDS = "[data-base-ui-focus-guard]"
expect.set_options(timeout=WAIT_MS)

Theme = Literal["light", "dark"]
OpenTab = Callable[..., AbstractContextManager["Tab"]]


@cache
def find_chromium() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or next((path for name in _BROWSERS if (path := shutil.which(name))), None)


@contextmanager
def start_chromium() -> Iterator[Browser]:
    path = find_chromium()
    assert path, "no Chromium on this machine"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@cache
def _http() -> httpx.Client:
    """One client for all calls: a new one takes 50 ms to load certificates."""
    return httpx.Client(timeout=ANSWER_SECONDS)


@dataclass(frozen=True)
class Site:
    """A running service with the token of a signed-in user."""

    url: str
    token: str

    def send(self, path: str, body: dict[str, Any]) -> None:
        """Send telemetry and wait until it is visible: pages accept slightly stale responses."""
        self.call("POST", path, json=body)
        self.call("GET", "/spans/traces?limit=1")

    def call(self, method: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = _http().request(method, f"{self.url}/api{path}", headers=headers, **options)
        assert answer.is_success, answer.text
        return answer.json()["data"]


@dataclass
class Tab:
    """A page that records everything that must not happen in it."""

    page: Page
    url: str
    troubles: list[str] = field(default_factory=list)
    # The addresses of all requests of the page.
    requested: list[str] = field(default_factory=list)
    # Responses with an error, and those of them that the console has reported.
    _refused: int = 0
    _reported: int = 0

    def open(self, path: str) -> Page:
        """Open a path and wait until the page has finished loading."""
        self.page.goto(f"{self.url}{path}")
        self.settle()
        return self.page

    def show(self, path: str) -> Page:
        """Go to a path as a link does, without loading the scripts again, and wait likewise.

        What the dashboard has read in the last seconds is not read again; `open` reads all.
        """
        if not self.page.evaluate(_GO, path):
            return self.open(path)
        self.page.wait_for_function(_ARRIVED, timeout=WAIT_MS)
        self.settle()
        return self.page

    def settle(self) -> None:
        self.page.wait_for_function(_SETTLED, timeout=WAIT_MS)

    def wait_for_focus_in_overlay(self) -> None:
        self.page.wait_for_function(_IS_FOCUS_IN_OVERLAY, timeout=WAIT_MS)

    def press_escape(self) -> None:
        """Press Escape in the topmost overlay as soon as it would notice."""
        self.wait_for_focus_in_overlay()
        self.page.keyboard.press("Escape")

    def forget(self, text: str) -> None:
        """Drop expected troubles with this text; the console may report a response later."""
        deadline = time.monotonic() + WAIT_MS / 1000
        while self._reported < self._refused and time.monotonic() < deadline:
            self.page.wait_for_timeout(20)
        self.troubles[:] = [one for one in self.troubles if text not in one]

    @contextmanager
    def watch(self) -> Iterator[None]:
        page = self.page
        page.on("response", self._record_response)
        page.on("console", self._record_message)
        page.on("pageerror", self._record_error)
        page.on("dialog", self._record_dialog)
        page.on("request", self._record_request)
        try:
            yield
        finally:
            page.remove_listener("response", self._record_response)
            page.remove_listener("console", self._record_message)
            page.remove_listener("pageerror", self._record_error)
            page.remove_listener("dialog", self._record_dialog)
            page.remove_listener("request", self._record_request)

    def _record_error(self, error: Error) -> None:
        self.troubles.append(f"exception: {error}")

    def _record_dialog(self, dialog: Dialog) -> None:
        self.troubles.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _record_response(self, response: Response) -> None:
        self._refused += response.status >= _FIRST_ERROR

    def _record_message(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._reported += "responded with a status of" in message.text
            where = message.location["url"]
            self.troubles.append(f"{message.type}: {message.text} {where}")

    def _record_request(self, request: Request) -> None:
        self.requested.append(request.url)
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.troubles.append(f"request to another host: {request.url}")

    def find_violations(self, *rules: str, within: str | None = None) -> list[str]:
        """Run axe, or some of its rules; return serious and critical violations.

        `within` names what is new on a page that has been checked already.
        """
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        options = {"resultTypes": ["violations"], **({"runOnly": [*rules]} if rules else {})}
        context = {"exclude": _FOCUS_GUARDS, **({"include": within} if within else {})}
        arguments = [context, options]
        found = self.page.evaluate("([context, options]) => axe.run(context, options)", arguments)
        return [
            f"{one['id']}: {one['help']} ({node['html'][:160]})"
            for one in found["violations"]
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"][:3]
        ]


# Each is the only page of its context. A new context loads the hundred files of the dashboard and
# compiles them, which takes 1 s of CPU time more.
_idle_pages: WeakKeyDictionary[Browser, list[Page]] = WeakKeyDictionary()
# A document of the dashboard's origin without scripts.
_EMPTY = "/favicon.svg"
SAVE_DATA = "Object.defineProperty(navigator.connection, 'saveData', { value: true })"
_START = """isSignedIn => {
    localStorage.clear();
    sessionStorage.clear();
    if (isSignedIn) localStorage.setItem('spanwise.session', '1');
}"""


@contextmanager
def open_tab(
    browser: Browser,
    url: str,
    token: str | None = None,
    width: int = 1440,
    theme: Theme = "light",
    *,
    has_motion: bool = False,
    is_new: bool = False,
) -> Iterator[Tab]:
    """Open a tab without cookies and stored data; anything it recorded fails the test.

    Tabs that are open at the same time share nothing. A new one has an empty cache. Others ask for
    less data and, by default, for reduced motion: loading the code of all pages in the background
    takes as long as showing a page, and without a GPU every frame of an animation is expensive.
    """
    idle = _idle_pages.setdefault(browser, [])
    page = idle.pop() if idle and not is_new else _create_page(browser, saves_data=not is_new)
    try:
        page.set_default_timeout(WAIT_MS)
        page.set_viewport_size({**_DESKTOP, "width": width})
        page.emulate_media(
            color_scheme=theme, reduced_motion="no-preference" if has_motion else "reduce"
        )
        page.mouse.move(0, 0)
        page.goto(f"{url}{_EMPTY}")
        page.evaluate(_START, token is not None)
        if token is not None:
            _set_cookie(page, url, token)
        tab = Tab(page, url)
        with tab.watch():
            yield tab
        assert not tab.troubles, "\n".join(tab.troubles)
        _tidy(page, f"{url}{_EMPTY}")
    except BaseException:
        page.context.close()
        raise
    if is_new:
        page.context.close()
    else:
        idle.append(page)


def _set_cookie(page: Page, url: str, token: str) -> None:
    # Each service has a name of its own for the cookie, which it tells when it removes it.
    answer = _http().delete(f"{url}/api/auth/session", headers=DASHBOARD)
    page.context.add_cookies(
        [
            {
                "name": answer.headers["Set-Cookie"].partition("=")[0],
                "value": token,
                "domain": urlsplit(url).hostname or "",
                "path": "/api",
                "httpOnly": True,
                "sameSite": "Lax",
            }
        ]
    )


def _create_page(browser: Browser, *, saves_data: bool) -> Page:
    context = browser.new_context(viewport=_DESKTOP)
    if saves_data:
        context.add_init_script(SAVE_DATA)
    return context.new_page()


def _tidy(page: Page, empty: str) -> None:
    """Stop what the page does, and remove what the next test must not find."""
    page.unroute_all()
    page.goto(empty)
    for other in page.context.pages:
        if other != page:
            other.close()
    page.context.clear_cookies()


def add_filter(page: Page, field: str, value: str) -> None:
    """Add a filter on one value of a field with the form of the page."""
    page.get_by_role("button", name="Add filter").click()
    form = page.get_by_role("dialog", name="Add filter")
    form.get_by_role("button", name=field, exact=True).click()
    form.get_by_label("Search values").fill(value)
    form.get_by_role("button", name="Add filter").click()
