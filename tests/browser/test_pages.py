"""Every page with demo data: it shows, it fits, it shuts nobody out, and nothing goes wrong."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from support.browser import OpenTab, Site, Tab


def first(site: Site, path: str, field: str) -> str:
    return str(site.call("GET", path)[0][field])


# Other tests send traces too, under names of their own.
SUPPORT = "agentId=support-assistant"
PAGES: dict[str, tuple[str | Callable[[Site], str], str]] = {
    "overview": ("/?range=30d", "Requests by agent"),
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
    "signals": ("/signals?range=30d", "thumbs_up"),
    "logs": ("/logs?range=30d", "answered in"),
    "agents": ("/agents?range=30d", "travel-concierge"),
    "agent": ("/agents/support-assistant?range=30d", "Answers customers"),
    "rules": ("/agents/support-assistant/rules", "Answers fail"),
    "alerts": ("/alerts", "Acknowledged"),
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
    "events": ("/events", "concise-answers"),
    "webhooks": ("/events?tab=webhooks", "New webhook"),
    "deliveries": ("/events?tab=deliveries", "No deliveries"),
    "keys": ("/keys", "production fleet"),
    "prices": ("/models", "house-screener-8b"),
    "members": ("/admin", "mara@example.com"),
    "stats": ("/admin?tab=stats", "Spans per second"),
    "audit": ("/admin?tab=audit", "account.registered"),
    "profile": ("/profile", "demo@example.com"),
    "start": ("/start", "See it arrive"),
}


def address(site: Site, name: str) -> str:
    path = PAGES[name][0]
    return path if isinstance(path, str) else path(site)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_fits_and_shuts_nobody_out(name: str, reused_tab: Tab, demo: Site) -> None:
    tab = reused_tab
    page = tab.open(address(demo, name))
    shown = page.locator("body").inner_text()
    assert PAGES[name][1] in shown, shown[:500]
    assert page.locator("h1").count() == 1
    assert tab.find_barriers() == []
    page.emulate_media(color_scheme="dark")
    assert tab.find_barriers("color-contrast") == []
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_no_click_waits_for_code(tab: Tab) -> None:
    """The code of all pages comes by itself once the first page has settled."""
    with tab.page.expect_request(lambda request: "/assets/StartPage" in request.url):
        tab.open("/?range=30d")
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    tab.page.get_by_role("navigation").get_by_role("link", name="Experiments").click()
    tab.page.get_by_role("heading", level=1, name="Experiments").wait_for()
    tab.settle()
    assert [url for url in asked if "/assets/" in url] == []


def test_code_that_cannot_be_had_is_missed_only_when_it_is_asked_for(opener: OpenTab) -> None:
    with opener() as tab:
        page = tab.page
        page.route("**/assets/AdminPage*", lambda route: route.abort())
        with page.expect_request(lambda request: "/assets/StartPage" in request.url):
            tab.open("/?range=30d")
            page.evaluate("window.isSamePage = true")
        assert page.evaluate("window.isSamePage"), "the page was loaded anew"
        page.unroute("**/assets/AdminPage*")
        page.get_by_role("navigation").get_by_role("link", name="Administration").click()
        page.get_by_role("heading", level=1).filter(has_text="Administration").wait_for()
        tab.troubles.clear()


def test_a_chart_that_comes_back_is_as_it_was_unless_its_data_are_others(tab: Tab) -> None:
    page = tab.open("/?from=2025-01-01T00:00:00Z&to=2040-01-01T00:00:00Z")
    chart = page.get_by_role("img", name="Requests by agent over time")
    picture = "element => element.querySelector('canvas').toDataURL()"
    first = chart.evaluate(picture)
    chart.evaluate("element => { element.querySelector('canvas').wasHere = true }")
    page.get_by_role("link", name="Experiments").click()
    expect(chart).to_have_count(0)
    page.get_by_role("link", name="Overview").click()
    expect(chart.locator("canvas")).to_be_visible()
    assert chart.evaluate("element => element.querySelector('canvas').wasHere"), "drawn anew"
    page.get_by_role("link", name="Traces").click()
    page.get_by_label("Agent", exact=True).select_option("code-reviewer")
    page.get_by_role("link", name="Overview").click()
    tab.settle()
    assert chart.evaluate(picture) != first, "the chart of another agent is the same"
