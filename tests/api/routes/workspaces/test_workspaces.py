"""Workspaces: what a member of several can see and change."""

from typing import Any

from support.service import Person, Service, assert_error


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
