"""Failures: a new one is seen, opened and muted."""

from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import expect

from support.browser import Site, Tab
from support.spans import new_span


def test_a_new_failure_is_opened_and_muted(tab: Tab, demo: Site) -> None:
    failed: dict[str, Any] = {"agentName": "busy-wasp", "toolName": "sting", "status": "error"}
    start = datetime.now(UTC) - timedelta(seconds=5)
    spans = [new_span(start, statusMessage=f"missed {n} times", **failed) for n in range(3)]
    demo.send("/spans", {"spans": spans})
    page = tab.open("/failures?status=new")
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
