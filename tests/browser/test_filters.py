"""Filters, ranges and selections are in the URL, so that a link shows what its sender saw."""

import re

import pytest
from playwright.sync_api import expect

from support.browser import Site, Tab


def test_agent_and_range_are_in_the_url_and_survive_reload_and_back(tab: Tab) -> None:
    page = tab.show("/logs")
    page.get_by_label("Agent", exact=True).select_option("code-reviewer")
    expect(page).to_have_url(re.compile("agent=code-reviewer"))
    page.get_by_role("button", name=re.compile("^Time range")).click()
    page.get_by_role("button", name="Last 30 days").click()
    expect(page).to_have_url(re.compile("range=30d"))
    page.reload()
    tab.settle()
    expect(page.get_by_label("Agent", exact=True)).to_have_value("code-reviewer")
    expect(page.get_by_role("button", name=re.compile("Last 30 days"))).to_be_visible()
    page.go_back()
    expect(page).not_to_have_url(re.compile("range=30d"))
    expect(page).to_have_url(re.compile("agent=code-reviewer"))


def test_the_range_is_kept_from_page_to_page(tab: Tab) -> None:
    page = tab.show("/logs?range=30d&agent=code-reviewer")
    page.get_by_role("link", name="Traces").click()
    expect(page).to_have_url(re.compile(r"/traces.*range=30d"))
    rows = page.get_by_role("row")
    expect(rows.nth(1)).to_contain_text("code-reviewer")
    expect(page.get_by_role("table")).not_to_contain_text("support-assistant")


@pytest.mark.parametrize("path", ["/traces", pytest.param("/sessions", marks=pytest.mark.long)])
def test_a_row_opens_here_or_in_another_tab_and_keeps_the_range(tab: Tab, path: str) -> None:
    page = tab.show(f"{path}?range=30d")
    page.evaluate("window.same = true")
    row = page.get_by_role("row").nth(1).get_by_role("link").first
    with page.context.expect_page() as opened:
        row.click(modifiers=["ControlOrMeta"])
    expect(opened.value).to_have_url(re.compile(rf"{path}/.+range=30d"))
    expect(page).to_have_url(re.compile(rf"{path}\?"))
    row.press("Enter")
    expect(page).to_have_url(re.compile(rf"{path}/.+range=30d"))
    assert page.evaluate("window.same"), "the page was reloaded"


def test_a_list_is_requested_once_and_not_on_hover(fresh_tab: Tab) -> None:
    tab = fresh_tab
    page = tab.open("/experiments")
    tab.requested.clear()
    # Hovering loads the code of the page; what it would request next, it has requested by then.
    with page.expect_request_finished(lambda request: "/assets/TracesPage" in request.url):
        page.get_by_role("link", name="Traces").hover()
    page.evaluate("new Promise(requestIdleCallback)")
    assert not [url for url in tab.requested if "/spans/traces" in url], "hovering sent a request"
    page.get_by_role("link", name="Traces").click()
    expect(page.get_by_role("table", name="Traces")).to_be_visible()
    assert len([url for url in tab.requested if "/spans/traces" in url]) == 1


def test_logs_are_filtered_by_level_and_text(tab: Tab) -> None:
    page = tab.show("/logs?range=30d")
    page.get_by_label("Level").select_option("warn")
    expect(page.get_by_text("Level is warn or error or fatal")).to_be_visible()
    tab.settle()
    table = page.get_by_role("table", name="Logs")
    expect(table.get_by_text("info", exact=True)).to_have_count(0)
    expect(table.get_by_text("warn", exact=True).first).to_be_visible()
    page.get_by_label("Search messages").fill("timed")
    expect(page).to_have_url(re.compile("search=timed"))
    page.get_by_label("Search messages").fill("nobody ever logged this")
    expect(page.get_by_text("No logs match")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(table.get_by_role("row").nth(1)).to_be_visible()


def test_live_logs_show_new_lines(tab: Tab, demo: Site) -> None:
    page = tab.show("/logs?range=1h&live=on")
    demo.call("POST", "/logs", json={"message": "something came in just now", "level": "info"})
    expect(page.get_by_text("something came in just now").first).to_be_visible()


def test_a_signal_is_selected_by_the_url(tab: Tab) -> None:
    page = tab.show("/signals?range=30d&signal=csat")
    expect(page.get_by_text("mean of csat")).to_be_visible()
    page.get_by_role("button", name=re.compile("^resolved")).click()
    expect(page).to_have_url(re.compile("signal=resolved"))
    expect(page.get_by_text("share of positive values of resolved")).to_be_visible()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/?from=yesterday-ish", "Invalid time range"),
        ("/?range=forever", "Invalid time range"),
        ("/traces/00000000000000000000000000000001", "Trace not found"),
        ("/experiments/exp_nope", "Experiment not found"),
        ("/agents/nobody", "Agent not found"),
        ("/sessions/nobody", "Session not found"),
        ("/compare", "Choose two traces"),
        ("/no/such/page", "Page not found"),
    ],
)
def test_an_invalid_url_is_reported_with_a_way_back(tab: Tab, path: str, text: str) -> None:
    page = tab.show(path)
    expect(page.get_by_role("heading", level=1, name=text)).to_be_visible()
    way_back = page.locator("main a, main button, body > div button, [role=alert] a").first
    expect(way_back).to_be_visible()
    tab.forget("status of 404")


def test_a_service_that_is_down_is_reported_and_retried(fresh_tab: Tab) -> None:
    tab = fresh_tab
    page = tab.open("/experiments")
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("link", name="API keys").click()
    retry = page.get_by_role("button", name="Try again")
    expect(retry).to_be_visible()
    expect(page.get_by_text("The service is not responding").first).to_be_visible()
    page.unroute("**/api/**")
    retry.click()
    expect(page.get_by_text("production fleet")).to_be_visible()
    tab.forget("ERR_FAILED")
