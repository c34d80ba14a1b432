"""Every page of the dashboard, with the data of the demo, and what must be true on it."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from support.browser import PHONE, Site, Tab

SCROLL_SIZES = """() => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return [scrollWidth, scrollHeight];
}"""


def first(site: Site, path: str, field: str) -> str:
    return str(site.call("GET", path)[0][field])


def comparison(site: Site) -> str:
    a, b = (one["traceId"] for one in site.call("GET", f"/spans/traces?{SUPPORT}&limit=2"))
    return f"/compare?a={a}&b={b}"


# Other tests send traces of other agents.
SUPPORT = "agentId=support-assistant"
# The address and a text of each page.
Pages = dict[str, tuple[str | Callable[[Site], str], str]]
TELEMETRY: Pages = {
    "overview": ("/?range=30d", "Requests by agent"),
    "dashboards": ("/dashboards", "Requests, latency, errors"),
    "dashboard": (
        lambda site: f"/dashboards/{first(site, '/dashboards', 'id')}?range=30d",
        "daily",
    ),
    "explore": ("/explore?range=30d&measures=count,p95&by=agent", "support-assistant"),
    "traces": ("/traces?range=30d", "support-assistant"),
    "trace": (
        lambda site: f"/traces/{first(site, f'/spans/traces?{SUPPORT}', 'traceId')}",
        "invoke_agent",
    ),
    "sessions": ("/sessions?range=30d", "conv-"),
    "session": (
        lambda site: f"/sessions/{first(site, f'/spans/sessions?{SUPPORT}', 'sessionId')}",
        "support-assistant",
    ),
    "spans": ("/spans?range=30d", "search_flights"),
    "tools": ("/tools?range=30d", "search_flights"),
    "models of spans": ("/spans?range=30d&tab=models", "Cached tokens"),
    "single spans": ("/spans?range=30d&tab=list", "Model or tool"),
    "users": ("/users?range=30d", "user-0"),
    "user": ("/users/user-00001?range=30d", "Latest sessions"),
    "user without traces": ("/users/nobody?range=30d", "No traces of this user"),
    "signals": ("/signals?range=30d", "thumbs_up"),
    "logs": ("/logs?range=30d", "answered in"),
    "metrics": ("/metrics-explorer?range=30d", "claude_code.cost.usage"),
    "metric": (
        "/metrics-explorer?range=30d&metric=gemini_cli.api.request.latency",
        "Estimate",
    ),
    "coding agents": ("/coding-agents?range=30d", "tomas@example.com"),
}
WORKSPACE: Pages = {
    "agents": ("/agents?range=30d", "travel-concierge"),
    "agent": ("/agents/support-assistant?range=30d", "Answers customers"),
    "releases of an agent": ("/agents/code-reviewer?range=30d", "3.2.0"),
    "rules": ("/agents/support-assistant/rules", "Answers fail"),
    "alerts": ("/alerts", "Acknowledged"),
    "all rules": ("/alerts/rules", "Answers fail"),
    "rules of the workspace": ("/alerts/rules/workspace", "Add a rule"),
    "silences": ("/alerts/silences", "The new layout goes live"),
    "failures": ("/failures?range=30d", "httpx.ReadTimeout"),
    "changes": ("/changes?range=14d", "What contributes most"),
    "changes of a release": (
        "/changes?range=14d&by=serviceVersion&baseline=3.1.0&candidate=3.2.0",
        "Candidate: 3.2.0",
    ),
    "experiments": ("/experiments", "concise-answers"),
    "experiment": (
        lambda site: f"/experiments/{first(site, '/experiments?status=stopped', 'id')}",
        "Lift against the control",
    ),
    "draft": (
        lambda site: f"/experiments/{first(site, '/experiments?status=draft', 'id')}",
        "Not started yet",
    ),
    "new experiment": ("/experiments/new", "Hypothesis"),
    "edited draft": (
        lambda site: f"/experiments/{first(site, '/experiments?status=draft', 'id')}/edit",
        "Hypothesis",
    ),
    "comparison": (comparison, "invoke_agent"),
    "events": ("/events", "concise-answers"),
    "webhooks": ("/events?tab=webhooks", "New webhook"),
    "deliveries": ("/events?tab=deliveries", "Deliveries"),
    "workspace": ("/workspace", "Require an expiry date"),
    "workspace members": ("/workspace?tab=members", "sam@example.com"),
    "workspace audit": ("/workspace?tab=audit", "Mara Lind joined as an admin"),
    "keys": ("/keys", "production fleet"),
    "prices": ("/models", "house-screener-8b"),
    "accounts": ("/admin", "mara@example.com"),
    "stats": ("/admin?tab=stats", "Spans per second"),
    "audit": ("/admin?tab=audit&action=account.registered", "created an account"),
    "profile": ("/profile", "demo@example.com"),
    "start": ("/start", "See it arrive"),
}


PAGES = {**TELEMETRY, **WORKSPACE}


def address(site: Site, name: str) -> str:
    path = PAGES[name][0]
    return path if isinstance(path, str) else path(site)


def check_page(tab: Tab, site: Site, name: str) -> None:
    """Check that a page is complete and accessible, and fits on a desktop and on a phone."""
    page = tab.show(address(site, name))
    if name == "releases of an agent":
        # They are loaded once they are in sight.
        page.mouse.move(720, 450)
        page.mouse.wheel(0, 10_000)
        expect(page.get_by_role("cell", name="3.2.0")).to_be_visible()
    # At once: a page without skeletons is complete.
    text = page.locator("body").inner_text()
    assert PAGES[name][1] in text, text[:500]
    assert page.locator("h1").count() == 1
    violations = tab.find_violations()
    assert violations == [], violations
    assert_fits(page, 1440, 900)
    assert_fits(page, **PHONE)


def assert_fits(page: Page, width: int, height: int) -> None:
    """Check that the frame does not scroll on such a screen."""
    page.set_viewport_size({"width": width, "height": height})
    wide, high = page.evaluate(SCROLL_SIZES)
    assert wide <= width, f"{wide} px at {width} px"
    assert high <= height, f"{high} px high at {width} px"
