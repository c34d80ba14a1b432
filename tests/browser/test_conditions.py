"""Conditions, views, sessions, users, spans and time zones: built on the page, kept in the URL."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import Site, Tab, open_tab
from support.spans import new_span


def conditions(page: Page) -> list[dict[str, Any]]:
    """Return what the `filters` parameter of the URL says."""
    found = parse_qs(urlsplit(page.url).query).get("filters")
    read: list[dict[str, Any]] = json.loads(found[0]) if found else []
    return read


def pick_field(page: Page, name: str) -> None:
    page.get_by_role("button", name=re.compile("^Add filter")).click()
    page.get_by_label("Search fields and attributes").fill(name)
    form = page.get_by_role("dialog", name="Add filter")
    form.get_by_role("button", name=re.compile(f"^{re.escape(name)}")).click()


TOOLS = {"quick-hammer": 20, "slow-forge": 9_000}
LONG_AGO = datetime.now(UTC) - timedelta(hours=3)
TURNS = [
    new_span(LONG_AGO + timedelta(hours=n), name="turn", sessionId="long walk", userId="walker")
    for n in range(2)
]


@pytest.fixture(scope="module", autouse=True)
def _sent(demo: Site) -> None:
    """A session and the calls of two tools, sent at once."""
    start = datetime.now(UTC) - timedelta(minutes=2)
    calls = [
        new_span(start, ms, agentName="smith", kind="tool", toolName=name)
        for name, ms in TOOLS.items()
    ]
    demo.send("/spans", {"spans": [*calls, *TURNS]})


def test_several_values_of_an_attribute_are_chosen_by_their_counts(tab: Tab) -> None:
    page = tab.show("/traces?range=30d")
    pick_field(page, "app.plan")
    assert tab.find_violations(within="[data-overlay]") == []
    for value in ("enterprise", "pro"):
        page.get_by_role("checkbox", name=re.compile(f"^{value} ")).check()
    page.get_by_role("button", name="Add filter", exact=True).click()
    chip = page.get_by_role("button", name="Remove filter app.plan is enterprise or pro")
    expect(chip).to_be_visible()
    assert conditions(page) == [
        {"field": "attribute:app.plan", "op": "in", "value": ["enterprise", "pro"]}
    ]
    with page.expect_response(lambda answer: "/spans/traces?" in answer.url) as answered:
        page.reload()
    expect(chip).to_be_visible()
    some = answered.value.json()["pagination"]["total"]
    with page.expect_response(lambda answer: "/spans/traces?" in answer.url) as answered:
        page.goto(f"{tab.url}/traces?range=30d")
    assert 0 < some < answered.value.json()["pagination"]["total"]


def test_a_range_and_is_not_are_combined_and_removed(tab: Tab) -> None:
    page = tab.show("/traces?range=30d")
    pick_field(page, "Duration")
    page.get_by_label("Operator").select_option("between")
    page.get_by_label("Duration value").fill("100")
    page.get_by_label("Duration upper value").fill("60000")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Change filter: Duration between 100 and 60000 ms").click()
    expect(page.get_by_label("Duration value")).to_have_value("100")
    expect(page.get_by_label("Duration upper value")).to_have_value("60000")
    tab.press_escape()
    pick_field(page, "Agent")
    page.get_by_label("Operator").select_option("is not")
    page.get_by_role("checkbox", name=re.compile("^support-assistant ")).check()
    page.get_by_role("button", name="Add filter", exact=True).click()
    expect(page.get_by_text("Agent is not support-assistant")).to_be_visible()
    assert [(one["field"], one["op"]) for one in conditions(page)] == [
        ("durationMs", "gte"),
        ("durationMs", "lte"),
        ("agent", "ne"),
    ]
    expect(page.get_by_role("table")).not_to_contain_text("support-assistant")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    page.get_by_role("button", name="Remove filter Agent is not support-assistant").click()
    expect(page).not_to_have_url(re.compile("support-assistant"))
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page).not_to_have_url(re.compile("filters="))


def test_a_filter_is_changed_in_its_place(tab: Tab) -> None:
    filters = [{"field": "agent", "op": "eq", "value": "code-reviewer"}]
    page = tab.show(f"/traces?range=30d&filters={quote(json.dumps(filters))}")
    page.get_by_role("button", name="Change filter: Agent is code-reviewer").click()
    form = page.get_by_role("dialog", name="Change filter")
    expect(form.get_by_role("checkbox", name="code-reviewer")).to_be_checked()
    form.get_by_role("checkbox", name=re.compile("^support-assistant ")).check()
    form.get_by_role("button", name="Change filter").click()
    expect(form).to_be_hidden()
    assert conditions(page) == [
        {"field": "agent", "op": "in", "value": ["code-reviewer", "support-assistant"]}
    ]
    assert tab.find_violations() == []


def test_one_search_finds_words_and_ids(tab: Tab, demo: Site) -> None:
    trace = demo.call("GET", "/spans/traces?agentId=support-assistant&limit=1")[0]
    for wanted in (trace["traceId"], trace["userId"], trace["sessionId"]):
        page = tab.show("/traces?range=30d")
        page.get_by_label("Search traces").fill(wanted)
        expect(page).to_have_url(re.compile(f"search={wanted}"))
        expect(page.locator(f'a[href^="/traces/{trace["traceId"]}"]')).to_be_visible()


def test_a_value_of_a_trace_opens_the_traces_that_share_it(tab: Tab, demo: Site) -> None:
    trace = demo.call("GET", "/spans/traces?agentId=support-assistant&limit=1")[0]
    page = tab.show(f"/traces/{trace['traceId']}?tab=attributes&range=30d")
    page.get_by_role("link", name="Filter by this value of app.plan").click()
    expect(page).to_have_url(re.compile(r"/traces\?"))
    [condition] = conditions(page)
    assert condition["field"] == "attribute:app.plan"
    expect(page.get_by_role("row").nth(1)).to_be_visible()


def test_sessions_are_sorted_and_searched(tab: Tab, demo: Site) -> None:
    page = tab.show("/sessions?range=30d")
    page.get_by_role("button", name="Cost").click()
    expect(page).to_have_url(re.compile("sort=cost"))
    expect(page.get_by_role("columnheader", name="Cost")).to_have_attribute(
        "aria-sort", "descending"
    )
    costliest, *_ = demo.call("GET", "/spans/sessions?sort=cost&limit=1")
    row = page.get_by_role("row").nth(1)
    expect(row).to_contain_text(costliest["sessionId"])
    page.get_by_label("Search sessions").fill("user-00001")
    expect(page).to_have_url(re.compile("search=user-00001"))
    expect(row).to_contain_text("user-00001")
    page.get_by_label("Search sessions").fill("nobody at all")
    page.get_by_role("button", name="Clear filters").click()
    expect(row).to_contain_text(costliest["sessionId"])


def test_a_session_shows_its_user_and_times_and_leads_back(tab: Tab) -> None:
    page = tab.show("/sessions?range=24h&search=long+walk")
    page.get_by_role("link", name="long walk").click()
    expect(page.get_by_role("heading", name="Session", level=1)).to_be_visible()
    for turn in TURNS:
        moment = datetime.fromisoformat(turn["startTime"]).strftime("%Y-%m-%dT%H:%M")
        expect(page.locator(f"main p time[datetime^='{moment}']")).to_be_visible()
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link").click()
    expect(page.get_by_label("Search sessions")).to_have_value("long walk")
    page.get_by_role("link", name="long walk").click()
    page.get_by_role("link", name="walker").click()
    expect(page.get_by_role("heading", name="walker", level=1)).to_be_visible()


def test_the_menu_leads_to_the_slowest_tools(tab: Tab) -> None:
    page = tab.show("/agents?range=1h&agent=smith")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Tools").click()
    expect(page.get_by_role("heading", name="Tools", level=1)).to_be_visible()
    rows = page.get_by_role("table", name="Tools").get_by_role("link")
    expect(rows).to_have_text(["slow-forge", "quick-hammer"])
    # A phone shows how slow they are without scrolling.
    page.set_viewport_size({"width": 390, "height": 900})
    expect(page.get_by_role("columnheader", name="p95")).to_be_in_viewport(ratio=1)
    rows.first.click()
    expect(page.get_by_text("Tool is slow-forge")).to_be_visible()


def test_a_view_is_saved_applied_changed_and_deleted(tab: Tab, demo: Site) -> None:
    wanted = quote('[{"field":"attribute:app.plan","op":"eq","value":"pro"}]')
    page = tab.open(f"/traces?range=30d&sort=cost&filters={wanted}")
    views = page.get_by_role("button", name=re.compile("^Saved views"))
    views.click()
    expect(page.get_by_role("button", name="Failed enterprise traces Shared")).to_be_visible()
    assert tab.find_violations(within="[data-overlay]") == []
    page.get_by_label("Name of the view").fill("Costly pro traces")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("View saved.")).to_be_visible()
    tab.open("/traces?order=asc")
    views.click()
    page.get_by_role("button", name="Costly pro traces", exact=True).click()
    expect(page).to_have_url(re.compile("sort=cost"))
    expect(page).not_to_have_url(re.compile("order=asc"))
    assert conditions(page) == [{"field": "attribute:app.plan", "op": "eq", "value": "pro"}]
    views.click()
    tab.open("/traces?sort=duration")
    views.click()
    page.get_by_role("button", name="Change view Costly pro traces").click()
    assert tab.find_violations(within="[data-overlay]") == []
    page.get_by_role("menuitem", name="Share with the workspace").click()
    expect(page.get_by_text("View shared with the workspace.")).to_be_visible()
    expect(page.get_by_role("button", name="Costly pro traces Shared")).to_be_visible()
    page.get_by_role("button", name="Change view Costly pro traces").click()
    page.get_by_role("menuitem", name="Update to the current filters").click()
    expect(page.get_by_text("View updated.")).to_be_visible()
    [view] = [one for one in demo.call("GET", "/views") if one["name"] == "Costly pro traces"]
    assert (view["isShared"], view["query"]) == (True, {"sort": "duration"})
    page.get_by_role("button", name="Change view Costly pro traces").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("View deleted.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Costly pro traces"))).to_have_count(0)


def test_a_viewer_uses_shared_views_but_saves_none(chromium: Browser, viewer: Site) -> None:
    with open_tab(chromium, viewer.url, viewer.token) as tab:
        page = tab.show("/traces?range=30d")
        page.get_by_role("button", name=re.compile("^Saved views")).click()
        expect(page.get_by_text("only editors of this workspace save them")).to_be_visible()
        expect(page.get_by_role("button", name="Save", exact=True)).to_have_count(0)
        expect(page.get_by_role("button", name=re.compile("^Change view"))).to_have_count(0)
        page.get_by_role("button", name="Failed enterprise traces Shared").click()
        expect(page.get_by_text("Status is error")).to_be_visible()
        assert conditions(page)[0]["field"] == "attribute:app.plan"


def test_a_user_is_a_link_to_a_page_with_everything_of_theirs(tab: Tab) -> None:
    page = tab.show("/traces?range=30d&cols=time,name,user&search=user-00001")
    page.get_by_role("link", name="user-00001").first.click()
    expect(page).to_have_url(re.compile(r"/users/user-00001\?"))
    tab.settle()
    expect(page.get_by_role("heading", level=1)).to_have_text("user-00001")
    page.get_by_role("link", name="All traces").click()
    assert conditions(page) == [{"field": "userId", "op": "eq", "value": "user-00001"}]


def test_users_are_sorted_by_errors_and_found(tab: Tab) -> None:
    page = tab.show("/users?range=30d")
    page.get_by_role("button", name="Errors").click()
    expect(page).to_have_url(re.compile("sort=errors"))
    page.get_by_label("Search users").fill("user-00001")
    row = page.get_by_role("table", name="Users").get_by_role("row").nth(1)
    expect(page.get_by_role("table", name="Users").get_by_role("row")).to_have_count(2)
    row.click()
    expect(page).to_have_url(re.compile("/users/user-00001"))


def test_spans_are_grouped_by_tool_and_model(tab: Tab) -> None:
    page = tab.show("/spans?range=30d")
    expect(page.get_by_role("table", name="Tools")).to_contain_text("search_flights")
    page.get_by_role("tab", name="Models").click()
    expect(page.get_by_role("columnheader", name="Cached tokens")).to_be_visible()
    page.get_by_role("link", name="gpt-5", exact=True).press("Enter")
    expect(page).to_have_url(re.compile(r"/traces\?"))
    assert {one["field"]: one["value"] for one in conditions(page)} == {
        "model": "gpt-5",
        "provider": "openai",
    }
    expect(page.get_by_role("row").nth(1)).to_be_visible()


def test_agents_follow_the_range(tab: Tab, demo: Site) -> None:
    body = {
        "measures": ["count"],
        "groupBy": ["agent"],
        "startDate": "2020-01-01T00:00:00Z",
        "endDate": "2020-01-02T00:00:00Z",
    }
    assert demo.call("POST", "/analytics/query", json=body)["rows"] == []
    page = tab.show("/agents?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z")
    card = page.get_by_role("listitem").filter(has_text="code-reviewer")
    expect(card.locator("dd").first).to_have_text("0")
    tab.show("/agents?range=30d")
    expect(card).to_contain_text("Last 30 days")
    expect(card.locator("dd").first).not_to_have_text("0")


def test_calendar_ranges_and_the_time_zone(fresh_tab: Tab, demo: Site) -> None:
    tab = fresh_tab
    page = tab.open("/traces?range=30d")
    opener = page.get_by_role("button", name=re.compile("^Time range"))
    opener.click()
    page.get_by_label("Time zone").select_option("utc")
    with page.expect_request(lambda request: "/spans/traces?" in request.url) as asked:
        page.get_by_role("button", name="Yesterday").click()
    query = parse_qs(urlsplit(asked.value.url).query)
    assert query["startDate"][0].endswith("T00:00:00.000Z")
    assert query["endDate"][0].endswith("T00:00:00.000Z")
    expect(page).to_have_url(re.compile("range=yesterday"))
    page.reload()
    opener.click()
    expect(page.get_by_label("Time zone")).to_have_value("utc")
    assert tab.find_violations(within="[data-overlay]") == []
    # All times are shown in that zone.
    started = demo.call("GET", "/spans/traces?limit=1&sort=duration")[0]["startTime"]
    tab.show("/traces?range=30d&sort=duration")
    expect(page.locator("time").first).to_contain_text(started[11:16])
