"""Alerts of the real process, with a real mail server and webhook receiver."""

import time
from collections import Counter
from pathlib import Path

import httpx
import pytest

from support.polling import wait_for
from support.process import run_service
from support.receivers import Inbox, hook_server, smtp_server
from support.traces import make_span

RULE = {"id": "errors", "metric": "errorRate", "condition": "above", "threshold": 0.5}
SETTINGS = {
    "alert_interval_seconds": 0.3,
    "allow_private_webhooks": "true",
    "rate_limit_standard": 0,
}


def watch(ann: httpx.Client, agent: str, url: str) -> None:
    ann.post("/agents", json={"name": agent}).raise_for_status()
    notify = {"emails": ["oncall@example.com"], "webhooks": [{"url": url}]}
    body = {"rules": [RULE], "notify": notify}
    ann.put(f"/agents/{agent}/alerts", json=body).raise_for_status()


def send(ann: httpx.Client, agent: str, status: str, count: int = 1) -> None:
    spans = [make_span(agent, status=status) for _ in range(count)]
    ann.post("/spans", json={"spans": spans}).raise_for_status()


def test_an_alert_is_raised_notified_and_resolved_automatically(tmp_path: Path) -> None:
    with smtp_server() as (inbox, port), hook_server() as hooks:
        smtp = {"smtp_url": f"smtp://127.0.0.1:{port}"}
        with run_service(tmp_path, **SETTINGS, **smtp) as running, running.sign_up() as ann:
            watch(ann, "planner", hooks.url)
            send(ann, "planner", "error")
            wait_for(lambda: hooks.types() == ["alert.triggered"])
            [alert] = ann.get("/spans/alerts").json()["data"]
            path = f"/spans/alerts/{alert['id']}"
            ann.put(f"{path}/acknowledge", json={}).raise_for_status()
            reopened = ann.put(f"{path}/reopen", json={}).raise_for_status().json()["data"]
            before = reopened["occurrences"]
            wait_for(lambda: ann.get(path).json()["data"]["occurrences"] > before + 1)
            send(ann, "planner", "ok", count=9)
            wait_for(lambda: ann.get(path).json()["data"]["status"] == "resolved")
            history = ann.get(path).json()["data"]["history"]
            wait_for(lambda: len(hooks.accepted) == 3)
            wait_for(lambda: sum("planner" in s for s in inbox.subjects()) == 3)
            ready = httpx.get(f"{running.api}/ready").json()["data"]
            metrics = httpx.get(f"{running.url}/metrics").text
    assert [move["to"] for move in history] == ["active", "acknowledged", "active", "resolved"]
    assert hooks.types() == ["alert.triggered", "alert.reopened", "alert.resolved"]
    assert ready["jobs"] == {"alerts": "ok"}
    assert "spanwise_alert_evaluation_healthy 1.0" in metrics
    assert "spanwise_alert_rules 1.0" in metrics


@pytest.mark.long
def test_kill_9_neither_loses_nor_duplicates_a_notification(tmp_path: Path) -> None:
    agents = ["first", "second", "third"]
    with smtp_server() as (inbox, port), hook_server() as hooks:
        smtp = {"smtp_url": f"smtp://127.0.0.1:{port}", "secret_key": "s" * 40}
        with run_service(tmp_path, **SETTINGS, **smtp) as running, running.sign_up() as ann:
            token = ann.headers["Authorization"]
            for agent in agents:
                watch(ann, agent, hooks.url)
            # The receiver refuses, so that messages are in the outbox when the process is killed.
            hooks.status = 503
            send(ann, agents[0], "error")
            wait_for(lambda: len(hooks.received) > 0)
            running.process.kill()
        for agent, pause in zip(agents[1:], (0.0, 0.5), strict=True):
            with run_service(tmp_path, **SETTINGS, **smtp) as running:
                ann = httpx.Client(
                    base_url=running.api, headers={"Authorization": token}, timeout=30
                )
                with ann:
                    send(ann, agent, "error")
                time.sleep(pause)
                running.process.kill()
        hooks.status = 200
        with run_service(tmp_path, **SETTINGS, **smtp) as running:
            wait_for(lambda: len(hooks.accepted) >= len(agents))
            wait_for(lambda: set(_mails_by_agent(inbox, agents)) == set(agents))
            # Enough time for a duplicate to arrive.
            time.sleep(5)
            ann = httpx.Client(base_url=running.api, headers={"Authorization": token}, timeout=30)
            with ann:
                alerts = ann.get("/spans/alerts").json()["data"]
    assert sorted(alert["agentName"] for alert in alerts) == sorted(agents)
    notified = Counter(received.json["data"]["agentName"] for received in hooks.accepted)
    assert notified == dict.fromkeys(agents, 1)
    # An attempt whose outcome was not stored may be repeated, but only with the same id.
    ids = {(r.json["data"]["id"], r.json["type"]): set[str]() for r in hooks.received}
    for received in hooks.received:
        ids[received.json["data"]["id"], received.json["type"]].add(received.id)
    assert all(len(known) == 1 for known in ids.values())
    mails = _mails_by_agent(inbox, agents)
    assert all(len(known) == 1 for known in mails.values())


def _mails_by_agent(inbox: Inbox, agents: list[str]) -> dict[str, set[str]]:
    """Return the ids of the mails about each agent's alert; alerts may share a mail."""
    found: dict[str, set[str]] = {}
    for message in inbox.messages:
        for agent in agents:
            if f"{agent}: error rate" in str(message.get_payload()):
                found.setdefault(agent, set()).add(str(message["Message-ID"]))
    return found
