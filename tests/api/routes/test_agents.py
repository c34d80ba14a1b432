"""Agents: created by hand or by traces, changed, deleted without their telemetry."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from support.service import Person, Service, assert_error
from support.traces import make_span, send_trace, send_traces


async def agent_of(person: Person, name: str) -> dict[str, Any]:
    agent: dict[str, Any] = await person.data("GET", f"/agents/{quote(name, safe='')}")
    return agent


async def test_the_first_trace_of_a_name_creates_its_agent(service: Service) -> None:
    ann = await service.sign_up()
    now = datetime.now(UTC)
    start, old = now - timedelta(minutes=3), now - timedelta(hours=25)
    await send_traces(
        ann,
        [
            make_span("planner", start=start, status="error"),
            make_span("planner", start=start + timedelta(minutes=1), duration_ms=400),
            make_span("yesterday's", start=old),
        ],
    )
    for hours in (1, 5, 3):
        await send_trace(ann, agent="late", start=now - timedelta(hours=hours))
    agents = {agent["name"]: agent for agent in await ann.data("GET", "/agents")}
    assert set(agents) == {"planner", "yesterday's", "late"}
    agent = agents["planner"]
    assert agent["id"].startswith("agt_")
    assert datetime.fromisoformat(agent["firstSeenAt"]) == start
    assert datetime.fromisoformat(agent["lastSeenAt"]) == start + timedelta(minutes=1)
    stats = agent["stats24h"]
    assert (stats["traces"], stats["errorRate"], stats["cost"]) == (2, 0.5, 0)
    assert stats["p95Latency"] == pytest.approx(385, abs=16)
    assert await ann.data("GET", f"/agents/{agent['id']}") == agent
    # Stats are of the last day only.
    agent = await agent_of(ann, "yesterday's")
    assert agent["stats24h"] == {"traces": 0, "errorRate": 0, "p95Latency": None, "cost": 0}
    assert datetime.fromisoformat(agent["lastSeenAt"]) == old
    # A late trace changes only when its agent was seen first.
    agent = agents["late"]
    assert datetime.fromisoformat(agent["firstSeenAt"]) == now - timedelta(hours=5)
    assert datetime.fromisoformat(agent["lastSeenAt"]) == now - timedelta(hours=1)


async def test_an_agent_is_created_by_hand_and_found_by_id_and_name(service: Service) -> None:
    ann = await service.sign_up()
    body = {
        "name": "Überplaner 7",
        "description": "plans",
        "tags": ["prod"],
        "metadata": {"team": {"lead": "Ann"}},
    }
    created = await ann.call("POST", "/agents", json=body)
    assert created.status_code == 201
    agent = created.json()["data"]
    assert agent.items() >= body.items()
    assert agent["alertSettings"] == {
        "enabled": True,
        "rules": [],
        "notify": {"emails": [], "webhooks": [], "channels": []},
    }
    assert (agent["firstSeenAt"], agent["lastSeenAt"]) == (None, None)
    assert await agent_of(ann, "Überplaner 7") == agent
    assert await agent_of(ann, agent["id"]) == agent


async def test_a_name_is_unique_in_its_workspace(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    await ann.data("POST", "/agents", json={"name": "planner"})
    assert_error(await ann.call("POST", "/agents", json={"name": "planner"}), 400, "name")
    await ann.data("POST", "/agents", json={"name": "writer"})
    conflict = await ann.call("PUT", "/agents/writer", json={"name": "planner"})
    assert_error(conflict, 400, "name")
    assert (await agent_of(ann, "writer"))["name"] == "writer"
    assert (await bob.call("POST", "/agents", json={"name": "planner"})).status_code == 201


async def test_a_put_changes_only_the_given_fields(service: Service) -> None:
    ann = await service.sign_up()
    body = {"name": "planner", "description": "plans", "tags": ["a"], "metadata": {"k": 1}}
    made = await ann.data("POST", "/agents", json=body)
    changed = await ann.data("PUT", f"/agents/{made['id']}", json={"tags": ["b"]})
    assert changed == {**made, "tags": ["b"], "updatedAt": changed["updatedAt"]}
    assert changed["updatedAt"] > made["updatedAt"]
    cleared = await ann.data("PUT", "/agents/planner", json={"description": None})
    assert (cleared["description"], cleared["tags"]) == (None, ["b"])
    renamed = await ann.data("PUT", "/agents/planner", json={"name": "writer"})
    assert renamed["id"] == made["id"]
    assert_error(await ann.call("GET", "/agents/planner"), 404)


async def test_an_invalid_field_is_named(service: Service) -> None:
    ann = await service.sign_up()
    bad: list[tuple[dict[str, Any], str]] = [
        ({}, "name"),
        ({"name": " "}, "name"),
        ({"name": 7}, "name"),
        ({"name": "x" * 513}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"name": "a", "tags": "prod"}, "tags"),
        ({"name": "a", "tags": [""]}, "tags.0"),
        ({"name": "a", "metadata": []}, "metadata"),
    ]
    for body, field in bad:
        assert_error(await ann.call("POST", "/agents", json=body), 400, field)
    assert await ann.data("GET", "/agents") == []


async def test_a_deleted_agent_keeps_its_telemetry_and_comes_back(service: Service) -> None:
    ann = await service.sign_up()
    await send_trace(ann, agent="planner")
    first = await agent_of(ann, "planner")
    gone = await ann.data("DELETE", "/agents/planner")
    assert gone == {"id": first["id"], "deleted": True}
    assert_error(await ann.call("GET", "/agents/planner"), 404)
    assert_error(await ann.call("DELETE", "/agents/planner"), 404)
    traces = await ann.data("GET", "/spans/traces", params={"agentId": "planner"})
    assert len(traces) == 1
    await send_trace(ann, agent="planner")
    back = await agent_of(ann, "planner")
    assert back["id"] != first["id"]
    assert back["stats24h"]["traces"] == 2


async def test_the_list_is_paged_newest_first_and_searched(service: Service) -> None:
    ann = await service.sign_up()
    for name in ("alpha", "beta_1", "gamma"):
        await ann.data("POST", "/agents", json={"name": name})
    page = (await ann.call("GET", "/agents", params={"limit": 2})).json()
    assert [agent["name"] for agent in page["data"]] == ["gamma", "beta_1"]
    assert page["pagination"] == {"total": 3, "limit": 2, "skip": 0, "hasMore": True}
    found = await ann.data("GET", "/agents", params={"search": "A_"})
    assert [agent["name"] for agent in found] == ["beta_1"]


async def test_agents_of_another_workspace_are_404(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    await send_trace(ann, agent="planner", status="error")
    await send_trace(bob, agent="planner")
    theirs = await agent_of(ann, "planner")
    mine = await agent_of(bob, "planner")
    assert mine["id"] != theirs["id"]
    assert mine["stats24h"]["errorRate"] == 0
    for method in ("GET", "PUT", "DELETE"):
        body: dict[str, Any] = {"json": {}} if method == "PUT" else {}
        assert_error(await bob.call(method, f"/agents/{theirs['id']}", **body), 404)
    assert await agent_of(ann, "planner") == theirs
