"""The trace page: tree, conversation and shortcuts."""

import re
from datetime import UTC, datetime, timedelta

from playwright.sync_api import expect

from support.browser import Site, Tab
from support.spans import child_of, new_span


def test_a_trace_is_navigated_with_the_keyboard_and_its_span_is_in_the_url(
    tab: Tab, demo: Site
) -> None:
    root = new_span(
        datetime.now(UTC) - timedelta(minutes=1), 900, name="invoke_agent odd", agentName="odd"
    )
    messages = [
        {"role": "system", "content": "You are an analyst."},
        {"role": "user", "content": "Who leads?"},
    ]
    chat = child_of(
        root, name="chat gpt-5", kind="llm", model="gpt-5", input=messages, output="Nobody."
    )
    demo.send("/spans", {"spans": [root, chat]})
    page = tab.open(f"/traces/{root['traceId']}")
    spans = page.get_by_label("Spans", exact=True)
    expect(spans).to_contain_text("invoke_agent odd")
    page.keyboard.press("ArrowDown")
    expect(page).to_have_url(re.compile(f"span={chat['spanId']}"))
    url = page.url
    page.reload()
    tab.settle()
    assert page.url == url
    panel = page.get_by_label("Selected span")
    expect(panel).to_contain_text("chat gpt-5")
    expect(panel).to_contain_text("You are an analyst")
    expect(panel).to_contain_text("Nobody.")


def test_e_jumps_to_the_error(tab: Tab, demo: Site) -> None:
    root = new_span(datetime.now(UTC) - timedelta(minutes=1), 900, name="breaks", agentName="odd")
    bad = child_of(root, name="the broken step", status="error", statusMessage="it burst")
    demo.send("/spans", {"spans": [root, child_of(root, name="fine"), bad]})
    page = tab.open(f"/traces/{root['traceId']}")
    page.keyboard.press("e")
    expect(page).to_have_url(re.compile(f"span={bad['spanId']}"))
    expect(page.get_by_label("Selected span")).to_contain_text("it burst")


def test_a_trace_of_ten_thousand_spans_opens_and_scrolls(tab: Tab, demo: Site) -> None:
    root = new_span(datetime.now(UTC) - timedelta(minutes=2), 60_000, name="wide", agentName="odd")
    children = [child_of(root, name=f"step {number}") for number in range(9_999)]
    demo.send("/spans", {"spans": [root, *children]})
    page = tab.open(f"/traces/{root['traceId']}")
    spans = page.get_by_label("Spans", exact=True)
    expect(spans).to_contain_text("wide")
    # Only visible rows are rendered, at the top and in the middle.
    rendered = page.locator("[role=treeitem], [role=row]")
    assert rendered.count() < 200
    page.evaluate(
        """() => {
            const box = [...document.querySelectorAll('*')]
                .find((one) => one.scrollHeight > 100000 && one.clientHeight > 100);
            box.scrollTop = box.scrollHeight / 2;
        }"""
    )
    expect(spans.get_by_role("treeitem", name=re.compile("wide"))).to_have_count(0)
    expect(rendered.nth(10)).to_contain_text("step")
    assert rendered.count() < 200
