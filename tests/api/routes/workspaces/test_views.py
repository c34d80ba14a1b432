"""Saved views: who sees and changes them, and what they may contain."""

from typing import Any

from support.service import Person, Service, assert_error
from support.teams import Team

VIEW = {"name": " Failed runs ", "page": "traces", "query": {"status": "error", "range": "24h"}}


async def call(person: Person, team: Team, method: str, path: str, **options: Any) -> Any:
    return await person.call(method, path, headers=team.header, **options)


async def names(person: Person, team: Team, **params: Any) -> list[str]:
    response = await call(person, team, "GET", "/views", params=params)
    return [view["name"] for view in response.json()["data"]]


async def test_a_view_is_created_read_changed_and_deleted(team: Team) -> None:
    response = await call(team.editor, team, "POST", "/views", json=VIEW)
    assert response.status_code == 201
    made = response.json()["data"]
    assert made["id"].startswith("viw_")
    assert (made["name"], made["page"], made["query"]) == ("Failed runs", "traces", VIEW["query"])
    assert (made["isShared"], made["ownerId"]) == (False, team.editor.user["id"])
    path = f"/views/{made['id']}"
    change = {"name": "Failures", "query": {"status": "error"}}
    changed = (await call(team.editor, team, "PUT", path, json=change)).json()["data"]
    assert changed == {**made, **change, "updatedAt": changed["updatedAt"]}
    assert changed["updatedAt"] > made["updatedAt"]
    assert (await call(team.editor, team, "GET", path)).json()["data"] == changed
    deleted = await call(team.editor, team, "DELETE", path)
    assert deleted.json()["data"] == {"id": made["id"], "deleted": True}
    assert_error(await call(team.editor, team, "GET", path), 404)


async def test_others_see_a_view_only_if_it_is_shared(team: Team) -> None:
    made = (await call(team.editor, team, "POST", "/views", json=VIEW)).json()["data"]
    path = f"/views/{made['id']}"
    for other in (team.owner, team.admin, team.viewer):
        assert await names(other, team) == []
        assert_error(await call(other, team, "GET", path), 404)
    assert_error(await call(team.admin, team, "PUT", path, json={"isShared": True}), 404)
    await call(team.editor, team, "PUT", path, json={"isShared": True})
    for other in (team.owner, team.admin, team.viewer):
        assert await names(other, team) == ["Failed runs"]
        assert (await call(other, team, "GET", path)).status_code == 200


async def test_a_key_sees_no_private_view_of_the_person_who_made_it(
    service: Service, person: Person
) -> None:
    private = await person.data("POST", "/views", json=VIEW)
    shared = await person.data("POST", "/views", json={**VIEW, "isShared": True})
    headers = {"x-api-key": (await person.new_key(scopes=["full"]))["key"]}
    own = await service.call("POST", "/views", headers=headers, json=VIEW)
    listed = await service.call("GET", "/views", headers=headers)
    ids = [view["id"] for view in listed.json()["data"]]
    assert ids == [own.json()["data"]["id"], shared["id"]]
    path = f"/views/{private['id']}"
    for method in ("GET", "DELETE"):
        assert_error(await service.call(method, path, headers=headers), 404)
    changed = await service.call("PUT", path, headers=headers, json={"name": "Mine"})
    assert_error(changed, 404)


async def test_only_the_owner_and_admins_change_a_shared_view(team: Team) -> None:
    shared = {**VIEW, "isShared": True}
    made = (await call(team.admin, team, "POST", "/views", json=shared)).json()["data"]
    path = f"/views/{made['id']}"
    for method, body in (("PUT", {"name": "mine"}), ("DELETE", None)):
        for person in (team.viewer, team.editor):
            options = {} if body is None else {"json": body}
            assert_error(await call(person, team, method, path, **options), 403)
    assert (await call(team.owner, team, "PUT", path, json={"name": "ours"})).status_code == 200
    assert_error(await call(team.viewer, team, "POST", "/views", json=VIEW), 403)


async def test_views_are_listed_by_page_and_audited(team: Team) -> None:
    for page in ("traces", "sessions", "traces"):
        await call(team.owner, team, "POST", "/views", json={**VIEW, "name": page, "page": page})
    assert await names(team.owner, team) == ["traces", "sessions", "traces"]
    assert await names(team.owner, team, page="sessions") == ["sessions"]
    response = await call(team.owner, team, "GET", "/views", params={"limit": 1, "skip": 1})
    assert response.json()["pagination"]["total"] == 3
    entries = await team.owner.data("GET", f"{team.path}/audit", params={"type": "view.created"})
    assert [entry["data"]["name"] for entry in entries] == ["traces", "sessions", "traces"]


async def test_an_invalid_view_is_refused(person: Person) -> None:
    made = await person.data("POST", "/views", json=VIEW)
    changes: list[tuple[dict[str, Any], str]] = [
        ({"name": ""}, "name"),
        ({"page": "Not a page"}, "page"),
        ({"query": []}, "query"),
        ({"query": {"text": "x" * 20_000}}, "query"),
        ({"query": {"text": "\x00"}}, "query"),
        ({"isShared": "yes"}, "isShared"),
    ]
    for change, field in changes:
        assert_error(await person.call("POST", "/views", json={**VIEW, **change}), 400, field)
        assert_error(await person.call("PUT", f"/views/{made['id']}", json=change), 400, field)


async def test_a_deleted_workspace_has_no_views_left(service: Service, team: Team) -> None:
    made = (await call(team.owner, team, "POST", "/views", json=VIEW)).json()["data"]
    await team.owner.data("DELETE", team.path, json={"name": "Team"})
    async with service.services.catalog.read() as tx:
        found = await tx.exec_driver_sql(f"SELECT count(*) FROM views WHERE id = '{made['id']}'")
        assert found.scalar_one() == 0
