"""Alerts: acknowledging with one key, and rules that are backtested before they are saved."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from support.browser import OpenTab, Site, Tab, add_filter
from support.receivers import hook_server
from support.site_data import raise_alerts
from support.spans import new_span

Alerts = dict[str, str]


@pytest.fixture(scope="module", autouse=True)
def alerts(demo: Site) -> Alerts:
    """Alerts of these agents; another one has only failed every other hour."""
    now = datetime.now(UTC)
    hours = [
        new_span(
            now - timedelta(hours=h), agentName="busy-hornet", status="error" if h % 2 else "ok"
        )
        for h in range(1, 24)
    ]
    demo.call("POST", "/spans", json={"spans": hours})
    return raise_alerts(demo, "busy-ant", "busy-bee", "busy-fly", "busy-moth")


def test_an_alert_is_acknowledged_with_one_key_and_reopened(
    tab: Tab, demo: Site, alerts: Alerts
) -> None:
    page = tab.show(f"/alerts?alert={alerts['busy-bee']}")
    panel = page.get_by_label("Alert", exact=True)
    expect(panel).to_contain_text("busy-bee: requests")
    page.keyboard.press("a")
    expect(panel.get_by_text("acknowledged").first).to_be_visible()
    assert demo.call("GET", f"/spans/alerts/{alerts['busy-bee']}")["status"] == "acknowledged"
    expect(panel).to_contain_text("You")
    page.keyboard.press("o")
    expect(panel.get_by_role("button", name="Acknowledge")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("alert="))


def test_the_inbox_is_navigated_and_filtered(tab: Tab) -> None:
    page = tab.show("/alerts")
    page.get_by_role("tab", name=re.compile("^Active")).click()
    expect(page).to_have_url(re.compile("status=active"))
    row = page.get_by_role("listitem").filter(has_text="busy-ant").first
    # What the number is, and when it was measured to the second.
    expect(row).to_contain_text(re.compile(r"Latest \d+\s*Requests above 3"))
    expect(row.locator("time")).to_have_attribute("title", re.compile(r"\d\d:\d\d:\d\d"))
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("alert=alr_"))
    page.get_by_label("Severity").select_option("info")
    expect(page.get_by_text("No alerts match")).to_be_visible()
    page.get_by_role("button", name="Show all alerts").click()
    expect(page.get_by_role("list", name="Alerts")).to_contain_text("busy-ant")


def test_a_rule_is_backtested_on_two_weeks_before_it_is_saved(tab: Tab, demo: Site) -> None:
    page = tab.show("/agents/code-reviewer/rules")
    page.get_by_role("button", name="Add a rule").first.click()
    page.get_by_label("Metric", exact=True).select_option("p95Latency")
    page.get_by_label("Threshold").fill("1")
    page.get_by_label("Minimum samples").fill("1")
    expect(page.get_by_text(re.compile("would have fired"))).to_be_visible()
    fired = page.get_by_role("main").locator("li time").first
    expect(fired).to_have_attribute("title", re.compile(r"\d\d:\d\d:\d\d"))
    page.get_by_label("Threshold").fill("99999999")
    expect(page.get_by_text("would not have fired")).to_be_visible()
    page.get_by_label("Name").fill("Far too slow")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("apply from the next minute")).to_be_visible()
    [rule] = demo.call("GET", "/agents/code-reviewer")["alertSettings"]["rules"]
    assert (rule["name"], rule["metric"], rule["threshold"]) == (
        "Far too slow",
        "p95Latency",
        99999999,
    )


def test_a_long_list_of_firings_scrolls_by_keyboard(opener: OpenTab) -> None:
    with opener(width=390) as tab:
        page = tab.show("/agents/busy-hornet/rules")
        page.get_by_role("button", name="Add a rule").first.click()
        page.get_by_label("Minimum samples").fill("1")
        firings = page.get_by_role("list", name="Times that the rule would have fired")
        expect(firings.get_by_role("listitem").nth(8)).to_be_attached()
        assert firings.evaluate("list => list.scrollHeight > list.clientHeight")
        assert tab.find_violations() == []


def test_an_alert_shows_its_chart_and_its_traces(tab: Tab, alerts: Alerts) -> None:
    page = tab.show(f"/alerts?alert={alerts['busy-fly']}")
    panel = page.get_by_label("Alert", exact=True)
    expect(panel.get_by_label("Metric of the rule around the alert")).to_be_visible()
    expect(panel).to_contain_text(re.compile("firing from .* until now"))
    example = panel.get_by_role("link").filter(has_text="success").first
    expect(example).to_contain_text("500 ms")
    assert tab.find_violations() == []


def test_an_error_rate_is_typed_in_percent_and_not_lost_silently(tab: Tab) -> None:
    page = tab.show("/agents/support-assistant/rules")
    expect(page.get_by_label("Threshold")).to_have_value("20")
    page.get_by_label("Threshold").fill("12.5")
    expect(page.get_by_role("list", name="Rules")).to_contain_text("above 12.5%")
    page.get_by_role("link", name="Traces", exact=True).click()
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page).to_have_url(re.compile("/rules"))
    page.get_by_role("link", name="Traces", exact=True).click()
    dialog.get_by_role("button", name="Leave").click()
    expect(page).to_have_url(re.compile("/traces"))


def test_unsaved_rules_are_not_lost_by_switching_the_workspace(fresh_tab: Tab, demo: Site) -> None:
    tab = fresh_tab
    other = demo.call("POST", "/workspaces", json={"name": "Elsewhere"})["id"]
    page = tab.show("/alerts/rules/workspace")
    enabled = page.get_by_label("Rules enabled")
    was_enabled = enabled.is_checked()
    enabled.click()
    page.get_by_role("button", name=re.compile("^Workspace:")).click()
    page.get_by_role("menuitem", name="Elsewhere").click()
    expect(page.get_by_role("dialog", name="Leave without saving?")).to_be_visible()
    tab.press_escape()
    assert enabled.is_checked() != was_enabled
    demo.call("DELETE", f"/workspaces/{other}", json={"name": "Elsewhere"})


def test_a_workspace_rule_is_added_from_the_list_of_all_rules(tab: Tab, demo: Site) -> None:
    page = tab.show("/alerts/rules")
    rules = page.get_by_role("list", name="Alert rules")
    expect(rules).to_contain_text("New failures")
    expect(rules).to_contain_text("Flight searches fail")
    page.get_by_role("button", name="Add a rule").click()
    page.get_by_role("menuitem", name="All agents").click()
    expect(page).to_have_url(re.compile("/alerts/rules/workspace"))
    page.get_by_label("Name").fill("Slow searches")
    page.get_by_label("Metric", exact=True).select_option("query")
    measure = page.get_by_label("Measure")
    # It is offered for spans only.
    option = measure.get_by_role("option", name="p95 time to first token")
    expect(option).to_have_count(0)
    page.get_by_label("Of", exact=True).select_option("spans")
    measure.select_option("p95TimeToFirstToken")
    page.get_by_label("Of", exact=True).select_option("traces")
    expect(measure).to_have_value("count")
    expect(option).to_have_count(0)
    page.get_by_label("Of", exact=True).select_option("spans")
    measure.select_option("p99")
    page.get_by_label("Threshold").fill("1")
    page.get_by_label("Minimum samples").fill("1")
    add_filter(page, "Tool", "search_flights")
    expect(page.get_by_text(re.compile("would have fired"))).to_be_visible()
    assert tab.find_violations() == []
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("apply from the next minute")).to_be_visible()
    *_, rule = demo.call("GET", "/alerts/settings")["rules"]
    assert (rule["measure"], rule["of"]) == ("p99", "spans")
    assert rule["filters"] == [{"field": "tool", "op": "eq", "value": "search_flights"}]
    page.get_by_role("link", name="Rules", exact=True).click()
    expect(rules).to_contain_text("p99 latency of spans is above 1 ms")


def test_each_address_of_a_channel_is_tested_before_it_is_saved(fresh_tab: Tab) -> None:
    tab = fresh_tab
    page = tab.show("/alerts/rules/workspace")
    with hook_server() as hooks:
        page.get_by_label("Add a channel").select_option("slack")
        page.get_by_label("Address for Slack").fill(hooks.url)
        page.get_by_role("button", name="Send a test to Slack").click()
        expect(page.get_by_text("must not point to a private address")).to_be_visible()
        page.get_by_label("Webhooks", exact=True).fill(hooks.url)
        page.get_by_role("button", name="Send a test to webhooks").click()
        expect(page.get_by_text("must not point to a private address")).to_have_count(2)
        assert hooks.received == []
    page.get_by_label("E-mail", exact=True).fill("ann@example.com, ben@example.com")
    page.get_by_role("button", name="Send a test to e-mail").click()
    for address in ("ann@example.com", "ben@example.com"):
        expect(page.get_by_text(f"{address}: Delivered")).to_be_visible()
    assert tab.find_violations() == []
    tab.forget("status of 400")


def add_silence(page: Page, agent: str) -> None:
    button = page.get_by_role("button", name="Add a silence")
    button.focus()
    # A key opens the menu and does nothing else.
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitem", name="The whole workspace")).to_be_visible()
    page.get_by_role("menuitem", name=agent, exact=True).click()


def test_an_alert_is_commented_and_its_rule_silenced(tab: Tab, alerts: Alerts) -> None:
    page = tab.show(f"/alerts?alert={alerts['busy-moth']}")
    panel = page.get_by_label("Alert", exact=True)
    panel.get_by_label("Comment", exact=True).fill("A crawler, not a person.")
    panel.get_by_role("button", name="Add comment").click()
    expect(panel.get_by_role("list", name="History")).to_contain_text("A crawler, not a person.")
    panel.get_by_role("button", name="Silence").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("4 hours").check()
    dialog.get_by_label("Reason").fill("known crawler")
    dialog.get_by_role("button", name="Silence").click()
    expect(panel.get_by_text("silenced", exact=True)).to_be_visible()
    page.get_by_role("link", name="Silences").click()
    row = page.get_by_role("listitem").filter(has_text="known crawler")
    expect(row).to_contain_text("You")
    row.get_by_role("button", name="End now").click()
    expect(row).to_contain_text("over")
    add_silence(page, "busy-moth")
    dialog = page.get_by_role("dialog", name="Silence busy-moth")
    dialog.get_by_label("The whole workspace").check()
    whole = page.get_by_role("dialog", name="Silence the whole workspace")
    whole.get_by_role("button", name="Cancel").click()
    # It starts with the agent again, not with what was chosen and cancelled.
    add_silence(page, "busy-moth")
    expect(dialog.get_by_label("All rules of busy-moth")).to_be_checked()
    dialog.get_by_role("button", name="Silence").click()
    active = page.get_by_role("listitem").filter(has_text="active").filter(has_text="busy-moth")
    expect(active).to_contain_text("No reason given")
    tab.show("/agents/busy-moth")
    expect(page.get_by_role("link", name="1 alert", exact=True)).to_be_visible()
    page.get_by_role("link", name="silenced until").click()
    active.get_by_role("button", name="End now").click()
    expect(active).to_have_count(0)
