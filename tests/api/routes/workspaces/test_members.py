"""Members: who may see, change and remove whom."""

from support.service import Person, Service, assert_error
from support.teams import Team, join


async def test_members_share_everything_in_a_workspace(team: Team) -> None:
    await team.owner.data("POST", "/agents", json={"name": "shared"}, headers=team.header)
    [seen] = await team.viewer.data("GET", "/agents", headers=team.header)
    assert seen["name"] == "shared"
    members = await team.viewer.data("GET", f"{team.path}/members")
    assert [member["role"] for member in members] == ["owner", "admin", "editor", "viewer"]
    assert members[1]["email"] == team.admin.email


async def test_a_role_decides_what_a_member_may_do(team: Team) -> None:
    agent, key = {"name": "an agent"}, {"name": "a key"}
    hook = {"url": "https://hooks.invalid/"}
    allowed = {
        "viewer": (403, 403, 403),
        "editor": (201, 403, 403),
        "admin": (201, 201, 201),
        "owner": (201, 201, 201),
    }
    for role, person in team.by_role.items():
        named = {**agent, "name": f"agent of {role}"}
        calls = (("/agents", named), ("/keys", key), ("/events/webhooks", hook))
        statuses = [
            (await person.call("POST", path, json=body, headers=team.header)).status_code
            for path, body in calls
        ]
        assert tuple(statuses) == allowed[role], role


async def test_a_removed_member_is_out_at_once(team: Team) -> None:
    key = (await team.admin.data("POST", "/keys", json={"name": "k"}, headers=team.header))["key"]
    await team.owner.data("DELETE", f"{team.path}/members/{team.admin.user['id']}")
    assert_error(await team.admin.call("GET", "/agents", headers=team.header), 404)
    assert_error(await team.admin.call("GET", f"{team.path}/members"), 404)
    # The key belongs to the workspace.
    assert (await team.admin.http.get("/api/agents", headers={"x-api-key": key})).is_success
    # Without a choice, requests go to the workspace that is left.
    assert (await team.admin.call("GET", "/agents")).is_success


async def test_a_changed_role_takes_effect_at_once(team: Team) -> None:
    path = f"{team.path}/members/{team.viewer.user['id']}"
    body = {"name": "an agent"}
    assert_error(await team.viewer.call("POST", "/agents", json=body, headers=team.header), 403)
    changed = await team.admin.data("PUT", path, json={"role": "editor"})
    assert changed["role"] == "editor"
    await team.viewer.data("POST", "/agents", json=body, headers=team.header)


async def test_everybody_may_leave_but_the_last_owner(team: Team) -> None:
    await team.viewer.data("DELETE", f"{team.path}/members/{team.viewer.user['id']}")
    own = f"{team.path}/members/{team.owner.user['id']}"
    assert_error(await team.owner.call("DELETE", own), 400)
    assert_error(await team.owner.call("PUT", own, json={"role": "admin"}), 400)
    members = await team.owner.data("GET", f"{team.path}/members")
    assert [member["role"] for member in members] == ["owner", "admin", "editor"]


async def test_an_owner_hands_over(team: Team) -> None:
    admin, owner = (f"{team.path}/members/{p.user['id']}" for p in (team.admin, team.owner))
    await team.owner.data("PUT", admin, json={"role": "owner"})
    await team.owner.data("PUT", owner, json={"role": "viewer"})
    assert_error(await team.owner.call("PUT", admin, json={"role": "viewer"}), 403)
    await team.admin.data("DELETE", owner)


async def test_an_admin_cannot_make_or_change_an_owner(team: Team) -> None:
    paths = [f"{team.path}/members/{p.user['id']}" for p in (team.editor, team.owner)]
    assert_error(await team.admin.call("PUT", paths[0], json={"role": "owner"}), 403)
    assert_error(await team.admin.call("PUT", paths[1], json={"role": "viewer"}), 403)
    assert_error(await team.admin.call("DELETE", paths[1]), 403)
    body = {"email": "new@example.com", "role": "owner"}
    assert_error(await team.admin.call("POST", f"{team.path}/invitations", json=body), 403)


async def test_only_admins_remove_others(team: Team) -> None:
    path = f"{team.path}/members/{team.viewer.user['id']}"
    assert_error(await team.editor.call("DELETE", path), 403)
    await team.admin.data("DELETE", path)
    assert_error(await team.admin.call("DELETE", path), 404)


async def test_a_person_without_a_workspace_can_make_one(service: Service, team: Team) -> None:
    person = await service.sign_up()
    [own] = await person.data("GET", "/workspaces")
    await join(team.owner, person, team.path, "viewer")
    await person.data("DELETE", f"/workspaces/{own['id']}", json={"name": own["name"]})
    await team.owner.data("DELETE", f"{team.path}/members/{person.user['id']}")
    assert await person.data("GET", "/workspaces") == []
    assert_error(await person.call("GET", "/agents"), 404)
    await person.data("POST", "/workspaces", json={"name": "New"})
    assert await person.data("GET", "/agents") == []


async def test_a_workspace_keeps_an_active_owner(service: Service, person: Person) -> None:
    """The operator may disable a sole owner; the members left cannot make it worse."""
    assert_error(
        await person.call(
            "DELETE",
            f"/workspaces/{person.user['defaultWorkspaceId']}/members/{person.user['id']}",
        ),
        400,
    )
