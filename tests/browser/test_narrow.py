"""What must be in sight, or reachable, on narrow screens; and what is loaded only in sight."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Request, expect

from support.browser import OpenTab, Site, Tab
from support.spans import new_span

MOST_REQUESTS = 12
PHONE, LAPTOP = 390, 1024
IS_CUT = "element => element.scrollWidth > element.clientWidth + 1"


def find_agent(demo: Site, name: str) -> str:
    found = demo.call("GET", "/agents?limit=100")
    return str(next(one["id"] for one in found if one["name"] == name))


def open_trace(tab: Tab, demo: Site, agent: str, *tools: str) -> Page:
    found = demo.call("GET", f"/spans/traces?agentId={agent}&status=success&limit=100")
    trace = next(one for one in found if {*tools} <= {*one["tools"]})
    return tab.open(f"/traces/{trace['traceId']}")


@pytest.mark.parametrize("page", ["overview", "agent"])
def test_a_page_sends_few_requests_until_it_is_scrolled(
    opener: OpenTab, demo: Site, page: str
) -> None:
    path = "/" if page == "overview" else f"/agents/{find_agent(demo, 'code-reviewer')}"
    with opener() as tab:
        sent: list[str] = []

        def record(request: Request) -> None:
            if "/api/" in request.url:
                sent.append(request.url)

        tab.page.on("request", record)
        tab.open(f"{path}?range=30d")
        assert len(sent) <= MOST_REQUESTS, "\n".join(sent)
        last = "Tools" if page == "overview" else "Releases"
        heading = tab.page.get_by_role("heading", name=last, exact=True)
        panel = tab.page.locator("section").filter(has=heading).last
        panel.scroll_into_view_if_needed()
        tab.page.mouse.move(720, 450)
        tab.page.mouse.wheel(0, 10_000)
        expect(panel.locator("table")).to_be_visible()


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_the_latest_traces_of_an_agent_fit(opener: OpenTab, demo: Site, width: int) -> None:
    agent = find_agent(demo, "travel-concierge")
    # Long figures.
    failed = {"status": "error", "errorType": "validation", "cost": 0.000012345}
    at = datetime.now(UTC) - timedelta(hours=2)
    demo.send("/spans", new_span(at, 3_723_456, agentName="travel-concierge", kind="llm", **failed))
    with opener(width=width) as tab:
        page = tab.open(f"/agents/{agent}?range=30d")
        rows = page.locator("section").filter(has_text="Latest traces").last.locator("li a")
        expect(rows.first).to_be_visible()
        for row in rows.all():
            assert not row.evaluate(IS_CUT), row.inner_html()
            # The message has a line of its own.
            message = row.locator(":scope > span").nth(1).bounding_box()
            whole = row.bounding_box()
            assert message
            assert whole
            assert message["width"] > whole["width"] * 0.9


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
@pytest.mark.parametrize(
    "path",
    [
        "/users",
        "/sessions?sort=cost",
        "/traces?sort=cost",
        "/traces?sort=duration",
        "/tools?sort=errorRate",
        "/spans",
    ],
)
def test_the_sorted_column_is_in_sight(opener: OpenTab, width: int, path: str) -> None:
    with opener(width=width) as tab:
        page = tab.open(path)
        sorted_by = page.locator("[aria-sort]")
        expect(sorted_by).to_have_count(1)
        page.wait_for_function(
            "() => document.querySelector('[aria-sort]').getBoundingClientRect().right"
            " <= innerWidth"
        )


def test_the_table_scrolls_back_to_the_column_that_it_is_sorted_by(opener: OpenTab) -> None:
    with opener(width=LAPTOP) as tab:
        page = tab.open("/traces?range=30d")
        scroller = page.locator("div:has(> [role=table])")
        scroller.evaluate("element => { element.scrollLeft = element.scrollWidth; }")
        page.get_by_role("button", name="Cost").click()
        expect(page.get_by_role("columnheader", name="Cost")).to_have_attribute(
            "aria-sort", "descending"
        )
        assert scroller.evaluate("element => element.scrollLeft") == 0


def test_the_trace_list_fits_a_small_laptop(opener: OpenTab) -> None:
    with opener(width=1366) as tab:
        page = tab.open("/traces?range=30d")
        expect(page.get_by_role("row").nth(1)).to_be_visible()
        assert not page.locator("div:has(> [role=table])").evaluate(IS_CUT)


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
def test_tabs_and_tool_names_of_a_trace_are_in_sight(
    opener: OpenTab, demo: Site, width: int
) -> None:
    with opener(width=width) as tab:
        tools = ("search_flights", "search_hotels")
        page = open_trace(tab, demo, "travel-concierge", *tools)
        expect(page.get_by_text("critical path")).to_be_visible()
        tabs = page.get_by_role("tablist", name="Span details")
        assert not tabs.evaluate(IS_CUT)
        assert not tabs.evaluate("element => element.scrollHeight > element.clientHeight")
        for tool in tools:
            name = page.get_by_role("tree").get_by_text(tool, exact=True).first
            assert not name.evaluate(IS_CUT)


def test_rows_of_a_dashboard_list_are_in_sight_on_phones(opener: OpenTab, demo: Site) -> None:
    costs = next(one for one in demo.call("GET", "/dashboards") if one["name"] == "Costs")
    with opener(width=PHONE) as tab:
        page = tab.open(f"/dashboards/{costs['id']}?range=30d")
        plans = page.get_by_role("region", name="Plans")
        expect(plans.get_by_text("enterprise")).to_have_count(2)
        assert not plans.evaluate("element => element.scrollHeight > element.clientHeight + 1")
        frame = page.locator("section").filter(has=plans).last
        inner, outer = plans.bounding_box(), frame.bounding_box()
        assert inner
        assert outer
        assert inner["y"] + inner["height"] <= outer["y"] + outer["height"]


def test_a_wide_table_of_results_shows_that_it_scrolls(opener: OpenTab, demo: Site) -> None:
    running = next(
        one for one in demo.call("GET", "/experiments") if one["name"] == "haiku-for-support"
    )
    with opener(width=PHONE) as tab:
        page = tab.open(f"/experiments/{running['id']}")
        table = page.get_by_role("region", name="Results table")
        expect(table).to_have_attribute("data-more", "true")
        table.evaluate("element => element.scrollTo({ left: element.scrollWidth })")
        expect(table).not_to_have_attribute("data-more", "true")
