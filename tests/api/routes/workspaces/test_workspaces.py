"""Workspaces: what a member of several can see and change."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spanwise.storage.telemetry.engine.query import query_rows
from support.polling import until
from support.service import Person, Service, assert_error, start_service
from support.spans import span


def in_workspace(workspace: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {"headers": {"X-Workspace-Id": workspace["id"]}}


async def test_registering_makes_a_workspace_that_the_person_owns(person: Person) -> None:
    [workspace] = await person.data("GET", "/workspaces")
    assert workspace["name"] == f"{person.user['name']}'s workspace"
    assert (workspace["role"], workspace["members"]) == ("owner", 1)
    assert workspace["id"] == person.user["defaultWorkspaceId"]
    assert await person.data("GET", f"/workspaces/{workspace['id']}") == workspace


async def test_each_workspace_has_its_own_records(person: Person) -> None:
    second = await person.data("POST", "/workspaces", json={"name": "Second"})
    assert (second["name"], second["role"]) == ("Second", "owner")
    await person.data("POST", "/agents", json={"name": "here"}, **in_workspace(second))
    assert await person.data("GET", "/agents") == []
    [agent] = await person.data("GET", "/agents", **in_workspace(second))
    assert agent["name"] == "here"
    key = (await person.data("POST", "/keys", json={"name": "k"}, **in_workspace(second)))["key"]
    assert await person.data("GET", "/keys") == []
    answer = await person.http.get("/api/agents", headers={"x-api-key": key})
    assert [found["name"] for found in answer.json()["data"]] == ["here"]


async def test_the_default_workspace_can_be_chosen(person: Person) -> None:
    second = await person.data("POST", "/workspaces", json={"name": "Second"})
    body = {"defaultWorkspaceId": second["id"]}
    profile = await person.data("PUT", "/users/profile", json=body)
    assert profile["defaultWorkspaceId"] == second["id"]
    await person.data("POST", "/agents", json={"name": "here"})
    [agent] = await person.data("GET", "/agents", **in_workspace(second))
    assert agent["name"] == "here"


async def test_a_workspace_of_others_is_404(service: Service, person: Person) -> None:
    stranger = await service.sign_up()
    foreign = stranger.user["defaultWorkspaceId"]
    header = {"X-Workspace-Id": foreign}
    assert_error(await person.call("GET", "/agents", headers=header), 404)
    assert_error(await person.call("GET", f"/workspaces/{foreign}"), 404)
    body = {"defaultWorkspaceId": foreign}
    assert_error(await person.call("PUT", "/users/profile", json=body), 404)
    # Pages that belong to no workspace still work with a stale choice.
    assert (await person.call("GET", "/users/profile", headers=header)).is_success


async def test_a_name_is_checked(person: Person) -> None:
    for name in ("", " ", "n" * 300, None, 3, "nul\x00"):
        body = {"name": name}
        assert_error(await person.call("POST", "/workspaces", json=body), 400, "name")
    assert len(await person.data("GET", "/workspaces")) == 1


async def test_a_workspace_may_require_that_keys_expire(person: Person) -> None:
    path = f"/workspaces/{person.user['defaultWorkspaceId']}"
    changed = await person.data("PUT", path, json={"name": "Team", "requireKeyExpiry": True})
    assert (changed["name"], changed["requireKeyExpiry"]) == ("Team", True)
    assert_error(await person.call("POST", "/keys", json={"name": "k"}), 400, "expiresAt")
    await person.new_key(expiresAt="2099-01-01T00:00:00Z")


async def test_deleting_needs_the_name_and_another_workspace(person: Person) -> None:
    [first] = await person.data("GET", "/workspaces")
    path = f"/workspaces/{first['id']}"
    body = {"name": first["name"]}
    assert_error(await person.call("DELETE", path, json={"name": "other"}), 400, "name")
    assert_error(await person.call("DELETE", path, json=body), 400)
    key = (await person.new_key())["key"]
    await person.data("POST", "/agents", json={"name": "gone"})
    second = await person.data("POST", "/workspaces", json={"name": "Second"})
    await person.data("DELETE", path, json=body)
    assert [w["id"] for w in await person.data("GET", "/workspaces")] == [second["id"]]
    assert await person.data("GET", "/agents") == []
    assert (await person.http.get("/api/agents", headers={"x-api-key": key})).status_code == 401
    header = {"X-Workspace-Id": first["id"]}
    assert_error(await person.call("GET", "/agents", headers=header), 404)


async def test_the_audit_log_names_people_and_keys(person: Person) -> None:
    path = f"/workspaces/{person.user['defaultWorkspaceId']}/audit"
    key = await person.new_key(name="robot")
    [created] = await person.data("GET", path, params={"type": "key.created"})
    assert created["actorName"] == person.user["name"]
    assert created["subjectName"] == "robot"
    assert created["address"] == "127.0.0.1"
    await person.data("DELETE", f"/keys/{key['id']}")
    [deleted] = await person.data("GET", path, params={"type": "key.deleted"})
    assert deleted["data"]["name"] == "robot"
    actions = [e["action"] for e in await person.data("GET", path)]
    assert actions[:2] == ["key.deleted", "key.created"]
    assert {"login.succeeded", "account.registered"} <= set(actions)
    params = {"actor": "usr_nobody"}
    assert await person.data("GET", path, params=params) == []


OLD = datetime(2026, 1, 15, 12, tzinfo=UTC)


async def send_old_and_new(person: Person, **options: Any) -> None:
    """Send a trace of long ago, with words to search for, and one of now."""
    old = span(name="old", start=OLD, kind="llm", input="an ancient question", output="dust")
    new = span(name="new", kind="llm", input="a fresh question", output="dew")
    log = {"message": "ancient line", "timestamp": OLD.isoformat()}
    await asyncio.gather(
        person.data("POST", "/spans", json={"spans": [old, new]}, **options),
        person.data("POST", "/logs", json={"logs": [log]}, **options),
    )


async def names(person: Person, **options: Any) -> list[str]:
    return [trace["name"] for trace in await person.data("GET", "/spans/traces", **options)]


async def test_a_retention_is_previewed_then_removes_only_this_workspace(person: Person) -> None:
    second = await person.data("POST", "/workspaces", json={"name": "Second"})
    await asyncio.gather(send_old_and_new(person), send_old_and_new(person, **in_workspace(second)))
    path = f"/workspaces/{second['id']}"
    counted = await person.data("GET", f"{path}/retention?days=30&contentDays=7")
    assert counted["rows"] == {"spans": 1, "traces": 1, "logs": 1, "metrics": 0, "signals": 0}
    assert counted["spansWithoutContents"] == 1
    changed = await person.data("PUT", path, json={"retentionDays": 30})
    assert changed["retentionDays"] == 30

    async def is_audited() -> bool:
        entries = await person.data("GET", f"{path}/audit", params={"type": "telemetry.expired"})
        return [entry["data"]["removedRows"]["spans"] for entry in entries] == [1]

    await until(is_audited)
    assert await names(person, **in_workspace(second)) == ["new"]
    assert await names(person) == ["new", "old"]
    path_of_total = "/analytics/metrics?startDate=2026-01-01&endDate=2027-01-01"
    kept = await person.data("GET", path_of_total)
    left = await person.data("GET", path_of_total, **in_workspace(second))
    assert (kept["totalTraces"], left["totalTraces"]) == (2, 1)
    again = await person.data("PUT", path, json={"retentionDays": None, "name": "Renamed"})
    assert (again["retentionDays"], again["name"]) == (None, "Renamed")


async def test_contents_may_expire_before_numbers(person: Person) -> None:
    await send_old_and_new(person)
    path = f"/workspaces/{person.user['defaultWorkspaceId']}"
    before = await person.data("GET", "/spans/traces")
    await person.data("PUT", path, json={"contentRetentionDays": 30})

    async def is_removed() -> bool:
        entries = await person.data("GET", f"{path}/audit", params={"type": "contents.expired"})
        return len(entries) == 1

    await until(is_removed)
    after = await person.data("GET", "/spans/traces")
    contents = {"inputPreview", "outputPreview"}
    for old, new in zip(before, after, strict=True):
        is_old = old["name"] == "old"
        gone = {field for field in old if old[field] != new[field]}
        assert gone == (contents & set(old) if is_old else set())
    found = await person.data("GET", "/spans/traces", params={"search": "question"})
    assert [trace["name"] for trace in found] == ["new"]
    old_id = next(trace["traceId"] for trace in after if trace["name"] == "old")
    spans = await person.data("GET", f"/spans/traces/{old_id}")
    assert "ancient" not in str(spans)
    assert "ancient" not in str(await person.data("GET", "/logs"))


async def test_a_retention_is_checked(person: Person, tmp_path: Path) -> None:
    path = f"/workspaces/{person.user['defaultWorkspaceId']}"
    for value in (0, -1, 36_501, "x", 1.5):
        body = {"retentionDays": value}
        assert_error(await person.call("PUT", path, json=body), 400, "retentionDays")
    body = {"retentionDays": 7, "contentRetentionDays": 8}
    assert_error(await person.call("PUT", path, json=body), 400, "contentRetentionDays")
    async with start_service(tmp_path, retention_days=3650) as service:
        other = await service.sign_up()
        path = f"/workspaces/{other.user['defaultWorkspaceId']}"
        body = {"retentionDays": 3651}
        assert_error(await other.call("PUT", path, json=body), 400, "retentionDays")


async def test_the_telemetry_of_a_deleted_workspace_is_removed(
    service: Service, person: Person
) -> None:
    second = await person.data("POST", "/workspaces", json={"name": "Second"})
    await send_old_and_new(person, **in_workspace(second))
    assert await names(person, **in_workspace(second)) == ["new", "old"]
    await person.data("DELETE", f"/workspaces/{second['id']}", json={"name": "Second"})

    async def is_removed() -> bool:
        with service.services.engine.client() as client:
            return all(
                not query_rows(
                    client,
                    f"SELECT 1 FROM {table} WHERE workspace = {{workspace:String}} LIMIT 1",
                    {"workspace": second["id"]},
                )
                for table in ("spans", "traces", "trace_bounds", "logs", "trace_rollup")
            )

    await until(is_removed)


async def test_deletions_and_exports_are_audited(service: Service, person: Person) -> None:
    sent = span(name="a trace")
    await person.data("POST", "/spans", json={"spans": [sent]})
    key = await person.new_key(name="robot")
    period = "startDate=2026-01-01&endDate=2027-01-01"
    download = await service.call_with_key(
        key["key"], "GET", f"/analytics/traces/list?format=csv&{period}"
    )
    assert download.is_success
    await person.data("DELETE", f"/spans/traces/{sent['traceId']}")
    agent = await person.data("POST", "/agents", json={"name": "helper"})
    await person.data("DELETE", f"/agents/{agent['id']}")
    path = f"/workspaces/{person.user['defaultWorkspaceId']}/audit"
    found = {e["action"]: e for e in await person.data("GET", path)}
    assert found["traces.exported"]["actorName"] == "robot"
    assert found["traces.exported"]["data"] == {"format": "csv"}
    assert found["trace.deleted"]["subject"] == sent["traceId"]
    assert found["agent.deleted"]["data"] == {"name": "helper"}
    assert found["agent.deleted"]["actorName"] == person.user["name"]
