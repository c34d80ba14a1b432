"""Changes: two releases are compared, and two traces by their spans and words."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from support.browser import Site, Tab
from support.spans import Body, child_of, new_span

RELEASES = "/changes?range=24h&by=attribute:release"


def make_release(
    agent: str, release: str, latency_ms: float, cost: float, failed: int = 0
) -> list[Body]:
    """Return 60 traces of a release, the last of which failed."""
    start = datetime.now(UTC) - timedelta(hours=2)
    error = {"status": "error", "errorType": "timeout"}
    return [
        new_span(
            start + timedelta(seconds=n),
            latency_ms + n,
            kind="llm",
            model="zz-hive",
            agentName=agent,
            cost=cost + n / 1e6,
            attributes={"release": release},
            **(error if n >= 60 - failed else {}),
        )
        for n in range(60)
    ]


def make_reply(answer: str, *tools: str) -> list[Body]:
    fields: dict[str, Any] = {"agentName": "talking-hornet", "output": answer}
    root = new_span(datetime.now(UTC) - timedelta(minutes=1), name="reply", **fields)
    return [root, *(child_of(root, name=tool, kind="tool", toolName=tool) for tool in tools)]


@pytest.fixture(scope="module", autouse=True)
def replies(demo: Site) -> tuple[Body, Body]:
    """Two traces to compare, sent together with the releases of two agents."""
    first = make_reply("The nest is old", "sting")
    second = make_reply("The nest is new", "sting", "buzz")
    releases = [
        *make_release("slow-hornet", "9.1", 800, 0.02),
        *make_release("slow-hornet", "9.2", 1600, 0.01),
        *make_release("weak-hornet", "9.1", 800, 0.02),
        *make_release("weak-hornet", "9.2", 1600, 0.01, failed=6),
    ]
    demo.send("/spans", {"spans": [*first, *second, *releases]})
    return first[0], second[0]


def test_two_releases_are_compared(tab: Tab) -> None:
    page = tab.show(f"{RELEASES}&agent=slow-hornet")
    # The two most frequent values are chosen, the lower version as the baseline.
    expect(page.get_by_label("Baseline", exact=True)).to_have_value("9.1")
    expect(page.get_by_label("Candidate", exact=True)).to_have_value("9.2")
    measures = page.get_by_role("table", name="Measures")
    expect(measures.get_by_role("row", name="p50 latency")).to_contain_text("Worse")
    expect(measures.get_by_role("row", name="Cost per trace")).to_contain_text("Better")
    expect(measures.get_by_role("row", name="Error rate 60 traces")).to_contain_text("Unclear")
    contributors = page.get_by_role("table", name="Contributors")
    expect(contributors.get_by_role("row").nth(1)).to_contain_text("Time in model zz-hive")
    expect(contributors).not_to_contain_text("with agent slow-hornet")
    headline = "slow-hornet 9.1 → 9.2: zz-hive takes 1.63 s instead of 830 ms."
    expect(page.get_by_text(headline)).to_be_visible()
    baseline = page.get_by_label("Baseline", exact=True)
    baseline.fill("9.2")
    expect(page.get_by_role("option")).to_have_text(["9.2"])
    page.keyboard.press("Enter")
    expect(page.get_by_text("Both sides are 9.2")).to_be_visible()
    # Without a value there is the default again.
    baseline.clear()
    page.keyboard.press("Tab")
    expect(baseline).to_have_value("9.1")
    page.get_by_role("button", name="Swap").click()
    expect(measures.get_by_role("row", name="p50 latency")).to_contain_text("Better")
    page.get_by_role("link", name="Both sides: candidate traces").click()
    expect(page.get_by_text("release is 9.1")).to_be_visible()


def test_a_comparison_names_its_boxes_and_what_contributes(tab: Tab) -> None:
    page = tab.show(RELEASES)
    form = page.get_by_role("main")
    for name in ("Baseline", "Candidate"):
        expect(form.locator("label", has_text=name)).to_be_visible()
    errors = page.get_by_role("table", name="Measures").get_by_role("row", name="Error rate ")
    expect(errors.first).to_contain_text(" pts")
    contributors = page.get_by_role("table", name="Contributors")
    expect(contributors).to_contain_text("model zz-hive")
    expect(contributors).to_contain_text("with agent slow-hornet")


def test_periods_are_compared_and_few_traces_say_so(tab: Tab) -> None:
    page = tab.show("/changes?agent=nobody")
    expect(page.get_by_role("heading", name="Nothing to compare: no traces from")).to_be_visible()
    page = tab.show("/changes?range=7d")
    measures = page.get_by_role("table", name="Measures")
    expect(measures.get_by_role("row", name="Traces per day")).to_be_visible()
    page.get_by_label("Baseline period").select_option("week")
    expect(measures.get_by_role("row", name="Traces per day")).to_be_visible()
    expect(page).to_have_url(re.compile("against=week"))


def test_releases_of_one_agent_are_compared(tab: Tab) -> None:
    page = tab.show("/changes?range=30d&by=serviceVersion")
    expect(page.get_by_role("heading", name="Choose an agent")).to_be_visible()
    expect(page.get_by_label("Baseline", exact=True)).to_have_value("")
    assert tab.find_violations() == []
    page.get_by_role("main").get_by_role("button", name="code-reviewer").click()
    expect(page.get_by_label("Baseline", exact=True)).to_have_value("3.1.0")
    expect(page.get_by_label("Candidate", exact=True)).to_have_value("3.2.0")
    expect(page.get_by_role("table", name="Measures")).to_be_visible()


def test_only_values_that_exist_can_be_chosen(tab: Tab) -> None:
    page = tab.show(f"{RELEASES}&agent=slow-hornet")
    baseline = page.get_by_label("Baseline", exact=True)
    expect(baseline).to_have_value("9.1")
    baseline.fill("nonsense")
    expect(page.get_by_text("No release like “nonsense” in this period")).to_be_visible()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(baseline).to_have_value("9.1")
    expect(page.get_by_role("table", name="Measures")).to_be_visible()
    # A link may name anything: the page offers what is similar.
    page = tab.show("/changes?range=24h&by=model&agent=slow-hornet&baseline=zz-hive&candidate=hive")
    missing = "Nothing to compare: no traces with model “hive” in this period"
    expect(page.get_by_role("heading", name=missing)).to_be_visible()
    assert tab.find_violations() == []
    page.get_by_role("button", name="zz-hive").click()
    expect(page.get_by_text("Both sides are zz-hive")).to_be_visible()


def test_models_of_different_agents_get_no_verdict(tab: Tab) -> None:
    page = tab.show("/changes?range=24h&by=model&baseline=zz-hive&candidate=claude-sonnet-4-5")
    notice = page.get_by_role("status").filter(has_text="Not comparable")
    expect(notice).to_contain_text("no agent is on both sides")
    measures = page.get_by_role("table", name="Measures")
    expect(measures.get_by_role("row", name="p50 latency")).to_contain_text("No verdict")
    expect(measures).not_to_contain_text("Better")
    expect(page.get_by_role("table", name="Contributors")).to_have_count(0)
    assert tab.find_violations() == []


def test_an_attribute_is_asked_for_before_its_values(tab: Tab) -> None:
    page = tab.show("/changes?by=attribute:")
    expect(page.get_by_role("heading", name="Choose an attribute")).to_be_visible()
    expect(page.get_by_text("No values in this period")).to_have_count(0)


def test_old_numbers_are_dim_under_a_new_selection_and_equal_sides_say_so(
    tab: Tab,
) -> None:
    page = tab.show(f"{RELEASES}&agent=slow-hornet")
    report = page.locator("[aria-busy]").filter(has=page.get_by_role("table", name="Measures"))
    expect(report).to_have_attribute("aria-busy", "false")
    held: list[Route] = []

    # Playwright sets an attribute on the handler, so it cannot be `held.append` itself.
    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/analytics/changes**", hold)
    page.get_by_label("Candidate", exact=True).fill("9.1")
    expect(page.get_by_role("option")).to_have_text(["9.1"])
    page.keyboard.press("Enter")
    expect(report).to_have_attribute("aria-busy", "true")
    for route in held:
        route.continue_()
    page.unroute("**/api/analytics/changes**")
    expect(report).to_have_attribute("aria-busy", "false")
    expect(page.get_by_text("Both sides are 9.1")).to_be_visible()


def test_two_traces_are_compared_by_spans_and_words(tab: Tab, replies: tuple[Body, Body]) -> None:
    first, second = replies
    page = tab.show(f"/compare?a={first['traceId']}&b={second['traceId']}")
    spans = page.get_by_role("list", name="Spans of both traces")
    expect(spans.get_by_role("button", name="reply")).to_contain_text("Changed")
    expect(spans.get_by_role("button", name="sting")).to_contain_text("Same")
    expect(spans.get_by_role("button", name="buzz")).to_contain_text("Second trace only")
    content = page.get_by_label("Content of the chosen spans")
    expect(content.locator("del")).to_have_text("old")
    expect(content.locator("ins")).to_have_text("new")
    page.get_by_role("tab", name="Side by side").click()
    expect(page.get_by_role("region", name="Selected span, first trace")).to_be_visible()
