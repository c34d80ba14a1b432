"""Failures: a new one is seen, opened and muted; its traces and users are reached."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from support.browser import Site, Tab
from support.spans import Body, child_of, new_span


@pytest.fixture(scope="module", autouse=True)
def steps(demo: Site) -> list[Body]:
    """Failed steps of two users, sent together with failures of another agent."""
    start = datetime.now(UTC) - timedelta(seconds=5)
    failed: dict[str, Any] = {"agentName": "busy-wasp", "toolName": "sting", "status": "error"}
    stings = [new_span(start, statusMessage=f"missed {n} times", **failed) for n in range(3)]
    roots = [
        new_span(start, name="outing", agentName="lost-hiker", status=status, userId=user)
        for status, user in (("error", "hiker 1"), ("error", "hiker 2"), ("ok", "hiker 3"))
    ]
    made = [
        child_of(root, name=f"walk {n}", toolName="walk", status="error", statusMessage=message)
        for n, (root, message) in enumerate(
            zip(roots, ("no path after 12 km", "no path after 7 km"), strict=False)
        )
    ]
    demo.send("/spans", {"spans": [*stings, *roots, *made]})
    return made


def test_a_new_failure_is_opened_and_muted(tab: Tab) -> None:
    page = tab.show("/failures?status=new")
    row = page.get_by_role("button", name="sting: missed … times")
    expect(row).to_contain_text("busy-wasp")
    row.click()
    expect(page.get_by_text("Example traces")).to_be_visible()
    assert tab.find_violations() == []
    page.get_by_role("button", name="Mute").click()
    expect(row).to_have_count(0)
    # It is still the open one.
    page.get_by_role("tab", name="Muted").click()
    page.get_by_role("button", name="Unmute").click()
    expect(page.get_by_text("No failures with this status")).to_be_visible()


def test_one_rule_reports_new_failures(tab: Tab, demo: Site) -> None:
    rules = demo.call("GET", "/alerts/settings")["rules"]
    [rule] = [one for one in rules if one["metric"] == "newFailureGroup"]
    page = tab.show("/failures")
    page.get_by_role("button", name="Alert me").click()
    expect(page.get_by_label("Name")).to_have_value(rule["name"])
    expect(page.get_by_role("list", name="Rules").get_by_role("listitem")).to_have_count(len(rules))
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()


def test_a_failure_leads_to_its_spans_traces_and_users(tab: Tab, steps: list[Body]) -> None:
    filters = quote(json.dumps([{"field": "userId", "op": "eq", "value": "hiker 3"}]))
    page = tab.show(f"/failures?agent=lost-hiker&filters={filters}")
    expect(page.get_by_text("No failures match")).to_be_visible()
    page = tab.show("/failures?agent=lost-hiker")
    row = page.get_by_role("button", name="walk: no path after … km")
    row.click()
    details = page.get_by_role("listitem").filter(has=row)
    # What was reported, not what the group has in common.
    expect(details).to_contain_text("no path after 12 km")
    expect(details).to_contain_text("no path after 7 km")
    details.get_by_role("link", name=steps[0]["traceId"][:8]).click()
    selected = page.get_by_role("complementary", name="Selected span")
    expect(selected.get_by_role("heading", name="walk 0")).to_be_visible()
    # The trace page steps through the traces of the group.
    page.get_by_role("link", name="Back to the list").click()
    expect(page.get_by_role("link", name="outing")).to_have_count(2)
    page = tab.show("/failures?agent=lost-hiker")
    row.click()
    details.get_by_role("link", name="All its traces").click()
    expect(page.get_by_text("Failure is walk: no path after … km")).to_be_visible()
    expect(page.get_by_role("link", name="outing")).to_have_count(2)
    page.go_back()
    details.get_by_role("link", name="hiker 2").click()
    expect(page.get_by_role("heading", name="hiker 2", level=1)).to_be_visible()
