"""The trace page: stepping through a list, search, panes, signals, prompts and cURL."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from support.browser import Site, Tab, open_tab
from support.polling import wait_for
from support.spans import Body, child_of, new_span

Traces = dict[str, list[Body]]
COPY = """() => { window.copied = [];
    navigator.clipboard.writeText = async (text) => { window.copied.push(text); }; }"""


def make_trace(*children: Body, **fields: Any) -> list[Body]:
    """Return a trace of a minute ago, the root first; children take its trace and its root."""
    start = datetime.now(UTC) - timedelta(minutes=1)
    root = new_span(start, 900, **{"name": "tooled", "agentName": "tooled", **fields})
    return [root, *(child_of(root, **child) for child in children)]


PROMPT: Body = {
    "llm.prompt_template.template": "Answer {question} in {{language}}; keep {braces}.",
    "llm.prompt_template.variables": json.dumps({"question": "Why?", "language": "German"}),
    "llm.prompt_template.version": "v7",
}
CALL: Body = {
    "name": "chat gpt-5",
    "kind": "llm",
    "model": "gpt-5",
    "provider": "openai",
    "input": [{"role": "user", "content": 'It\'s "quoted"'}],
    "output": [
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        }
    ],
    "attributes": {"gen_ai.request.temperature": 0.3},
}
CONTENT_FILTERED = {"error.type": "openai.ContentFiltered"}
MAKE_TRACES: dict[str, Callable[[], list[Body]]] = {
    "plain": make_trace,
    "steps": lambda: make_trace({"name": "the step that matters"}),
    "strudel": lambda: make_trace(
        {"name": "kept", "attributes": {"app.dish": "strudel"}},
        {"name": "told", "output": "strudel"},
    ),
    "truncated": lambda: make_trace(
        {"name": "long answer", "output": "x " * 50_000 + "tail"},
        {"name": "short", "output": "head"},
    ),
    "scored": lambda: make_trace({"name": "chat", "kind": "llm"}),
    "prompt": lambda: make_trace(
        {"name": "chat", "kind": "llm", "input": "Answer Why?", "attributes": PROMPT}
    ),
    "call": lambda: make_trace(CALL),
    "linked": lambda: make_trace(
        {
            "name": "chat",
            "kind": "llm",
            "model": "zz-linked",
            "attributes": {"gen_ai.response.time_to_first_chunk": 0.05},
        },
        sessionId="talk-linked",
        userId="ann@example.com",
    ),
    "narrowed": lambda: make_trace(
        agentName="narrowed", serviceName="narrow-service", userId="ned"
    ),
    "blocked": lambda: make_trace(
        name="blocked", agentName="blocked", status="error", attributes=CONTENT_FILTERED
    ),
    "counted elsewhere": lambda: make_trace(
        {"name": "agent sum", "kind": "agent", "cost": 0.5},
        {"name": "filtered", "status": "error", "attributes": CONTENT_FILTERED},
    ),
    "streamed": lambda: make_trace(
        *(
            {
                "name": "chat",
                "kind": "llm",
                "model": "zz-streamed",
                "attributes": {"ai.response.msToFirstChunk": 100.0 * n},
            }
            for n in range(1, 4)
        )
    ),
}


def make_lists() -> list[Body]:
    """Return the traces of a list, and those of a session with another trace between them."""
    now = datetime.now(UTC) - timedelta(minutes=3)
    listed = [
        new_span(now, 100 * (n + 1), name=f"stepped {n}", agentName="stepper", status=status)
        for n, status in enumerate(("error", "ok", "error", "error"))
    ]
    start = datetime.now(UTC) - timedelta(hours=2)
    turns = [
        new_span(start + timedelta(minutes=n), name=f"turn {n}", sessionId="paced")
        for n in range(2)
    ]
    return [*listed, *turns, new_span(start + timedelta(seconds=30), name="elsewhere")]


@pytest.fixture(scope="module", autouse=True)
def traces(demo: Site) -> Traces:
    """All traces of this file, sent at once."""
    made = {name: make() for name, make in MAKE_TRACES.items()}
    spans = [*make_lists(), *(span for trace in made.values() for span in trace)]
    signals = [{"signalName": "many_values", "value": n % 40} for n in range(450)]
    demo.call("POST", "/spans", json={"spans": spans})
    demo.send("/signals/batch", {"signals": signals})
    return made


def test_one_steps_through_the_list_that_a_trace_was_opened_from(tab: Tab) -> None:
    failed = quote('[{"field":"status","op":"eq","value":"error"}]')
    page = tab.show(f"/traces?agent=stepper&filters={failed}&sort=duration")
    page.get_by_role("link", name="stepped 2").click()
    expect(page.get_by_role("heading", name="stepped 2", level=1)).to_be_visible()
    page.get_by_role("button", name="Next trace").click()
    expect(page.get_by_role("heading", name="stepped 0", level=1)).to_be_visible()
    # The list is in the URL, so a reload keeps it.
    page.reload()
    tab.settle()
    expect(page.get_by_role("button", name="Next trace")).to_be_disabled()
    expect(page.get_by_role("button", name="Previous trace")).to_be_enabled()
    page.keyboard.press("k")
    expect(page.get_by_role("heading", name="stepped 2", level=1)).to_be_visible()
    expect(page.get_by_role("button", name="Next trace")).to_be_enabled()
    page.keyboard.press("k")
    expect(page.get_by_role("heading", name="stepped 3", level=1)).to_be_visible()
    expect(page.get_by_role("button", name="Previous trace")).to_be_disabled()
    page.get_by_role("link", name="Back to the list").click()
    expect(page).to_have_url(re.compile(r"/traces\?.*filters=.*sort=duration"))
    expect(page.get_by_role("link", name="stepped 1")).to_have_count(0)


def test_a_match_in_the_attributes_opens_their_tab(tab: Tab, traces: Traces) -> None:
    root, *_ = traces["strudel"]
    page = tab.show(f"/traces/{root['traceId']}")
    box = page.get_by_label("Search in this trace")
    box.fill("strudel")
    expect(page.get_by_text("2 matches")).to_be_visible()
    panel = page.get_by_label("Selected span")
    heading = panel.get_by_role("heading", level=2)
    opens = {"kept": "Attributes", "told": "Content"}
    while opens:
        box.press("Enter")
        expect(heading).to_have_text(re.compile("|".join(opens)))
        opened = panel.get_by_role("tab", name=opens.pop(heading.inner_text()))
        expect(opened).to_have_attribute("aria-selected", "true")
        expect(panel.get_by_role("tabpanel")).to_contain_text("strudel")


def test_words_are_found_in_contents_that_the_trace_truncates(tab: Tab, traces: Traces) -> None:
    root, *_ = traces["truncated"]
    page = tab.show(f"/traces/{root['traceId']}")
    box = page.get_by_label("Search in this trace")
    box.fill("tail")
    expect(page.get_by_text("1 match", exact=True)).to_be_visible()
    box.press("Enter")
    expect(page.get_by_label("Selected span")).to_contain_text("long answer")


def test_the_panes_are_resized_by_keyboard_and_pointer_and_stay_so(
    tab: Tab, traces: Traces
) -> None:
    root, *_ = traces["plain"]
    page = tab.show(f"/traces/{root['traceId']}")
    separator = page.get_by_role("separator", name="Width of the span details")
    panel = page.get_by_label("Selected span")

    def width() -> float:
        box = panel.bounding_box()
        assert box is not None
        return box["width"]

    before = width()
    separator.focus()
    separator.press("ArrowLeft")
    expect(separator).to_have_attribute("aria-valuenow", "46")
    assert width() > before
    page.reload()
    tab.settle()
    expect(separator).to_have_attribute("aria-valuenow", "46")
    box = separator.bounding_box()
    assert box is not None
    page.mouse.move(box["x"], box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 150, box["y"] + 200, steps=4)
    page.mouse.up()
    assert width() < before
    separator.dblclick()
    expect(separator).to_have_attribute("aria-valuenow", "44")
    assert not tab.find_violations(within="[role=separator]")


def test_a_signal_is_added_to_a_span_and_appears_at_once(
    tab: Tab, demo: Site, traces: Traces
) -> None:
    root, call = traces["scored"]
    page = tab.show(f"/traces/{root['traceId']}?span={call['spanId']}&tab=signals")
    page.get_by_role("button", name="Add signal").first.click()
    dialog = page.get_by_role("dialog")
    assert not tab.find_violations(within="[data-overlay]")
    dialog.get_by_label("Name").fill("review_score")
    dialog.get_by_label("Value").fill("not a number")
    expect(dialog.get_by_text("Must be a number")).to_be_visible()
    dialog.get_by_label("Value").fill("0.75")
    dialog.get_by_label("Comment").fill("Nearly right")
    dialog.get_by_label("Applies to").select_option("The selected span")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_have_count(0)
    panel = page.get_by_label("Selected span")
    expect(panel).to_contain_text("review_score")
    expect(panel).to_contain_text("Nearly right")
    [signal] = demo.call("GET", f"/signals/trace/{root['traceId']}")
    assert (signal["signalName"], signal["value"]) == ("review_score", 0.75)
    assert signal["spanId"] == call["spanId"]
    # The next one takes one click.
    panel.get_by_label("Name", exact=True).fill("review_score")
    panel.get_by_role("button", name="Add review_score 1").click()
    expect(panel.get_by_role("listitem").filter(has_text="review_score")).to_have_count(2)
    panel.get_by_label("Applies to").select_option("The whole trace")
    panel.get_by_role("button", name="Add review_score 0").press("Enter")
    expect(panel.get_by_text("trace ·")).to_be_visible()
    latest, before, _ = demo.call("GET", f"/signals/trace/{root['traceId']}")
    assert {(one["value"], one["spanId"]) for one in (latest, before)} == {
        (1, call["spanId"]),
        (0, None),
    }
    assert not tab.find_violations(within="[aria-label='Selected span']")


def test_a_copied_link_opens_the_selected_span_in_its_workspace(tab: Tab, traces: Traces) -> None:
    root, *_ = traces["steps"]
    page = tab.show(f"/traces/{root['traceId']}?tab=raw")
    page.evaluate(COPY)
    page.get_by_label("Spans", exact=True).get_by_text("the step that matters").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Link copied.")).to_be_visible()
    [link] = page.evaluate("window.copied")
    assert re.search(r"[?&]ws=wsp_", link)
    # In another browser there would be no workspace to return to.
    page.evaluate("localStorage.removeItem('spanwise.workspace')")
    tab.open(link.removeprefix(tab.url))
    selected = page.get_by_role("complementary", name="Selected span")
    expect(selected.get_by_role("heading", name="the step that matters")).to_be_visible()
    expect(selected.get_by_role("tab", name="Raw")).to_have_attribute("aria-selected", "true")


def test_a_viewer_adds_no_signals(chromium: Browser, viewer: Site, traces: Traces) -> None:
    root, *_ = traces["plain"]
    with open_tab(chromium, viewer.url, viewer.token) as tab:
        page = tab.show(f"/traces/{root['traceId']}?tab=signals")
        expect(page.get_by_role("button", name="Add signal")).to_be_disabled()
        expect(page.get_by_role("button", name="Add thumbs_up 1")).to_be_disabled()


def test_a_prompt_template_shows_its_variables(tab: Tab, traces: Traces) -> None:
    root, call = traces["prompt"]
    page = tab.show(f"/traces/{root['traceId']}?span={call['spanId']}")
    prompt = page.get_by_label("Prompt template")
    expect(prompt.locator("mark")).to_have_text(["{question}", "{{language}}"])
    expect(prompt).to_contain_text("version v7")
    expect(prompt.locator("dd")).to_have_text(["Why?", "German"])


def copied(page: Page) -> str:
    wait_for(lambda: page.evaluate("window.copied.length > 0"))
    return str(page.evaluate("window.copied.pop()"))


def test_a_call_and_a_trace_are_copied_as_curl(tab: Tab, traces: Traces) -> None:
    root, call = traces["call"]
    page = tab.show(f"/traces/{root['traceId']}?span={call['spanId']}")
    page.evaluate(COPY)
    panel = page.get_by_label("Selected span")
    panel.get_by_role("button", name="Copy model call as cURL").click()
    # The model called a tool, but the span does not list its tools.
    expect(page.get_by_text("The span does not record its tool definitions")).to_be_visible()
    command = copied(page)
    assert command.startswith('curl "https://api.openai.com/v1/chat/completions"')
    body = json.loads(command.partition("<<'JSON'\n")[2].removesuffix("\nJSON"))
    assert body["messages"] == [{"role": "user", "content": 'It\'s "quoted"'}]
    assert body["temperature"] == 0.3
    page.get_by_role("button", name="Copy API request as cURL").click()
    assert f"/api/spans/traces/{root['traceId']}" in copied(page)


def test_values_of_a_trace_lead_to_the_traces_that_share_them(tab: Tab, traces: Traces) -> None:
    root, call = traces["linked"]
    page = tab.show(f"/traces/{root['traceId']}?span={call['spanId']}")
    panel = page.get_by_label("Selected span")
    expect(panel).to_contain_text("first token")
    expect(panel).to_contain_text("50 ms")
    expect(page.get_by_role("link", name="talk-linked")).to_have_attribute(
        "href", re.compile("/sessions/talk-linked")
    )
    expect(page.get_by_role("link", name="ann@example.com")).to_have_attribute(
        "href", re.compile("/users/ann")
    )
    page.get_by_role("link", name="success").click()
    expect(page.get_by_text("Status is success")).to_be_visible()
    page.go_back()
    panel.get_by_role("link", name="zz-linked").click()
    expect(page.get_by_text("Model is zz-linked")).to_be_visible()
    expect(page.get_by_text("1 trace", exact=True)).to_be_visible()


def test_a_value_of_a_trace_is_added_to_the_filters_of_its_list(tab: Tab, traces: Traces) -> None:
    root, *_ = traces["narrowed"]
    filters = quote(json.dumps([{"field": "userId", "op": "eq", "value": "ned"}]))
    page = tab.show(f"/traces?range=1h&filters={filters}")
    page.locator(f'a[href^="/traces/{root["traceId"]}"]').click()
    page.get_by_role("tab", name="Attributes").click()
    page.get_by_role("link", name="Filter by this value of service").click()
    expect(page.get_by_text("User is ned")).to_be_visible()
    expect(page.get_by_text("Service is narrow-service")).to_be_visible()
    expect(page.get_by_text("1 trace", exact=True)).to_be_visible()


def test_one_steps_through_the_session_that_a_trace_was_opened_from(tab: Tab) -> None:
    # The session is older than the range.
    page = tab.show("/sessions/paced?range=1h")
    page.get_by_role("link", name="trace", exact=True).first.click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("turn 0")
    expect(page.get_by_role("button", name="Previous trace")).to_be_disabled()
    page.get_by_role("button", name="Next trace").click()
    expect(heading).to_have_text("turn 1")
    expect(page.get_by_role("button", name="Next trace")).to_be_disabled()
    page.get_by_role("link", name="Back to the session").click()
    expect(page).to_have_url(re.compile("/sessions/paced"))


def test_a_trace_row_says_the_name_of_the_exception(tab: Tab) -> None:
    page = tab.show("/traces?agent=blocked")
    row = page.get_by_role("row", name="blocked")
    expect(row.get_by_text("ContentFiltered", exact=True)).to_be_visible()
    expect(row).not_to_contain_text("other")
    row.get_by_role("link", name="blocked").click()
    expect(page.get_by_role("main")).to_contain_text("ContentFiltered · other")


def test_usage_that_is_counted_elsewhere_says_where(tab: Tab, traces: Traces) -> None:
    root, total, _ = traces["counted elsewhere"]
    page = tab.show(f"/traces/{root['traceId']}?span={total['spanId']}")
    expect(page.get_by_text("Not in the totals: 1 span ($0.50)")).to_be_attached()
    expect(page.get_by_label("Selected span")).to_contain_text("only model calls count")
    page.keyboard.press("e")
    expect(page.get_by_label("Selected span")).to_contain_text("ContentFiltered · other")


def test_the_distribution_of_a_signal_covers_all_values(tab: Tab) -> None:
    page = tab.show("/signals?signal=many_values")
    expect(page.get_by_text("of 450 values")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^0 . 3\.9$"))).to_be_visible()


def test_the_time_to_the_first_token_is_measured_by_model(tab: Tab) -> None:
    page = tab.show("/spans?tab=models&sort=p50TimeToFirstToken")
    row = page.get_by_role("row").filter(has_text="zz-streamed")
    expect(row).to_contain_text("200 ms")
    page = tab.show("/explore?of=spans&measures=p95TimeToFirstToken&groupBy=model")
    expect(page.get_by_text("p95 time to first token").first).to_be_visible()
