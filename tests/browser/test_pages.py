"""Every page with demo data: content, layout, accessibility and no errors."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

import spanwise
from support.browser import SAVE_DATA, OpenTab, Site, Tab, open_tab

DIST = Path(spanwise.__file__).parent / "web_dist"
MOST_BYTES = 400 * 1024
SCROLL_SIZES = """() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return [scrollWidth, scrollHeight];
}"""


def first(site: Site, path: str, field: str) -> str:
    return str(site.call("GET", path)[0][field])


def comparison(site: Site) -> str:
    a, b = (one["traceId"] for one in site.call("GET", f"/spans/traces?{SUPPORT}&limit=2"))
    return f"/compare?a={a}&b={b}"


# Other tests send traces of other agents.
SUPPORT = "agentId=support-assistant"
PAGES: dict[str, tuple[str | Callable[[Site], str], str]] = {
    "overview": ("/?range=30d", "Requests by agent"),
    "dashboards": ("/dashboards", "Requests, latency, errors"),
    "dashboard": (
        lambda site: f"/dashboards/{first(site, '/dashboards', 'id')}?range=30d",
        "daily",
    ),
    "explore": ("/explore?range=30d&measures=count,p95&by=agent", "support-assistant"),
    "traces": ("/traces?range=30d", "support-assistant"),
    "trace": (
        lambda site: f"/traces/{first(site, f'/spans/traces?{SUPPORT}', 'traceId')}",
        "invoke_agent",
    ),
    "sessions": ("/sessions?range=30d", "conv-"),
    "session": (
        lambda site: f"/sessions/{first(site, f'/spans/sessions?{SUPPORT}', 'sessionId')}",
        "support-assistant",
    ),
    "spans": ("/spans?range=30d", "search_flights"),
    "tools": ("/tools?range=30d", "search_flights"),
    "models of spans": ("/spans?range=30d&tab=models", "Cached tokens"),
    "single spans": ("/spans?range=30d&tab=list", "Model or tool"),
    "users": ("/users?range=30d", "user-0"),
    "user": ("/users/user-00001?range=30d", "Latest sessions"),
    "user without traces": ("/users/nobody?range=30d", "No traces of this user"),
    "signals": ("/signals?range=30d", "thumbs_up"),
    "logs": ("/logs?range=30d", "answered in"),
    "metrics": ("/metrics-explorer?range=30d", "claude_code.cost.usage"),
    "metric": (
        "/metrics-explorer?range=30d&metric=gemini_cli.api.request.latency",
        "Estimate",
    ),
    "coding agents": ("/coding-agents?range=30d", "tomas@example.com"),
    "agents": ("/agents?range=30d", "travel-concierge"),
    "agent": ("/agents/support-assistant?range=30d", "Answers customers"),
    "releases of an agent": ("/agents/code-reviewer?range=30d", "3.2.0"),
    "rules": ("/agents/support-assistant/rules", "Answers fail"),
    "alerts": ("/alerts", "Acknowledged"),
    "all rules": ("/alerts/rules", "Answers fail"),
    "rules of the workspace": ("/alerts/rules/workspace", "Add a rule"),
    "silences": ("/alerts/silences", "The new layout goes live"),
    "failures": ("/failures?range=30d", "httpx.ReadTimeout"),
    "changes": ("/changes?range=14d", "What contributes most"),
    "changes of a release": (
        "/changes?range=14d&by=serviceVersion&baseline=3.1.0&candidate=3.2.0",
        "Candidate: 3.2.0",
    ),
    "experiments": ("/experiments", "concise-answers"),
    "experiment": (
        lambda site: f"/experiments/{first(site, '/experiments?status=stopped', 'id')}",
        "Lift against the control",
    ),
    "draft": (
        lambda site: f"/experiments/{first(site, '/experiments?status=draft', 'id')}",
        "Not started yet",
    ),
    "new experiment": ("/experiments/new", "Hypothesis"),
    "edited draft": (
        lambda site: f"/experiments/{first(site, '/experiments?status=draft', 'id')}/edit",
        "Hypothesis",
    ),
    "comparison": (comparison, "invoke_agent"),
    "events": ("/events", "concise-answers"),
    "webhooks": ("/events?tab=webhooks", "New webhook"),
    "deliveries": ("/events?tab=deliveries", "Deliveries"),
    "workspace": ("/workspace", "Require an expiry date"),
    "workspace members": ("/workspace?tab=members", "sam@example.com"),
    "workspace audit": ("/workspace?tab=audit", "Mara Lind joined as an admin"),
    "keys": ("/keys", "production fleet"),
    "prices": ("/models", "house-screener-8b"),
    "accounts": ("/admin", "mara@example.com"),
    "stats": ("/admin?tab=stats", "Spans per second"),
    "audit": ("/admin?tab=audit&action=account.registered", "created an account"),
    "profile": ("/profile", "demo@example.com"),
    "start": ("/start", "See it arrive"),
}


def address(site: Site, name: str) -> str:
    path = PAGES[name][0]
    return path if isinstance(path, str) else path(site)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_complete_fits_and_is_accessible(name: str, reused_tab: Tab, demo: Site) -> None:
    tab = reused_tab
    page = tab.open(address(demo, name))
    if name == "releases of an agent":
        # They are loaded once they are in sight.
        page.mouse.move(720, 450)
        page.mouse.wheel(0, 10_000)
        expect(page.get_by_role("cell", name="3.2.0")).to_be_visible()
    # At once: a page without skeletons is complete.
    text = page.locator("body").inner_text()
    assert PAGES[name][1] in text, text[:500]
    assert page.locator("h1").count() == 1
    assert tab.find_violations() == []
    page.emulate_media(color_scheme="dark")
    assert tab.find_violations("color-contrast") == []
    assert_fits(page)


def assert_fits(page: Page) -> None:
    """Check that a page fits into every width, at which its frame does not scroll."""
    for width in (2560, 1440, 1024, 390, 360):
        page.set_viewport_size({"width": width, "height": 844})
        wide, high = page.evaluate(SCROLL_SIZES)
        assert wide <= width, f"{wide} px at {width} px"
        assert high <= 844, f"{high} px high at {width} px"


# Without an account; they are shown without the frame and may scroll.
PUBLIC_PAGES = {
    "/login": "Sign in",
    "/register": "Create an account",
    "/forgot-password": "Forgot",
    "/reset-password?token=x": "password",
    "/invitation?token=x": "nvitation",
    "/verify-email?token=x": "mail",
}


def test_public_pages_fit_and_are_accessible(chromium: Browser, demo: Site) -> None:
    with open_tab(chromium, demo.url) as tab:
        for path, text in PUBLIC_PAGES.items():
            page = tab.open(path)
            expect(page.locator("body")).to_contain_text(text)
            assert tab.find_violations() == [], path
            for width in (2560, 1440, 1024, 390, 360):
                page.set_viewport_size({"width": width, "height": 844})
                assert page.evaluate(SCROLL_SIZES)[0] <= width, (path, width)
            # Links that are not valid any more are refused.
            tab.troubles[:] = [one for one in tab.troubles if "status of 4" not in one]


def test_pages_work_with_the_settings_of_most_browsers(opener: OpenTab, demo: Site) -> None:
    """With motion, and the code of all pages loaded in the background."""
    with opener(is_new=True, has_motion=True) as tab:
        for name in ("overview", "dashboard", "explore", "trace", "single spans", "experiment"):
            page = tab.open(address(demo, name))
            expect(page.locator("body")).to_contain_text(PAGES[name][1])


def test_the_first_load_is_small(opener: OpenTab) -> None:
    """What the overview loads before it is complete, as it is sent: compressed."""
    with opener(is_new=True) as tab:
        tab.page.add_init_script(SAVE_DATA)
        tab.open("/?range=30d")
        tab.page.wait_for_load_state("networkidle")
        paths = {urlsplit(url).path for url in tab.requested if "/api/" not in url}
        sizes = {path: compressed_size(path) for path in paths}
    assert any(path.endswith(".css") for path in sizes)
    assert sum(sizes.values()) < MOST_BYTES, sizes


def compressed_size(path: str) -> int:
    file = DIST / path.removeprefix("/")
    file = file if file.is_file() else DIST / "index.html"
    compressed = file.with_name(f"{file.name}.gz")
    return (compressed if compressed.is_file() else file).stat().st_size


def test_no_click_waits_for_code(opener: OpenTab) -> None:
    """The code of all pages is loaded in the background after the first page."""
    with opener(is_new=True) as tab:
        with tab.page.expect_request(lambda request: "/assets/StartPage" in request.url):
            tab.open("/?range=30d")
        tab.requested.clear()
        tab.page.get_by_role("navigation").get_by_role("link", name="Experiments").click()
        tab.page.get_by_role("heading", level=1, name="Experiments").wait_for()
        tab.settle()
        assert [url for url in tab.requested if "/assets/" in url] == []


def test_no_code_is_loaded_in_the_background_to_save_data(tab: Tab) -> None:
    assert tab.page.evaluate("navigator.connection.saveData")
    page = tab.open("/experiments")
    page.evaluate("new Promise(requestIdleCallback)")
    tab.requested.clear()
    page.wait_for_load_state("networkidle")
    assert [url for url in tab.requested if "/assets/" in url] == []
    page.get_by_role("navigation").get_by_role("link", name="Get started").click()
    page.get_by_role("heading", level=1, name="Get started").wait_for()
    assert any("/assets/StartPage" in url for url in tab.requested)


def test_missing_code_matters_only_when_its_page_is_opened(opener: OpenTab) -> None:
    with opener(is_new=True) as tab:
        page = tab.page
        page.route("**/assets/AdminPage*", lambda route: route.abort())
        with page.expect_request(lambda request: "/assets/StartPage" in request.url):
            tab.open("/?range=30d")
            page.evaluate("window.isSamePage = true")
        assert page.evaluate("window.isSamePage"), "the page was reloaded"
        page.unroute("**/assets/AdminPage*")
        page.get_by_role("navigation").get_by_role("link", name="Administration").click()
        page.get_by_role("heading", level=1).filter(has_text="Administration").wait_for()
        tab.troubles.clear()


# Texts that are cut to less than this tell nothing.
LEAST_PIXELS = 100
CUT = f"""nodes => nodes
    .filter(node => node.scrollWidth > node.clientWidth && node.clientWidth < {LEAST_PIXELS})
    .map(node => node.textContent)"""
WIDER = """nodes => nodes
    .filter(node => node.scrollWidth > node.clientWidth)
    .map(node => node.textContent)"""


WIDTHS = (390, 1024, 1440)


def resize(tab: Tab, width: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": 900})


# On a phone the open alert covers the list.
@pytest.mark.parametrize("widths", [WIDTHS[:1], WIDTHS[1:]], ids=["list", "list and alert"])
def test_alerts_fit_into_narrow_panes(widths: tuple[int, ...], reused_tab: Tab, demo: Site) -> None:
    page = reused_tab.page
    alert = first(demo, "/spans/alerts", "id")
    resize(reused_tab, widths[0])
    reused_tab.open("/alerts" if widths == WIDTHS[:1] else f"/alerts?alert={alert}")
    rows = page.get_by_role("list", name="Alerts").get_by_role("listitem")
    for width in widths:
        resize(reused_tab, width)
        expect(rows.first).to_be_visible()
        assert rows.locator("span").evaluate_all(CUT) == []
        assert rows.evaluate_all(WIDER) == []
        for words in ("info|warning|critical", "active|acknowledged|resolved"):
            badge = page.get_by_text(re.compile(f"^({words})$")).filter(visible=True)
            expect(rows.filter(has=badge)).to_have_count(rows.count())


def test_compared_spans_fit_into_narrow_panes(reused_tab: Tab, demo: Site) -> None:
    page = reused_tab.page
    a, b = (one["traceId"] for one in demo.call("GET", f"/spans/traces?{SUPPORT}&limit=2"))
    reused_tab.open(f"/compare?a={a}&b={b}")
    spans = page.get_by_role("list", name="Spans of both traces").locator("li span")
    for width in WIDTHS:
        resize(reused_tab, width)
        expect(spans.first).to_be_attached()
        assert spans.evaluate_all(CUT) == []


def test_headers_of_panels_fit_into_narrow_panes(reused_tab: Tab) -> None:
    page = reused_tab.page
    reused_tab.open("/?range=30d")
    headers = page.locator("section > header")
    for width in WIDTHS:
        resize(reused_tab, width)
        expect(headers.first).to_be_visible()
        assert headers.evaluate_all(WIDER) == []


def test_the_copy_button_covers_no_code(reused_tab: Tab) -> None:
    page = reused_tab.page
    page.set_viewport_size({"width": 390, "height": 900})
    reused_tab.open("/start")
    code = page.locator("pre").first
    button = code.locator("xpath=..").get_by_role("button", name="Copy")
    code_box, button_box = code.bounding_box(), button.bounding_box()
    assert code_box
    assert button_box
    assert code_box["x"] + code_box["width"] <= button_box["x"]
