"""Silences mute notifications of alerts; comments are added to their history."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest

from support.alerting import UNDISTURBED, forget_alerting
from support.clock import Clock
from support.receivers import HookServer, hook_server
from support.service import Person, Service, assert_error, start_service
from support.teams import make_team
from support.traces import make_span, send_traces

RULE = {"id": "errors", "metric": "errorRate", "condition": "above", "threshold": 0.5}


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    with hook_server() as server:
        yield server


class Desk:
    """A user with two agents and a workspace rule, all of which notify a webhook."""

    def __init__(self, service: Service, person: Person, clock: Clock) -> None:
        self.service = service
        self.person = person
        self.clock = clock

    async def watch(self, url: str, *agents: str) -> None:
        body = {"rules": [RULE], "notify": {"webhooks": [{"url": url}]}}
        for agent in agents:
            await self.person.call("POST", "/agents", json={"name": agent})
            await self.person.data("PUT", f"/agents/{agent}/alerts", json=body)

    async def fail(self, *agents: str) -> None:
        start = self.clock.now - timedelta(seconds=1)
        await send_traces(
            self.person, [make_span(agent, start=start, status="error") for agent in agents]
        )

    async def work(self, **by: float) -> list[dict[str, Any]]:
        """Advance the clock, evaluate and send; returns the alerts."""
        self.clock.turn(**by)
        await self.service.services.alerting.alert_jobs.evaluate()
        await self.service.services.alerting.alert_jobs.send()
        alerts: list[dict[str, Any]] = await self.person.data("GET", "/spans/alerts")
        return alerts

    async def silence(self, hours: float, **body: Any) -> dict[str, Any]:
        ends_at = (self.clock.now + timedelta(hours=hours)).isoformat()
        made: dict[str, Any] = await self.person.data(
            "POST", "/alerts/silences", json={"endsAt": ends_at, **body}
        )
        return made


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
async def running(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None, clock: Clock
) -> AsyncIterator[Service]:
    settings = {"allow_private_webhooks": True, **UNDISTURBED}
    async with start_service(tmp_path_factory.mktemp("silences"), clock, **settings) as service:
        yield service


@pytest.fixture
async def desk(running: Service, clock: Clock) -> AsyncIterator[Desk]:
    yield Desk(running, await running.sign_up(), clock)
    await forget_alerting(running, clock)


async def test_a_silenced_alert_opens_without_notification(desk: Desk, hooks: HookServer) -> None:
    await desk.watch(hooks.url, "planner", "writer")
    silence = await desk.silence(1, agentId="planner", reason="maintenance")
    assert silence["id"].startswith("sil_")
    assert (silence["reason"], silence["createdBy"]) == ("maintenance", desk.person.user["id"])
    await desk.fail("planner", "writer")
    alerts = {one["agentName"]: one for one in await desk.work()}
    assert alerts["planner"]["status"] == "active"
    assert alerts["planner"]["silencedUntil"] == silence["endsAt"]
    assert alerts["writer"]["silencedUntil"] is None
    assert [one.json["data"]["agentName"] for one in hooks.received] == ["writer"]
    # The alert that nobody heard of is announced when the silence ends.
    await desk.work(minutes=59)
    assert len(hooks.received) == 1
    await desk.work(minutes=2)
    assert hooks.received[-1].json["type"] == "alert.repeated"
    assert hooks.received[-1].json["data"]["agentName"] == "planner"


async def test_a_silence_that_is_ended_early_mutes_no_more(desk: Desk, hooks: HookServer) -> None:
    await desk.watch(hooks.url, "planner")
    silence = await desk.silence(24)
    ended = await desk.person.data("DELETE", f"/alerts/silences/{silence['id']}")
    assert ended == {"id": silence["id"], "deleted": True}
    await desk.fail("planner")
    await desk.work(seconds=1)
    assert hooks.types() == ["alert.triggered"]
    [listed] = await desk.person.data("GET", "/alerts/silences")
    assert listed["endsAt"] < silence["endsAt"]
    workspace = desk.person.user["defaultWorkspaceId"]
    entries = await desk.person.data("GET", f"/workspaces/{workspace}/audit")
    assert {"silence.created", "silence.ended"} <= {one["action"] for one in entries}


async def test_what_was_announced_before_a_silence_is_resolved_in_it(
    desk: Desk, hooks: HookServer
) -> None:
    await desk.watch(hooks.url, "planner")
    await desk.fail("planner")
    await desk.work()
    desk.clock.turn(seconds=1)
    await desk.silence(24)
    await desk.person.data("PUT", "/agents/planner/alerts", json={"rules": []})
    await desk.work(minutes=1)
    assert hooks.types() == ["alert.triggered", "alert.resolved"]


async def test_a_rule_is_silenced_alone(desk: Desk, hooks: HookServer) -> None:
    await desk.watch(hooks.url, "planner")
    body = {"rules": [{**RULE, "id": "other"}], "notify": {"webhooks": [{"url": hooks.url}]}}
    await desk.person.data("PUT", "/alerts/settings", json=body)
    await desk.silence(1, agentId="planner", ruleId="errors")
    await desk.fail("planner")
    await desk.work()
    assert [one.json["data"]["agentId"] for one in hooks.received] == [None]


async def test_a_silence_ends_within_a_year(person: Person) -> None:
    for days in (-1, 400):
        ends_at = (Clock().now + timedelta(days=days)).isoformat()
        response = await person.call("POST", "/alerts/silences", json={"endsAt": ends_at})
        assert_error(response, 400, "endsAt")


async def test_a_silence_of_something_unknown_is_404(person: Person) -> None:
    ends_at = (Clock().now + timedelta(hours=1)).isoformat()
    for scope in ({"agentId": "nobody"}, {"ruleId": "nothing"}):
        body = {"endsAt": ends_at, **scope}
        assert_error(await person.call("POST", "/alerts/silences", json=body), 404)


async def test_an_editor_comments_on_an_alert(desk: Desk) -> None:
    team = await make_team(desk.service)
    headers = team.header
    owner, editor = team.owner, team.editor
    await owner.data("PUT", "/alerts/settings", json={"rules": [RULE]}, headers=headers)
    start = desk.clock.now - timedelta(seconds=1)
    spans = {"spans": [make_span("planner", start=start, status="error")]}
    await owner.data("POST", "/spans", json=spans, headers=headers)
    await desk.service.services.alerting.alert_jobs.evaluate()
    [alert] = await owner.data("GET", "/spans/alerts", headers=headers)
    path = f"/spans/alerts/{alert['id']}/comments"
    body = {"text": " Looking into it. "}
    commented = await editor.data("POST", path, json=body, headers=headers)
    comment = commented["history"][-1]
    assert (comment["from"], comment["to"]) == ("active", "active")
    assert (comment["by"], comment["note"]) == (editor.user["id"], "Looking into it.")
    assert commented["status"] == "active"
    empty = await editor.call("POST", path, json={"text": "  "}, headers=headers)
    assert_error(empty, 400, "text")
