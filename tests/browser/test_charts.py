"""Charts: legend, values under the pointer, range selection and links to traces."""

import re
from datetime import UTC, datetime, timedelta
from functools import partial

from playwright.sync_api import Locator, expect

from support.browser import Site, Tab, add_filter
from support.polling import wait_for
from support.spans import new_span

REQUESTS = "Requests by agent: Count over time"
LATENCY = "Latency: p50 latency, p95 latency, p99 latency over time"
LEGEND_HEIGHT = 20
# What the pointer is over is drawn with the next frame.
NEXT_FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
PIXELS = "chart => chart.querySelector('canvas').toDataURL()"


def open_chart(tab: Tab, query: str = "range=30d") -> Locator:
    # Loaded anew: a chart of kept values is drawn again when the current ones arrive.
    page = tab.open(f"/?{query}")
    chart = page.get_by_role("img", name=REQUESTS)
    expect(chart.locator("canvas")).to_be_visible()
    return chart


def move_to(chart: Locator, share: float, height: float = 0.5) -> None:
    """Move the pointer to a share of the chart's width, and of its height from above."""
    box = chart.bounding_box()
    assert box
    chart.page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] * height)


def hover_until(chart: Locator, text: str, height: float) -> bool:
    """Move the pointer over the chart; return whether it says this, with the pointer there."""
    for share in range(10, 100, 5):
        move_to(chart, share / 100, height)
        chart.evaluate(NEXT_FRAME)
        if text in chart.inner_text():
            return True
    return False


def test_a_legend_entry_hides_and_shows_its_series(tab: Tab) -> None:
    chart = open_chart(tab)
    before = chart.evaluate(PIXELS)
    entry = tab.page.get_by_role("button", name="support-assistant", exact=True)
    entry.press("Enter")
    expect(entry).to_have_attribute("aria-pressed", "false")
    wait_for(lambda: chart.evaluate(PIXELS) != before)
    move_to(chart, 0.5)
    expect(chart).to_contain_text("Total")
    expect(chart).not_to_contain_text("support-assistant")
    entry.press("Enter")
    expect(entry).to_have_attribute("aria-pressed", "true")
    wait_for(lambda: chart.evaluate(PIXELS) == before)


def test_a_legend_says_how_many_names_are_cut_off_and_scrolls_to_them(tab: Tab) -> None:
    open_chart(tab)
    tab.page.set_viewport_size({"width": 390, "height": 900})
    entry = tab.page.get_by_role("button", name="support-assistant", exact=True)
    legend = entry.locator("xpath=ancestor::div[1]")
    button = legend.get_by_role("button", name=re.compile(r"^Show \d+ more series$|^Back to the"))
    expect(button).to_have_text(re.compile(r"^\+\d+$"))
    assert legend.evaluate("legend => legend.offsetHeight") == LEGEND_HEIGHT
    while (left := button.inner_text()).startswith("+"):
        button.press("Enter")
        expect(button).not_to_have_text(left)
    # The last name is visible, and the button leads back.
    expect(legend.get_by_role("listitem").last).to_be_in_viewport(ratio=0.95)
    expect(button).to_have_accessible_name("Back to the first series")
    button.press("Enter")
    expect(legend.get_by_role("listitem").first).to_be_in_viewport(ratio=0.95)
    assert tab.find_violations("scrollable-region-focusable", "button-name", "list") == []


def test_the_crosshair_is_shared_and_shows_all_values(tab: Tab) -> None:
    chart = open_chart(tab)
    other = tab.page.get_by_role("img", name=LATENCY).locator(".u-cursor-x")
    expect(other).to_be_hidden()
    move_to(chart, 0.5)
    # Which of the other agents were active on that day depends on the date.
    expect(chart).to_contain_text(re.compile(r"support-assistant\d+([a-z-]+\d+)+Total\d+"))
    expect(other).to_be_visible()
    tab.page.mouse.move(1, 1)
    expect(chart).not_to_contain_text("Total")
    expect(other).to_be_hidden()


def test_dragging_selects_the_time_range(tab: Tab) -> None:
    chart = open_chart(tab)
    move_to(chart, 0.4)
    tab.page.mouse.down()
    move_to(chart, 0.5)
    move_to(chart, 0.6)
    tab.page.mouse.up()
    expect(tab.page).to_have_url(re.compile(r"/\?.*from=.*&to="))
    expect(tab.page.get_by_role("heading", level=1)).to_have_text("Overview")


def test_a_click_opens_the_traces_of_the_bucket(tab: Tab) -> None:
    chart = open_chart(tab)
    move_to(chart, 0.5)
    tab.page.mouse.down()
    tab.page.mouse.up()
    expect(tab.page).to_have_url(re.compile(r"/traces\?.*from=.*&to="))


def test_a_click_on_a_part_of_a_stack_opens_its_traces(tab: Tab, demo: Site) -> None:
    start = datetime.now(UTC) - timedelta(minutes=30)
    spans = [
        new_span(start, agentName="glass-frog", status="error" if n < 6 else "ok")
        for n in range(10)
    ]
    demo.send("/spans", {"spans": spans})
    # The four that succeeded are drawn below the six that failed.
    for height, status, count in ((0.67, "success", 4), (0.25, "error", 6)):
        page = tab.open("/?range=1h&agent=glass-frog&step=15m")
        chart = page.get_by_role("img", name="Success and failure: Count over time")
        expect(chart.locator("canvas")).to_be_visible()
        wait_for(partial(hover_until, chart, "Total\n10", height))
        page.mouse.down()
        page.mouse.up()
        expect(page).to_have_url(re.compile(f"filters=.*status.*{status}"))
        expect(page.get_by_text(f"{count} traces", exact=True)).to_be_visible()


def test_a_chart_follows_its_data_and_the_theme(tab: Tab) -> None:
    chart = open_chart(tab, "from=2025-01-01T00:00:00Z&to=2040-01-01T00:00:00Z")
    light = chart.evaluate(PIXELS)
    tab.page.keyboard.press("t")
    tab.page.wait_for_function(
        "([name, light]) => document.querySelector(`[aria-label='${name}'] canvas`)"
        ".toDataURL() !== light",
        arg=[REQUESTS, light],
    )
    tab.page.keyboard.press("t")
    tab.page.get_by_label("Agent", exact=True).select_option("code-reviewer")
    expect(tab.page).to_have_url(re.compile("agent=code-reviewer"))
    expect(tab.page.get_by_role("button", name="support-assistant", exact=True)).to_have_count(0)
    wait_for(lambda: chart.evaluate(PIXELS) != light)


def test_a_chart_without_values_is_not_drawn(tab: Tab) -> None:
    page = tab.show("/spans?range=30d")
    chart = page.get_by_role("region", name="p95 latency of the slowest tools")
    expect(chart).to_be_visible()
    add_filter(page, "Agent", "nobody")
    expect(page.get_by_text("No tool calls in this period")).to_be_visible()
    expect(chart).to_have_count(0)
