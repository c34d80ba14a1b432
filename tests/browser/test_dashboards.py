"""Dashboards: arranging panels, what is behind their parts, and full screen."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Locator, Page, expect

from support.browser import Site, Tab
from support.site_data import dashboard

TRACES = {"title": "Traces", "chart": "number", "width": 6, "height": 2}
AGENTS = {"title": "Agents", "chart": "bar", "width": 6, "height": 4}
TOOLS = {"title": "Tools", "chart": "table", "width": 12, "height": 4}
COUNT: dict[str, Any] = {"measures": ["count"]}
OF_TOOLS = {
    "of": "spans",
    "measures": ["p95", "count"],
    "groupBy": ["tool"],
    "filters": [{"field": "kind", "op": "eq", "value": "tool"}],
}
PANELS = (
    {**TRACES, "query": COUNT},
    {**AGENTS, "query": {**COUNT, "groupBy": ["agent"], "granularity": "daily"}},
    {**TOOLS, "query": OF_TOOLS},
)


def filters_of(page: Page) -> list[Any]:
    query = parse_qs(urlsplit(page.url).query)
    found: list[Any] = json.loads(query["filters"][0])
    return found


def panel_titles(page: Page) -> Locator:
    return page.locator("section h2")


def drag(page: Page, handle: Locator, x: float, y: float) -> None:
    """Drag a handle to a position on the page."""
    box = handle.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(x, y, steps=4)
    page.mouse.up()


def test_panels_are_moved_and_resized_with_the_pointer_and_keys(tab: Tab, demo: Site) -> None:
    with dashboard(demo, "Wall", *PANELS) as made:
        page = tab.show(f"/dashboards/{made}?range=30d")
        handles = page.get_by_role("button", name=re.compile("^(Move|Resize) "))
        expect(handles).to_have_count(0)
        page.get_by_role("button", name="Arrange").click()
        expect(handles).to_have_count(6)
        assert tab.find_violations() == []
        target = page.locator("section", has_text="Agents").last.bounding_box()
        assert target
        x, y = target["x"] + target["width"] - 20, target["y"] + 60
        drag(page, page.get_by_role("button", name="Move Traces"), x, y)
        expect(panel_titles(page)).to_have_text(["Agents", "Traces", "Tools"])
        page.get_by_role("button", name="Move Tools").press("ArrowLeft")
        expect(panel_titles(page)).to_have_text(["Agents", "Tools", "Traces"])
        corner = page.get_by_role("button", name="Resize Agents")
        box = corner.bounding_box()
        assert box
        # A column is about 100 px wide, a row 76 px high.
        drag(page, corner, box["x"] - 190, box["y"] + 85)
        corner.press("ArrowDown")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Unsaved changes")).to_have_count(0)
        stored = demo.call("GET", f"/dashboards/{made}")["panels"]
        sizes = [(one["title"], one["width"], one["height"]) for one in stored]
        assert sizes == [("Agents", 4, 6), ("Tools", 12, 4), ("Traces", 6, 2)]


def test_a_number_has_its_trend_and_parts_open_what_is_behind_them(tab: Tab, demo: Site) -> None:
    with dashboard(demo, "Wall", *PANELS) as made:
        page = tab.show(f"/dashboards/{made}?range=14d&env=production")
        number = page.get_by_role("region", name="Traces")
        expect(number.locator("svg path")).to_have_count(1)
        expect(number.get_by_title(re.compile("previous period"))).to_be_visible()
        page.get_by_role("link", name="search_flights").press("Enter")
        expect(page).to_have_url(re.compile(r"/spans\?.*tab=list"))
        production = {"field": "environment", "op": "eq", "value": "production"}
        assert filters_of(page) == [
            *OF_TOOLS["filters"],
            production,
            {"field": "tool", "op": "eq", "value": "search_flights"},
        ]
        expect(page.get_by_role("row").nth(1)).to_contain_text("search_flights")
        page.go_back()
        tab.settle()
        chart = page.get_by_role("img", name=re.compile("Agents: .* over time"))
        box = chart.bounding_box()
        assert box
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 30)
        expect(page).to_have_url(re.compile(r"/traces\?.*from=.*T00%3A00%3A00.000Z&to="))
        [first, agent] = filters_of(page)
        assert first == production
        assert agent["field"] == "agent"
        expect(page.get_by_role("row").nth(1)).to_contain_text(agent["value"])


def test_full_screen_keeps_the_range_and_the_interval_in_sight(tab: Tab, demo: Site) -> None:
    with dashboard(demo, "Wall", PANELS[0]) as made:
        page = tab.show(f"/dashboards/{made}?range=30d")
        navigation = page.get_by_role("navigation", name="Pages")
        expect(navigation).to_be_visible()
        page.get_by_role("button", name="Full screen").click()
        expect(navigation).to_be_hidden()
        page.get_by_label("Auto-refresh").select_option("300")
        page.get_by_role("button", name=re.compile("^Time range")).click()
        page.get_by_role("button", name="Last 14 days").click()
        expect(page).to_have_url(re.compile("range=14d.*refresh=300|refresh=300.*range=14d"))
        page.get_by_role("button", name="Actions of Traces").click()
        expect(page.get_by_role("menuitem", name="Open in Explore")).to_be_visible()
        tab.press_escape()
        page.get_by_role("button", name="Exit full screen").click()
        expect(navigation).to_be_visible()
