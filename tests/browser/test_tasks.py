"""Frequent tasks take at most five clicks from the overview."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from support.browser import Site, Tab
from support.polling import wait_for
from support.spans import Body, child_of, new_span

MOST = 5
COPY = """() => { window.copied = [];
    navigator.clipboard.writeText = async (text) => { window.copied.push(text); }; }"""


@dataclass
class Mouse:
    """Counts clicks; typing into a focused field takes none."""

    clicks: int = 0

    def click(self, target: Locator) -> None:
        target.click()
        self.clicks += 1

    def choose(self, select: Locator, label: str) -> None:
        """Open a native select and click an option."""
        select.select_option(label=label)
        self.clicks += 2


def filter_traces_by_attribute(page: Page, mouse: Mouse, typed: str, name: str) -> None:
    """Open the values of an attribute in the filter of the list of traces."""
    mouse.click(page.get_by_role("link", name="Traces", exact=True))
    mouse.click(page.get_by_role("button", name="Filter"))
    expect(page.get_by_label("Search fields and attributes")).to_be_focused()
    page.keyboard.type(typed)
    expect(page.get_by_role("button", name=name)).to_be_visible()
    page.keyboard.press("Enter")


@pytest.fixture(scope="module", autouse=True)
def failed_call(demo: Site) -> Body:
    """A failed model call, sent together with what the other tasks need."""
    start = datetime.now(UTC) - timedelta(minutes=2)

    def make(agent: str, attribute: str, *values: str) -> list[Body]:
        return [
            new_span(start, name=f"order {n}", agentName=agent, attributes={attribute: value})
            for n, value in enumerate(values)
        ]

    root = new_span(start, 900, name="haste", agentName="hasty", status="error")
    call = child_of(
        root,
        name="chat gpt-5",
        kind="llm",
        model="gpt-5",
        provider="openai",
        status="error",
        errorType="rate_limit",
        statusMessage="429 too many requests",
        input=[{"role": "user", "content": "Hurry up"}],
    )
    spans = [
        *make("clerk", "tenant.name", *12 * ["globex"], *9 * ["initech"], *6 * ["acme"]),
        *make("teller", "branch.name", "harbour", "airport", "airport", "station"),
        *make("shop", "shop.tier", "golden", "golden", "silver"),
        *(root, call),
    ]
    demo.send("/spans", {"spans": spans})
    return call


def test_two_values_of_an_attribute_are_compared(tab: Tab) -> None:
    page, mouse = tab.show("/?range=24h"), Mouse()
    mouse.click(page.get_by_role("link", name="Changes"))
    mouse.choose(page.get_by_label("Compare", exact=True), "Attribute …")
    expect(page.get_by_label("Compare: attribute")).to_be_focused()
    page.keyboard.type("tenant.name")
    # The two most frequent values are compared at once; others are typed.
    expect(page.get_by_label("Baseline", exact=True)).to_have_value("globex")
    mouse.click(page.get_by_label("Baseline", exact=True))
    page.keyboard.type("acme")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Baseline: acme (6 traces)")).to_be_visible()
    mouse.click(page.get_by_label("Candidate", exact=True))
    page.keyboard.type("globex")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Candidate: globex (12 traces)")).to_be_visible()
    assert mouse.clicks <= MOST


def test_two_values_of_a_filter_are_compared(tab: Tab) -> None:
    page, mouse = tab.show("/?range=24h&agent=teller"), Mouse()
    filter_traces_by_attribute(page, mouse, "branch.n", "branch.name")
    mouse.click(page.get_by_label("airport"))
    mouse.click(page.get_by_label("harbour"))
    page.keyboard.press("Enter")
    mouse.click(page.get_by_role("link", name="Compare airport and harbour"))
    expect(page.get_by_text("Baseline: airport (2 traces)")).to_be_visible()
    expect(page.get_by_text("Candidate: harbour (1 trace)")).to_be_visible()
    # The filter would be the same on both sides.
    expect(page.get_by_text("branch.name is")).to_have_count(0)
    assert mouse.clicks <= MOST


def test_the_cost_of_models_per_day_is_put_on_a_dashboard(tab: Tab, demo: Site) -> None:
    made = demo.call("POST", "/dashboards", json={"name": "Finance", "panels": []})["id"]
    page, mouse = tab.show("/?range=30d&agent=support-assistant"), Mouse()
    mouse.click(page.get_by_role("link", name="Explore Cost by model"))
    expect(page.get_by_text("Agent is support-assistant")).to_be_visible()
    mouse.click(page.get_by_role("button", name="Save to dashboard"))
    mouse.choose(page.get_by_label("Dashboard", exact=True), "Finance")
    mouse.click(page.get_by_role("button", name="Save", exact=True))
    expect(page.get_by_role("heading", name="Cost by model")).to_be_visible()
    assert mouse.clicks <= MOST
    [panel] = demo.call("GET", f"/dashboards/{made}")["panels"]
    demo.call("DELETE", f"/dashboards/{made}")
    query = panel["query"]
    assert (panel["chart"], query["of"], query["measures"]) == ("bar", "spans", ["cost"])
    assert (query["groupBy"], query["granularity"]) == (["model"], "daily")


def test_a_failed_call_is_scored_and_copied(tab: Tab, demo: Site, failed_call: Body) -> None:
    page, mouse = tab.show("/?range=1h&agent=hasty"), Mouse()
    errors = page.locator("section").filter(has=page.get_by_role("heading", name="Errors by type"))
    mouse.click(errors.get_by_role("button").first)
    mouse.click(page.get_by_role("link", name="haste"))
    # A list of failed traces opens the span that failed.
    selected = page.get_by_role("complementary", name="Selected span")
    expect(selected.get_by_role("heading", name="chat gpt-5")).to_be_visible()
    page.evaluate(COPY)
    mouse.click(selected.get_by_role("button", name="Copy model call as cURL"))
    wait_for(lambda: "Hurry up" in json.dumps(page.evaluate("window.copied")))
    mouse.click(selected.get_by_role("button", name="Add a signal to this span"))
    dialog = page.get_by_role("dialog", name="Add a signal")
    expect(dialog.get_by_label("Name")).to_be_focused()
    page.keyboard.type("severity")
    # Past the scores 1 and 0, and whether the span or its trace is scored.
    for _ in range(4):
        page.keyboard.press("Tab")
    page.keyboard.type("3")
    mouse.click(dialog.get_by_role("button", name="Add", exact=True))
    expect(page.get_by_text("Signal added: severity 3")).to_be_visible()
    assert mouse.clicks <= MOST
    [signal] = demo.call("GET", f"/signals/trace/{failed_call['traceId']}")
    assert (signal["signalName"], signal["value"]) == ("severity", 3)
    assert signal["spanId"] == failed_call["spanId"]


def test_an_attribute_is_filtered_and_the_view_shared(tab: Tab) -> None:
    page, mouse = tab.show("/?range=24h"), Mouse()
    filter_traces_by_attribute(page, mouse, "shop.t", "shop.tier")
    expect(page.get_by_label("Search values")).to_be_focused()
    page.keyboard.type("golden")
    page.keyboard.press("Enter")
    expect(page.get_by_text("shop.tier is golden")).to_be_visible()
    expect(page.get_by_role("link", name="order ")).to_have_count(2)
    mouse.click(page.get_by_role("button", name="Views"))
    mouse.click(page.get_by_label("Share with the workspace"))
    mouse.click(page.get_by_label("Name of the view"))
    page.keyboard.type("Golden orders")
    page.keyboard.press("Enter")
    expect(page.get_by_text("View saved.")).to_be_visible()
    assert mouse.clicks <= MOST
