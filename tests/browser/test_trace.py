"""The trace page: tree, conversation, shortcuts, and search in a large trace."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from support.browser import Site, Tab
from support.polling import wait_for
from support.spans import Body, child_of, new_span


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
    page = tab.show(f"/traces/{root['traceId']}")
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


@pytest.fixture(scope="module", params=[4_000, pytest.param(10_000, marks=pytest.mark.long)])
def large(request: pytest.FixtureRequest, demo: Site) -> list[Body]:
    """A trace of so many spans, two of which have a word in common; its root is the first."""
    root = new_span(datetime.now(UTC) - timedelta(minutes=2), 60_000, name="wide", agentName="odd")
    steps = [child_of(root, name=f"step {n}", input=f"number {n}") for n in range(request.param)]
    steps[1_234]["attributes"] = {"app.parcel": "Schnitzel-42"}
    steps[3_500]["output"] = {"text": "another schnitzel"}
    demo.send("/spans", {"spans": [root, *steps]})
    return [root, *steps]


def test_a_trace_of_thousands_of_spans_opens_and_scrolls(tab: Tab, large: list[Body]) -> None:
    page = tab.open(f"/traces/{large[0]['traceId']}")
    spans = page.get_by_label("Spans", exact=True)
    expect(spans).to_contain_text("wide")
    # Only visible rows are rendered, at the top and in the middle.
    rendered = page.locator("[role=treeitem], [role=row]")
    assert rendered.count() < 200
    page.evaluate(
        """() => {
            const box = [...document.querySelectorAll('*')]
                .find((one) => one.scrollHeight > 50000 && one.clientHeight > 100);
            box.scrollTop = box.scrollHeight / 2;
        }"""
    )
    expect(spans.get_by_role("treeitem", name=re.compile("wide"))).to_have_count(0)
    expect(rendered.nth(10)).to_contain_text("step")
    assert rendered.count() < 200


def test_words_are_found_in_a_trace_of_thousands_of_spans(tab: Tab, large: list[Body]) -> None:
    root, *steps = large
    page = tab.show(f"/traces/{root['traceId']}")
    page.keyboard.press("/")
    box = page.get_by_label("Search in this trace")
    expect(box).to_be_focused()
    box.fill("SCHNITZEL")
    expect(page.get_by_text("2 matches")).to_be_visible()
    box.press("Enter")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    found = {steps[1_234]["spanId"], steps[3_500]["spanId"]}
    page.wait_for_url(lambda url: any(span in url for span in found))
    expect(page.locator("[data-match]").first).to_be_visible()
    box.press("Enter")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    # The words are marked in the details, too: those of this span are in its conversation.
    if steps[3_500]["spanId"] not in page.url:
        box.press("Enter")
    wait_for(lambda: page.evaluate("CSS.highlights.get('found')?.size > 0"))
    expect(page).to_have_url(re.compile("find=SCHNITZEL"))
    box.fill("no such words")
    expect(page.get_by_text("No matches")).to_be_visible()
    box.press("Escape")
    expect(page.locator("[data-match]")).to_have_count(0)
