"""What must be in sight, or reachable, on narrow screens; and what is loaded only in sight."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, Request, expect

from support.browser import OpenTab, Site, Tab
from support.demo_pages import address, first
from support.spans import new_span

MOST_REQUESTS = 4
LAPTOP = 1024
IS_CUT = "element => element.scrollWidth > element.clientWidth + 1"
# Texts that are cut to less than this tell nothing.
LEAST_PIXELS = 100
CUT = f"""nodes => nodes
    .filter(node => node.scrollWidth > node.clientWidth && node.clientWidth < {LEAST_PIXELS})
    .map(node => node.textContent)"""
WIDER = """nodes => nodes
    .filter(node => node.scrollWidth > node.clientWidth)
    .map(node => node.textContent)"""
# A laptop shows what a phone does, except where it says otherwise.
WIDTHS = [390, pytest.param(LAPTOP, marks=pytest.mark.long)]


@pytest.fixture
def narrow(tab: Tab, width: int) -> Tab:
    resize(tab, width)
    return tab


def resize(tab: Tab, width: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": 844})


def find_agent(demo: Site, name: str) -> str:
    found = demo.call("GET", "/agents?limit=100")
    return str(next(one["id"] for one in found if one["name"] == name))


def show_trace(tab: Tab, demo: Site, agent: str, *tools: str) -> Page:
    found = demo.call("GET", f"/spans/traces?agentId={agent}&status=success&limit=100")
    trace = next(one for one in found if {*tools} <= {*one["tools"]})
    return tab.show(f"/traces/{trace['traceId']}")


@pytest.mark.parametrize("page", ["overview", pytest.param("agent", marks=pytest.mark.long)])
def test_a_page_sends_few_requests_until_it_is_scrolled_and_its_headers_fit(
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
        headers = tab.page.locator("section > header")
        resize(tab, 390)
        expect(headers.first).to_be_visible()
        assert headers.evaluate_all(WIDER) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_latest_traces_of_an_agent_fit(narrow: Tab, demo: Site) -> None:
    # Long figures.
    failed = {"status": "error", "errorType": "validation", "cost": 0.000012345}
    at = datetime.now(UTC) - timedelta(hours=2)
    demo.send("/spans", new_span(at, 3_723_456, agentName="travel-concierge", kind="llm", **failed))
    page = narrow.open(f"/agents/{find_agent(demo, 'travel-concierge')}?range=30d")
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


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "path",
    [
        "/traces?sort=cost",
        "/tools?sort=errorRate",
        *(
            pytest.param(path, marks=pytest.mark.long)
            for path in ("/users", "/sessions?sort=cost", "/traces?sort=duration", "/spans")
        ),
    ],
)
def test_the_sorted_column_is_in_sight(narrow: Tab, path: str) -> None:
    page = narrow.show(path)
    expect(page.locator("[aria-sort]")).to_have_count(1)
    page.wait_for_function(
        "() => document.querySelector('[aria-sort]').getBoundingClientRect().right <= innerWidth"
    )


def test_the_table_scrolls_back_to_the_column_that_it_is_sorted_by(phone: Tab) -> None:
    page = phone.show("/traces?range=7d")
    scroller = page.locator("div:has(> [role=table])")
    scroller.evaluate("element => { element.scrollLeft = element.scrollWidth; }")
    assert scroller.evaluate("element => element.scrollLeft") > 0
    page.get_by_role("button", name="Cost").click()
    expect(page.get_by_role("columnheader", name="Cost")).to_have_attribute(
        "aria-sort", "descending"
    )
    assert scroller.evaluate("element => element.scrollLeft") == 0


@pytest.mark.long
def test_the_trace_list_fits_a_small_laptop(opener: OpenTab) -> None:
    with opener(width=1366) as tab:
        page = tab.open("/traces?range=30d")
        expect(page.get_by_role("row").nth(1)).to_be_visible()
        assert not page.locator("div:has(> [role=table])").evaluate(IS_CUT)


@pytest.mark.parametrize("width", WIDTHS)
def test_tabs_and_tool_names_of_a_trace_are_in_sight(narrow: Tab, demo: Site) -> None:
    tools = ("search_flights", "search_hotels")
    page = show_trace(narrow, demo, "travel-concierge", *tools)
    expect(page.get_by_text("critical path")).to_be_visible()
    tabs = page.get_by_role("tablist", name="Span details")
    assert not tabs.evaluate(IS_CUT)
    assert not tabs.evaluate("element => element.scrollHeight > element.clientHeight")
    for tool in tools:
        name = page.get_by_role("tree").get_by_text(tool, exact=True).first
        assert not name.evaluate(IS_CUT)


def test_rows_of_a_dashboard_list_are_in_sight_on_phones(phone: Tab, demo: Site) -> None:
    costs = next(one for one in demo.call("GET", "/dashboards") if one["name"] == "Costs")
    page = phone.show(f"/dashboards/{costs['id']}?range=30d")
    plans = page.get_by_role("region", name="Plans")
    expect(plans.get_by_text("enterprise")).to_have_count(2)
    assert not plans.evaluate("element => element.scrollHeight > element.clientHeight + 1")
    frame = page.locator("section").filter(has=plans).last
    inner, outer = plans.bounding_box(), frame.bounding_box()
    assert inner
    assert outer
    assert inner["y"] + inner["height"] <= outer["y"] + outer["height"]


def test_a_wide_table_of_results_shows_that_it_scrolls(phone: Tab, demo: Site) -> None:
    running = next(
        one for one in demo.call("GET", "/experiments") if one["name"] == "haiku-for-support"
    )
    page = phone.show(f"/experiments/{running['id']}")
    table = page.get_by_role("region", name="Results table")
    expect(table).to_have_attribute("data-more", "true")
    table.evaluate("element => element.scrollTo({ left: element.scrollWidth })")
    expect(table).not_to_have_attribute("data-more", "true")


# On a phone the open alert covers the list.
@pytest.mark.parametrize(
    ("has_alert", "width"),
    [(False, 390), (True, 1440), pytest.param(True, LAPTOP, marks=pytest.mark.long)],
)
def test_alerts_fit_into_narrow_panes(narrow: Tab, demo: Site, has_alert: bool) -> None:
    alert = first(demo, "/spans/alerts", "id")
    page = narrow.show(f"/alerts?alert={alert}" if has_alert else "/alerts")
    rows = page.get_by_role("list", name="Alerts").get_by_role("listitem")
    expect(rows.first).to_be_visible()
    assert rows.locator("span").evaluate_all(CUT) == []
    assert rows.evaluate_all(WIDER) == []
    for words in ("info|warning|critical", "active|acknowledged|resolved"):
        badge = page.get_by_text(re.compile(f"^({words})$")).filter(visible=True)
        expect(rows.filter(has=badge)).to_have_count(rows.count())


@pytest.mark.parametrize("width", WIDTHS)
def test_compared_spans_fit_into_narrow_panes(narrow: Tab, demo: Site) -> None:
    page = narrow.show(address(demo, "comparison"))
    spans = page.get_by_role("list", name="Spans of both traces").locator("li span")
    expect(spans.first).to_be_attached()
    assert spans.evaluate_all(CUT) == []


def test_the_copy_button_covers_no_code_and_snippets_fit_on_a_phone(phone: Tab) -> None:
    page = phone.show("/start?language=typescript&with=langchain")
    expect(page.get_by_role("region", name="LangChain.js")).to_contain_text("createAgent")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    code = page.locator("pre").first
    button = code.locator("xpath=..").get_by_role("button", name="Copy")
    code_box, button_box = code.bounding_box(), button.bounding_box()
    assert code_box
    assert button_box
    assert code_box["x"] + code_box["width"] <= button_box["x"]
