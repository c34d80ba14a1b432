"""Alerts: acknowledging with one key, and rules that are replayed before they are saved."""

import re

from playwright.sync_api import expect

from support.browser import Site, Tab
from support.site_data import raise_alert


def test_an_alert_is_acknowledged_with_one_key_and_reopened(tab: Tab, demo: Site) -> None:
    alert = raise_alert(demo, "busy-bee")
    page = tab.open(f"/alerts?alert={alert}")
    panel = page.get_by_label("Alert", exact=True)
    expect(panel).to_contain_text("busy-bee: requests")
    page.keyboard.press("a")
    expect(panel.get_by_text("acknowledged").first).to_be_visible()
    assert demo.call("GET", f"/spans/alerts/{alert}")["status"] == "acknowledged"
    expect(panel).to_contain_text("You")
    page.keyboard.press("o")
    expect(panel.get_by_role("button", name="Acknowledge")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("alert="))


def test_the_inbox_is_navigated_and_filtered(tab: Tab, demo: Site) -> None:
    raise_alert(demo, "busy-ant")
    page = tab.open("/alerts")
    page.get_by_role("tab", name=re.compile("^Active")).click()
    expect(page).to_have_url(re.compile("status=active"))
    expect(page.get_by_role("list", name="Alerts")).to_contain_text("busy-ant")
    page.keyboard.press("j")
    expect(page).to_have_url(re.compile("alert=alr_"))
    page.get_by_label("Severity").select_option("info")
    expect(page.get_by_text("No alerts match")).to_be_visible()
    page.get_by_role("button", name="Show all alerts").click()
    expect(page.get_by_role("list", name="Alerts")).to_contain_text("busy-ant")


def test_a_rule_is_replayed_on_two_weeks_before_it_is_saved(tab: Tab, demo: Site) -> None:
    page = tab.open("/agents/code-reviewer/rules")
    page.get_by_role("button", name="Add a rule").first.click()
    page.get_by_label("Metric").select_option("p95Latency")
    page.get_by_label("Threshold").fill("1")
    page.get_by_label("Minimum samples").fill("1")
    expect(page.get_by_text(re.compile("would have fired"))).to_be_visible()
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


def test_an_error_rate_is_typed_in_percent(tab: Tab) -> None:
    page = tab.open("/agents/support-assistant/rules")
    expect(page.get_by_label("Threshold")).to_have_value("20")
    page.get_by_label("Threshold").fill("12.5")
    expect(page.get_by_role("list", name="Rules")).to_contain_text("above 12.5%")


def test_an_alert_shows_its_course_and_its_traces(tab: Tab, demo: Site) -> None:
    alert = raise_alert(demo, "busy-fly")
    page = tab.open(f"/alerts?alert={alert}")
    panel = page.get_by_label("Alert", exact=True)
    expect(panel.get_by_label("Metric of the rule over the last 14 days")).to_be_visible()
    example = panel.get_by_role("link").filter(has_text="success").first
    expect(example).to_contain_text("500 ms")
    assert tab.find_violations() == []


def test_unsaved_rules_are_not_lost_silently(tab: Tab) -> None:
    page = tab.open("/agents/support-assistant/rules")
    page.get_by_label("Rules enabled").click()
    page.get_by_role("link", name="Traces", exact=True).click()
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page).to_have_url(re.compile("/rules"))
    page.get_by_role("link", name="Traces", exact=True).click()
    dialog.get_by_role("button", name="Leave").click()
    expect(page).to_have_url(re.compile("/traces"))
