"""Explore and dashboards: queries in the URL, panels, unsaved changes, roles and refreshing."""

import re

from playwright.sync_api import Browser, Locator, Page, Route, expect

from support.browser import OpenTab, Site, Tab, add_filter, open_tab
from support.site_data import dashboard

# Of the refresh interval 5 s.
REFRESH_MS = 5_000
COUNT = {"title": "Traces", "chart": "line", "query": {"measures": ["count"]}}
COST = {
    "title": "Spend",
    "chart": "bar",
    "width": 4,
    "query": {"measures": ["cost"], "groupBy": ["agent"]},
}


def open_menu(page: Page, title: str, item: str) -> None:
    page.get_by_role("button", name=f"Actions of {title}").click()
    page.get_by_role("menuitem", name=item).click()


def panel_titles(page: Page) -> Locator:
    return page.locator("section h2")


def test_a_query_is_built_and_its_link_shows_the_same(tab: Tab) -> None:
    page = tab.show("/explore?range=30d")
    page.get_by_label("Add a measure").select_option(label="p95 latency")
    page.get_by_label("Group by 1").select_option("agent")
    rows = page.get_by_role("table", name="Rows")
    expect(rows).to_contain_text("support-assistant")
    add_filter(page, "Agent", "code-reviewer")
    page.get_by_label("Chart", exact=True).select_option("bar")
    page.get_by_label("Interval", exact=True).select_option("none")
    expect(page).to_have_url(re.compile("measures=count%2Cp95.*code-reviewer"))
    expect(rows).not_to_contain_text("support-assistant")
    expect(rows.get_by_role("row")).to_have_count(2)
    shown = rows.inner_text()
    assert "code-reviewer" in shown
    page.reload()
    tab.settle()
    expect(rows).to_have_text(shown, use_inner_text=True)
    page.get_by_role("button", name="Remove filter Agent is code-reviewer").click()
    add_filter(page, "Agent", "nobody")
    expect(page.get_by_text("No traces match in this period")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(rows).to_contain_text("support-assistant")


def test_the_table_has_a_total_per_group_in_the_order_of_its_columns(tab: Tab) -> None:
    page = tab.show("/explore?range=30d&measures=count,p95&by=agent")
    rows = page.get_by_role("table", name="Rows")
    head = rows.get_by_role("columnheader")
    expect(head).to_have_text(["Agent", "Count", "p95 latency"])
    groups = rows.get_by_role("row").nth(1).get_by_role("cell").first
    largest = groups.inner_text()
    assert rows.get_by_text(largest, exact=True).count() == 1
    assert [one.get_attribute("aria-sort") for one in head.all()] == [None, "descending", None]
    expect(head.nth(1).locator("svg")).to_be_visible()
    rows.get_by_role("button", name="Count").click()
    expect(head.nth(1)).to_have_attribute("aria-sort", "ascending")
    expect(groups).not_to_have_text(largest)
    page.get_by_role("tab", name="Groups over time").click()
    expect(head).to_have_text(["Time", "Agent", "Count", "p95 latency"])
    assert "rows=steps" in page.url
    assert rows.get_by_text(groups.inner_text(), exact=True).count() >= 1


def test_a_query_is_saved_as_a_view(tab: Tab, demo: Site) -> None:
    page = tab.open("/explore?range=7d&chart=bar&measures=cost&by=model")
    page.get_by_role("button", name="Saved views").click()
    page.get_by_label("Name of the view").fill("Cost by model")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("View saved.")).to_be_visible()
    page = tab.open("/explore")
    page.get_by_role("button", name="Saved views").click()
    page.get_by_role("button", name="Cost by model", exact=True).click()
    expect(page).to_have_url(re.compile("by=model"))
    expect(page.get_by_role("heading", name="Cost by model")).to_be_visible()
    page.get_by_role("button", name="Saved views").click()
    page.get_by_role("button", name="Change view Cost by model").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_label("Name", exact=True).fill("Spend")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.get_by_text("View renamed.")).to_be_visible()
    assert [view["name"] for view in demo.call("GET", "/views?page=explore")] == ["Spend"]
    for view in demo.call("GET", "/views?page=explore"):
        demo.call("DELETE", f"/views/{view['id']}")


def test_attributes_are_suggested_and_a_refused_query_is_reported(tab: Tab) -> None:
    page = tab.show("/explore?range=30d&chart=table")
    page.get_by_label("Group by 1").select_option("attribute:")
    expect(page.locator("datalist option[value='app.plan']")).to_have_count(1)
    page.get_by_label("Group by 1: attribute").fill("app.plan")
    expect(page.get_by_role("table", name="Rows")).to_contain_text("enterprise")
    tab.show(f"/explore?range=30d&by=attribute:{300 * 'x'}")
    expect(page.get_by_role("alert")).to_contain_text("The query is not valid")
    tab.forget("status of 400")


def test_a_slow_query_says_how_long_it_runs_and_why(fresh_tab: Tab) -> None:
    tab = fresh_tab
    page = tab.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    tab.open("/explore?range=30d&chart=table")
    page.route(re.compile("/api/analytics/(query|batch)$"), hold)
    path = "/explore?range=30d&chart=table&by=attribute:app.plan"
    page.evaluate("path => window.__TSR_ROUTER__.history.push(path)", path)
    expect(page.get_by_text(re.compile(r"Loading, [1-9]\d* s"))).to_be_visible()
    expect(page.get_by_text("Attributes are read from every span.")).to_be_visible()
    for route in held:
        route.continue_()
    expect(page.get_by_role("table", name="Rows")).to_contain_text("enterprise")


def test_a_query_becomes_a_panel_which_is_changed_and_saved(tab: Tab, demo: Site) -> None:
    with dashboard(demo, "Weekly review", COUNT) as made:
        page = tab.show("/explore?range=30d&measures=cost&by=model&of=spans")
        page.get_by_role("button", name="Save to dashboard").click()
        page.get_by_label("Dashboard", exact=True).select_option("Weekly review")
        page.get_by_label("Title of the panel").fill("Models")
        assert tab.find_violations() == []
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page).to_have_url(re.compile(f"/dashboards/{made}.*range=30d"))
        expect(page.get_by_role("heading", name="Models")).to_be_visible()
        open_menu(page, "Models", "Move earlier")
        open_menu(page, "Models", "Edit")
        page.get_by_label("Title", exact=True).fill("Cost of models")
        page.get_by_label("Width").select_option("12")
        tab.settle()
        assert tab.find_violations() == []
        # A dialog asks before it drops what was entered, also on Back.
        tab.press_escape()
        tab.press_escape()
        page.go_back()
        question = page.get_by_role("dialog", name="Leave without saving?")
        expect(question).to_be_visible()
        tab.press_escape()
        expect(question).to_have_count(0)
        expect(page.get_by_role("dialog")).to_have_count(1)
        page.get_by_role("button", name="Apply").click()
        # Another time zone keeps them, too.
        page.get_by_role("button", name="Time range").click()
        page.get_by_label("Time zone").select_option("utc")
        tab.press_escape()
        expect(panel_titles(page)).to_have_text(["Cost of models", "Traces"])
        page.get_by_role("link", name="Traces", exact=True).click()
        expect(page.get_by_text("Leave without saving?")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_text("Unsaved changes")).to_have_count(0)
        stored = demo.call("GET", f"/dashboards/{made}")["panels"]
        assert [(one["title"], one["width"]) for one in stored] == [
            ("Cost of models", 12),
            ("Traces", 6),
        ]
        assert stored[0]["query"]["groupBy"] == ["model"]
        open_menu(page, "Traces", "Remove")
        page.get_by_role("button", name="Discard").click()
        expect(panel_titles(page)).to_have_text(["Cost of models", "Traces"])


def test_the_overview_is_copied_renamed_shared_and_deleted(tab: Tab, demo: Site) -> None:
    page = tab.show("/?range=30d")
    page.get_by_role("button", name="Copy to a dashboard").click()
    expect(page.get_by_role("heading", level=1, name="Overview (copy)")).to_be_visible()
    tab.settle()
    for title in ("Key metrics", "Latency", "Cost by model", "Tools by agent"):
        expect(panel_titles(page).get_by_text(title, exact=True)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert tab.find_violations() == []
    page.get_by_role("button", name="Rename Overview (copy)").click()
    page.get_by_label("Name", exact=True).fill("Night shift")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Night shift")).to_be_visible()
    page.get_by_role("button", name="Share Night shift").click()
    expect(page.get_by_text("Shared", exact=True)).to_be_visible()
    page.get_by_role("button", name="Full screen").click()
    expect(page.get_by_role("button", name="Add panel")).to_have_count(0)
    page.get_by_role("button", name="Exit full screen").click()
    page.get_by_role("button", name="Delete Night shift").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", level=1, name="Dashboards")).to_be_visible()
    assert "Night shift" not in [one["name"] for one in demo.call("GET", "/dashboards")]


def test_a_dashboard_and_a_list_refresh_at_their_interval(opener: OpenTab, demo: Site) -> None:
    # A clock cannot be uninstalled.
    with dashboard(demo, "Wall", COUNT, COST) as made, opener(is_new=True) as tab:
        page = tab.page
        page.clock.install()
        tab.open(f"/dashboards/{made}?refresh=5")
        for _ in range(2):
            # One request for both panels.
            tab.requested.clear()
            with page.expect_request("**/analytics/batch", timeout=REFRESH_MS - 1) as asked:
                page.clock.fast_forward(REFRESH_MS)
            asked.value.response()
            assert not [url for url in tab.requested if "/analytics/query" in url]
        # So does a list.
        tab.show("/traces?refresh=5")
        expect(page.get_by_role("row").nth(1)).to_be_visible()
        with page.expect_request("**/api/spans/traces?*", timeout=REFRESH_MS - 1) as listed:
            page.clock.fast_forward(REFRESH_MS)
        listed.value.response()


def test_a_viewer_reads_but_changes_nothing(demo: Site, viewer: Site, chromium: Browser) -> None:
    name = re.compile("Save to dashboard|New dashboard|Add panel|Delete|Rename|Duplicate|Share")
    with (
        dashboard(demo, "For all", COUNT, shared=True) as made,
        open_tab(chromium, demo.url, viewer.token) as tab,
    ):
        page = tab.page
        for path in ("/dashboards", f"/dashboards/{made}", "/explore?range=7d"):
            tab.show(path)
            buttons = page.get_by_role("main").get_by_role("button", name=name)
            expect(buttons.first).to_be_visible()
            for button in buttons.all():
                expect(button).to_be_disabled()
            if path.endswith(made):
                page.get_by_role("button", name="Actions of Traces").click()
                expect(page.get_by_role("menuitem")).to_have_count(1)
        page.get_by_role("button", name="Saved views").click()
        expect(page.get_by_text("only editors of this workspace save them")).to_be_visible()
        expect(page.get_by_label("Name of the view")).to_have_count(0)
