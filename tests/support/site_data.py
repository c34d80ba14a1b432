"""Data for browser tests, created over the API of a running service."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from support.browser import Site
from support.polling import wait_for
from support.process import ANSWER_SECONDS
from support.service import PASSWORD
from support.spans import new_span


def sign_up(url: str, email: str, name: str) -> Site:
    """Create an account; the site carries its token."""
    body = {"email": email, "password": PASSWORD, "name": name}
    created = httpx.post(f"{url}/api/auth/register", json=body, timeout=ANSWER_SECONDS)
    assert created.is_success, created.text
    return sign_in_as(url, email, PASSWORD)


def sign_in_as(url: str, email: str, password: str) -> Site:
    body = {"email": email, "password": password}
    answer = httpx.post(f"{url}/api/auth/login", json=body, timeout=ANSWER_SECONDS)
    assert answer.is_success, answer.text
    return Site(url, answer.json()["data"]["token"])


def share_workspace(owner: Site, member: Site, role: str) -> str:
    """Make another person a member of the owner's default workspace; return its id."""
    workspace_id = str(owner.call("GET", "/users/profile")["defaultWorkspaceId"])
    email = member.call("GET", "/users/profile")["email"]
    token = invite(owner, workspace_id, email, role)
    member.call("POST", "/invitations/accept", json={"token": token})
    return workspace_id


def invite(owner: Site, workspace_id: str, email: str, role: str) -> str:
    """Invite an address; return the token of the link."""
    body = {"email": email, "role": role}
    invitation = owner.call("POST", f"/workspaces/{workspace_id}/invitations", json=body)
    return str(invitation["link"]).partition("token=")[2]


def raise_alert(site: Site, agent: str) -> str:
    """Send traces of a new agent and add a rule that fires on them; return the id of the alert."""
    return raise_alerts(site, agent)[agent]


def raise_alerts(site: Site, *agents: str) -> dict[str, str]:
    """The same for several agents, with one evaluation; return the alerts by agent."""
    now = datetime.now(UTC)
    spans = [
        new_span(now - timedelta(seconds=n), 500, agentName=agent)
        for agent in agents
        for n in range(5, 20)
    ]
    site.send("/spans", {"spans": spans})
    rule = {"metric": "requestCount", "condition": "above", "threshold": 3, "windowMinutes": 60}
    rules = {"rules": [{**rule, "severity": "critical"}]}
    for agent in agents:
        site.call("PUT", f"/agents/{agent}/alerts", json=rules)

    def find_raised() -> dict[str, str]:
        found = site.call("GET", "/spans/alerts?status=active&limit=100")
        return {one["agentName"]: one["id"] for one in found}

    wait_for(lambda: find_raised().keys() >= {*agents}, seconds=60)
    return find_raised()


def create_experiment(site: Site, name: str) -> str:
    """Create a draft; return its id."""
    body = {
        "name": name,
        "variants": [{"key": "control"}, {"key": "short"}],
        "metrics": [{"metric": "latency", "direction": "decrease", "primary": True}],
    }
    return str(site.call("POST", "/experiments", json=body)["id"])


@contextmanager
def dashboard(
    site: Site, name: str, *panels: dict[str, Any], shared: bool = False
) -> Iterator[str]:
    """A dashboard with these panels, until it is left."""
    body = {"name": name, "isShared": shared, "panels": panels}
    made = site.call("POST", "/dashboards", json=body)["id"]
    yield made
    site.call("DELETE", f"/dashboards/{made}")
