"""Markup in every text that anybody can store is shown as text on every page, never executed.

`tests/browser/test_markup.py` has the pages of telemetry; here are all pages and records.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from support.browser import Site, Tab, find_chromium, open_tab, start_chromium
from support.markup import CORPUS, LOADING, find_dangers
from support.polling import wait_for
from support.process import run_service
from support.site_data import share_workspace, sign_up
from support.spans import child_of, new_span

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(find_chromium() is None, reason="no Chromium on this machine"),
]

# Each fits into a name.
NAMES = [*CORPUS[:3], CORPUS[5], *LOADING[:2]]
EVIL = " ".join((*CORPUS, *LOADING))
AGENT = CORPUS[1]


@dataclass
class Hostile:
    site: Site
    ids: dict[str, str]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    unlimited = {f"rate_limit_{tier}": 0 for tier in ("standard", "strict", "ingestion")}
    settings = {**unlimited, "alert_interval_seconds": 1}
    with run_service(tmp_path_factory.mktemp("hostile"), **settings) as service:
        site = sign_up(service.url, "ann@example.com", NAMES[0])
        member = sign_up(service.url, "bob@example.com", NAMES[1])
        workspace = share_workspace(site, member, "editor")
        site.call("PUT", f"/workspaces/{workspace}", json={"name": NAMES[2]})
        ids = {"workspace": workspace, **store_telemetry(site), **store_records(site, workspace)}
        yield Hostile(site, ids)


def store_telemetry(site: Site) -> dict[str, str]:
    start = datetime.now(UTC) - timedelta(minutes=1)
    about: dict[str, Any] = {
        "agentName": AGENT,
        "sessionId": NAMES[2],
        "userId": NAMES[3],
        "environment": NAMES[4],
    }
    root = new_span(
        start,
        900,
        name=NAMES[0],
        kind="agent",
        status="error",
        statusMessage=EVIL,
        input=EVIL,
        output={"messages": [{"role": NAMES[1], "content": EVIL}]},
        attributes={NAMES[2]: EVIL, "nested": {NAMES[3]: [EVIL]}, "service.version": NAMES[0]},
        events=[{"name": "exception", "attributes": {"exception.type": AGENT}}],
        **about,
    )
    parts = [
        *({"type": "text", "content": text} for text in (*CORPUS, *LOADING)),
        {"type": "tool_call", "id": NAMES[0], "name": NAMES[1], "arguments": {NAMES[2]: EVIL}},
        {"type": "uri", "uri": "javascript:window.__executed=1", "mime_type": NAMES[3]},
        {"type": "uri", "uri": "https://evil.example/f.png", "mime_type": "image/png"},
        {"type": "blob", "content": "PHN2Zy8+", "mime_type": "image/svg+xml"},
    ]
    call = child_of(
        root,
        name=NAMES[4],
        kind="llm",
        model=NAMES[1],
        provider=NAMES[2],
        inputTokens=3,
        input=[{"role": NAMES[0], "parts": parts}],
        output=[{"role": "assistant", "parts": parts, "finish_reason": NAMES[5]}],
    )
    tool = child_of(root, name=NAMES[3], kind="tool", toolName=NAMES[0], status="error", input=EVIL)
    site.call("POST", "/spans", json={"spans": [root, call, tool]})
    other = new_span(start, name=NAMES[1], kind="agent", **about)
    site.call("POST", "/spans", json={"spans": [other]})
    log = {"message": EVIL, "level": "error", "traceId": root["traceId"], "agentName": AGENT}
    site.call("POST", "/logs", json={**log, "attributes": {NAMES[2]: EVIL}})
    signal = {"signalName": NAMES[0], "value": 1, "traceId": root["traceId"]}
    site.send("/signals", {**signal, "comment": EVIL, "metadata": {NAMES[1]: EVIL}})
    point = {
        "timeUnixNano": str(time.time_ns()),
        "asInt": "5",
        "attributes": [{"key": NAMES[3], "value": {"stringValue": EVIL}}],
    }
    metric = {"name": "hostile", "unit": "<b>", "description": EVIL}
    metrics = [{**metric, "gauge": {"dataPoints": [point]}}]
    key = site.call("POST", "/keys", json={"name": NAMES[0], "scopes": ["ingest"]})["key"]
    httpx.post(
        f"{site.url}/v1/metrics",
        json={"resourceMetrics": [{"scopeMetrics": [{"metrics": metrics}]}]},
        headers={"x-api-key": key},
        timeout=60,
    ).raise_for_status()
    return {
        "trace": root["traceId"],
        "root": root["spanId"],
        "call": call["spanId"],
        "other": other["traceId"],
    }


def store_records(site: Site, workspace: str) -> dict[str, str]:
    name = quote(AGENT, safe="")
    rule = {"name": NAMES[0], "metric": "requestCount", "condition": "above", "threshold": 0}
    notify = {"webhooks": [{"url": "https://hooks.invalid/<script>alert(1)</script>"}]}
    body = {"rules": [{**rule, "windowMinutes": 60}], "notify": notify}
    site.call("PUT", f"/agents/{name}/alerts", json=body)
    site.call("PUT", f"/agents/{name}", json={"description": EVIL})
    ends_at = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    site.call("POST", "/alerts/silences", json={"endsAt": ends_at, "reason": EVIL[:200]})
    hook = "https://hooks.invalid/'\"><img/src=x/onerror=window.__executed=1>"
    webhook = site.call("POST", "/events/webhooks", json={"url": hook})["id"]
    site.call("POST", f"/events/webhooks/{webhook}/test")
    for text in NAMES:
        site.call("POST", "/views", json={"name": text, "page": "traces", "isShared": True})
    price = {"model": NAMES[1], "inputPerMillion": 1, "outputPerMillion": 1}
    site.call("PUT", "/models/prices", json=price)
    query = {"measures": ["count", f"signal:{NAMES[0]}"], "by": ["agent", "model"]}
    panels = [
        {"title": title, "chart": chart, "query": query}
        for title, chart in zip(NAMES, ("line", "bar", "area", "number", "table"), strict=False)
    ]
    dashboard = {"name": NAMES[0], "isShared": True, "panels": panels}
    variants = [{"key": "a", "name": NAMES[1], "config": {"prompt": EVIL}}]
    experiment = {
        "name": NAMES[0],
        "description": EVIL,
        "hypothesis": EVIL,
        "variants": [*variants, {"key": "b", "name": NAMES[2], "config": {"prompt": EVIL}}],
        "metrics": [{"source": "signal", "signalName": NAMES[0], "primary": True}],
    }
    ids = {
        "dashboard": site.call("POST", "/dashboards", json=dashboard)["id"],
        "draft": site.call("POST", "/experiments", json=experiment)["id"],
        "experiment": site.call("POST", "/experiments", json=experiment)["id"],
    }
    site.call("POST", f"/experiments/{ids['experiment']}/start")
    wait_for(lambda: bool(site.call("GET", "/spans/alerts")), seconds=60)
    alert = site.call("GET", "/spans/alerts")[0]["id"]
    site.call("POST", f"/spans/alerts/{alert}/comments", json={"text": EVIL[:500]})
    site.call(
        "POST",
        f"/workspaces/{workspace}/invitations",
        json={"email": "a'b@example.com", "role": "viewer"},
    )
    return {**ids, "alert": alert}


SIGNAL, MODEL = quote(NAMES[0], safe=""), quote(NAMES[1], safe="")
NAMED, SESSION, USER = (quote(text, safe="") for text in (AGENT, NAMES[2], NAMES[3]))
PAGES = (
    "/?range=1h",
    "/dashboards",
    "/dashboards/{dashboard}?range=1h",
    "/explore?range=1h&measures=count&by=agent,model",
    f"/explore?range=1h&measures=count&by=attribute%3A{SESSION}",
    "/traces?range=1h",
    f"/traces?range=1h&search={SIGNAL}",
    "/traces/{trace}",
    "/traces/{trace}?span={call}",
    "/traces/{trace}?span={call}&tab=raw",
    "/traces/{trace}?span={root}&tab=attributes",
    "/traces/{trace}?span={root}&tab=events",
    "/traces/{trace}?tab=signals",
    "/traces/{trace}?tab=logs",
    "/compare?a={trace}&b={other}",
    "/sessions?range=1h",
    f"/sessions/{SESSION}",
    "/spans?range=1h&tab=list",
    "/spans?range=1h&tab=models",
    "/tools?range=1h",
    "/users?range=1h",
    f"/users/{USER}?range=1h",
    f"/signals?range=1h&signal={SIGNAL}",
    "/logs?range=1h",
    "/metrics-explorer?range=1h&metric=hostile",
    "/coding-agents?range=1h",
    "/agents?range=1h",
    f"/agents/{NAMED}?range=1h",
    f"/agents/{NAMED}/rules",
    "/alerts",
    "/alerts?alert={alert}",
    "/alerts/rules",
    "/alerts/rules/workspace",
    "/alerts/silences",
    "/failures?range=1h",
    f"/changes?range=1h&by=model&baseline={MODEL}&candidate={MODEL}",
    "/experiments",
    "/experiments/{experiment}",
    "/experiments/{draft}/edit",
    "/events",
    "/events?tab=webhooks",
    "/events?tab=deliveries",
    "/workspace",
    "/workspace?tab=members",
    "/workspace?tab=invitations",
    "/workspace?tab=audit",
    "/keys",
    "/models",
    "/admin",
    "/admin?tab=audit",
    "/profile",
    "/start",
    f"/login?next=javascript%3A{SIGNAL}",
    "/invitation?token=%3Cscript%3E",
)


@pytest.fixture(scope="module")
def tab(hostile: Hostile) -> Iterator[Tab]:
    with (
        start_chromium() as browser,
        open_tab(browser, hostile.site.url, hostile.site.token) as opened,
    ):
        yield opened
        opened.troubles.clear()


@pytest.mark.parametrize("path", PAGES)
def test_a_page_shows_markup_as_text(tab: Tab, hostile: Hostile, path: str) -> None:
    address = path
    for name, value in hostile.ids.items():
        address = address.replace("{" + name + "}", value)
    tab.troubles.clear()
    page = tab.open(address)
    assert find_dangers(page) == []
    # A record that does not exist is no danger.
    assert [one for one in tab.troubles if "status of 4" not in one] == []


def test_pages_show_what_was_stored(tab: Tab) -> None:
    """Otherwise the test above could not fail."""
    for path in ("/traces?range=1h", "/dashboards", "/experiments", "/workspace?tab=members"):
        text = tab.open(path).locator("body").inner_text()
        assert any(name[:8] in text for name in NAMES), path
