"""Chromium with tabs that record errors, requests to other hosts and accessibility problems."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

from support.process import ANSWER_SECONDS

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
WAIT_MS = 30_000
# The page has a heading and shows no skeleton.
_SETTLED = """() => document.querySelector('h1, h2')
    && !document.querySelector('.animate-pulse, [aria-busy=true]')"""
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
        answer = httpx.request(
            method, f"{self.url}/api{path}", headers=headers, timeout=ANSWER_SECONDS, **options
        )
        assert answer.is_success, answer.text
        return answer.json()["data"]


@dataclass
class Tab:
    """A page that records everything that must not happen in it."""

    page: Page
    url: str
    troubles: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Open a path and wait until the page has finished loading."""
        self.page.goto(f"{self.url}{path}")
        self.settle()
        return self.page

    def settle(self) -> None:
        self.page.wait_for_function(_SETTLED, timeout=WAIT_MS)

    def watch(self) -> None:
        self.page.on("console", self._record_message)
        self.page.on("pageerror", lambda error: self.troubles.append(f"exception: {error}"))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"dialog: {dialog.message}"))
        self.page.on("request", self._record_request)

    def _record_message(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.troubles.append(f"{message.type}: {message.text}")

    def _record_request(self, request: Request) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.troubles.append(f"request to another host: {request.url}")

    def find_violations(self, *rules: str) -> list[str]:
        """Run axe, or some of its rules; return serious and critical violations."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        options = {"resultTypes": ["violations"], **({"runOnly": [*rules]} if rules else {})}
        arguments = [{"exclude": _FOCUS_GUARDS}, options]
        found = self.page.evaluate("([context, options]) => axe.run(context, options)", arguments)
        return [
            f"{one['id']}: {one['help']} ({node['html'][:160]})"
            for one in found["violations"]
            if one["impact"] in {"serious", "critical"}
            for node in one["nodes"][:3]
        ]


@contextmanager
def open_tab(
    browser: Browser,
    url: str,
    token: str | None = None,
    width: int = 1440,
    theme: Theme = "light",
) -> Iterator[Tab]:
    """Open a tab in a new context; anything it recorded fails the test."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, base_url=url
    )
    context.set_default_timeout(WAIT_MS)
    if token is not None:
        context.add_init_script(
            f"if (!sessionStorage.started) {{ sessionStorage.started = 1;"
            f" localStorage.setItem('spanwise.token', '{token}') }}"
        )
    try:
        tab = Tab(context.new_page(), url)
        tab.watch()
        yield tab
        assert not tab.troubles, "\n".join(tab.troubles)
    finally:
        context.close()


def add_filter(page: Page, field: str, value: str) -> None:
    """Add a filter on one value of a field with the form of the page."""
    page.get_by_role("button", name="Add filter").click()
    form = page.get_by_role("dialog", name="Add filter")
    form.get_by_role("button", name=field, exact=True).click()
    form.get_by_label("Search values").fill(value)
    form.get_by_role("button", name="Add filter").click()
