"""Markup in any telemetry field is shown as text and never executed."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from support.browser import Site, Tab
from support.markup import CORPUS, PROBE, find_dangers
from support.spans import child_of, new_span


@pytest.fixture(scope="module")
def hostile(demo: Site) -> dict[str, str]:
    """A trace, a log and a signal with the corpus in every text field."""
    evil = " ".join(CORPUS)
    start = datetime.now(UTC) - timedelta(minutes=1)
    session = "s-<img src=x onerror=window.__executed=1>"
    root = new_span(
        start,
        900,
        name=CORPUS[0],
        kind="agent",
        agentName=CORPUS[1],
        sessionId=session,
        userId=CORPUS[2],
        environment=CORPUS[3],
        status="error",
        statusMessage=evil,
        input=evil,
        output={"messages": [{"role": CORPUS[1], "content": evil}]},
        attributes={CORPUS[2]: evil, "nested": {CORPUS[5]: [evil]}},
        events=[{"name": CORPUS[6], "attributes": {"exception.message": evil}}],
    )
    parts = [
        {"type": "text", "content": evil},
        {"type": "tool_call", "id": CORPUS[0], "name": CORPUS[1], "arguments": {CORPUS[2]: evil}},
        {"type": "uri", "uri": f"javascript:{PROBE}", "mime_type": CORPUS[3]},
        {"type": "blob", "content": "PHN2Zy8+", "mime_type": "image/svg+xml"},
    ]
    call = child_of(
        root,
        name=CORPUS[4],
        kind="llm",
        model=CORPUS[1],
        provider=CORPUS[2],
        toolName=CORPUS[5],
        inputTokens=3,
        input=[{"role": CORPUS[0], "parts": parts}],
        output=[{"role": "assistant", "parts": parts, "finish_reason": CORPUS[6]}],
    )
    demo.call("POST", "/spans", json={"spans": [root, call]})
    trace_id = root["traceId"]
    demo.call(
        "POST",
        "/logs",
        json={
            "message": evil,
            "level": "error",
            "traceId": trace_id,
            "agentName": CORPUS[1],
            "attributes": {CORPUS[2]: evil},
        },
    )
    signal = {"signalName": CORPUS[0], "value": 1, "traceId": trace_id, "comment": evil}
    demo.send("/signals", signal)
    return {"trace": trace_id, "root": root["spanId"], "call": call["spanId"], "session": session}


VIEWS = {
    "the list of traces": "/traces?range=1h",
    "the trace": "/traces/{trace}",
    "the call": "/traces/{trace}?span={call}",
    "attributes": "/traces/{trace}?span={root}&tab=attributes",
    "events": "/traces/{trace}?span={root}&tab=events",
    "raw": "/traces/{trace}?span={call}&tab=raw",
    "the session": "/sessions/{session}",
    "sessions": "/sessions?range=1h",
    "logs": "/logs?range=1h&filters=" + quote('[{"field": "level", "value": "error"}]'),
    "signals": "/signals?range=1h&signal=" + quote(CORPUS[0], safe=""),
    "agents": "/agents?range=1h",
    "models": "/models",
    "overview": "/?range=1h",
}


@pytest.mark.parametrize("view", VIEWS)
def test_markup_shows_as_text(tab: Tab, hostile: dict[str, str], view: str) -> None:
    safe = {name: quote(value, safe="") for name, value in hostile.items()}
    page = tab.show(VIEWS[view].format(**safe))
    shown = re.compile("|".join(re.escape(text[:9]) for text in CORPUS))
    expect(page.locator("body")).to_contain_text(shown, use_inner_text=True)
    assert find_dangers(page) == []
