"""Invitations: for one address, once, within seven days."""

from datetime import timedelta
from typing import Any

import pytest

from spanwise.model.api_model import utc_now
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services.workspaces import invitations as module
from spanwise.services.workspaces.operations import WorkspaceOperations
from spanwise.storage.catalog.accounts.workspaces import update_member
from support.service import (
    OPERATOR,
    PASSWORD,
    Person,
    Service,
    assert_error,
    link_token,
    new_email,
    start_service,
)
from support.teams import Team, join


async def invite(team: Team, email: str, role: str = "editor") -> str:
    """Invite somebody and return the token of the link."""
    body = {"email": email, "role": role}
    invitation = await team.admin.data("POST", f"{team.path}/invitations", json=body)
    token: str = invitation["link"].partition("token=")[2]
    return token


async def test_the_mail_says_who_invited_into_what(service: Service, team: Team) -> None:
    email = new_email()
    token = await invite(team, email.upper())
    [mail] = await service.mails_to(email)
    assert link_token(mail) == token
    assert team.admin.user["name"] in mail
    assert "Team" in mail
    preview = (await service.call("GET", "/invitations/preview", params={"token": token})).json()
    about = preview["data"]
    assert (about["email"], about["workspaceName"], about["role"]) == (email, "Team", "editor")
    assert about["invitedBy"] == team.admin.user["name"]
    assert about["hasAccount"] is False


async def test_a_new_person_registers_into_the_workspace(service: Service, team: Team) -> None:
    email = new_email()
    body = {"email": email, "password": PASSWORD, "invitation": await invite(team, email)}
    assert (await service.call("POST", "/auth/register", json=body)).status_code == 201
    person = await service.log_in(email)
    assert person.user["defaultWorkspaceId"] == team.workspace_id
    roles = [workspace["role"] for workspace in await person.data("GET", "/workspaces")]
    assert sorted(roles) == ["editor", "owner"]


async def test_an_invitation_works_where_registration_is_closed(tmp_path: Any) -> None:
    async with start_service(tmp_path, open_registration=False) as service:
        owner = await service.sign_up()
        path = f"/workspaces/{owner.user['defaultWorkspaceId']}/invitations"
        email = new_email()
        invited = await owner.data("POST", path, json={"email": email, "role": "viewer"})
        body = {"email": email, "password": PASSWORD}
        assert_error(await service.call("POST", "/auth/register", json=body), 403)
        body["invitation"] = "forged"
        assert_error(await service.call("POST", "/auth/register", json=body), 400, "token")
        body["invitation"] = invited["link"].partition("token=")[2]
        other = {**body, "email": new_email()}
        assert_error(await service.call("POST", "/auth/register", json=other), 403)
        assert (await service.call("POST", "/auth/register", json=body)).status_code == 201
        again = {**body, "email": new_email()}
        assert_error(await service.call("POST", "/auth/register", json=again), 400, "token")


async def test_only_the_invited_address_may_accept_and_once(
    service: Service, team: Team, person: Person
) -> None:
    token = await invite(team, person.email)
    stranger = await service.sign_up()
    accept = ("POST", "/invitations/accept")
    assert_error(await stranger.call(*accept, json={"token": token}), 403)
    joined = await person.data(*accept, json={"token": token})
    assert (joined["id"], joined["role"]) == (team.workspace_id, "editor")
    assert_error(await person.call(*accept, json={"token": token}), 400, "token")


async def test_a_member_cannot_be_invited_again(team: Team) -> None:
    body = {"email": team.viewer.email, "role": "admin"}
    assert_error(await team.owner.call("POST", f"{team.path}/invitations", json=body), 400, "email")


async def test_a_withdrawn_or_replaced_link_stops_working(team: Team, person: Person) -> None:
    first = await invite(team, person.email)
    second = await invite(team, person.email, "viewer")
    accept = ("POST", "/invitations/accept")
    assert_error(await person.call(*accept, json={"token": first}), 400, "token")
    [listed] = await team.admin.data("GET", f"{team.path}/invitations")
    assert (listed["email"], listed["role"]) == (person.email, "viewer")
    assert "link" not in listed
    assert listed["invitedBy"] == team.admin.user["name"]
    await team.admin.data("DELETE", f"{team.path}/invitations/{listed['id']}")
    assert_error(await person.call(*accept, json={"token": second}), 400, "token")
    gone = await team.admin.call("DELETE", f"{team.path}/invitations/{listed['id']}")
    assert_error(gone, 404)


async def test_a_link_expires(team: Team, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    token = await invite(team, person.email)
    late = utc_now() + timedelta(days=7, seconds=1)
    monkeypatch.setattr(module, "utc_now", lambda: late)
    response = await person.call("POST", "/invitations/accept", json={"token": token})
    assert_error(response, 400, "token")
    assert await team.admin.data("GET", f"{team.path}/invitations") == []


async def test_open_invitations_are_bounded(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_OPEN", 2)
    await invite(team, new_email())
    await invite(team, new_email())
    body = {"email": new_email(), "role": "viewer"}
    assert_error(await team.admin.call("POST", f"{team.path}/invitations", json=body), 429)


async def invite_as(person: Person, team: Team, role: str) -> dict[str, str]:
    """Let a member invite an address; return the body that accepts."""
    body = {"email": new_email(), "role": role}
    link = (await person.data("POST", f"{team.path}/invitations", json=body))["link"]
    return {"email": body["email"], "token": link.partition("token=")[2]}


@pytest.mark.parametrize(
    "change", ["removed", "demoted", "left", "removed by a command", "demoted by a command"]
)
async def test_who_may_no_longer_invite_leaves_no_open_invitation(
    service: Service, team: Team, change: str
) -> None:
    invited = await invite_as(team.admin, team, "admin")
    kept = await invite_as(team.owner, team, "admin")
    member = f"{team.path}/members/{team.admin.user['id']}"
    commands = WorkspaceOperations(service.services.catalog)
    match change:
        case "demoted":
            await team.owner.data("PUT", member, json={"role": "editor"})
        case "demoted by a command":
            await commands.put_member(team.workspace_id, team.admin.email, WorkspaceRole.EDITOR)
        case "removed by a command":
            await commands.remove_member(team.workspace_id, team.admin.email)
        case _:
            leaver = team.admin if change == "left" else team.owner
            await leaver.data("DELETE", member)
    listed = await team.owner.data("GET", f"{team.path}/invitations")
    assert [invitation["email"] for invitation in listed] == [kept["email"]]
    friend = await service.sign_up(invited["email"])
    accept = {"token": invited["token"]}
    assert_error(await friend.call("POST", "/invitations/accept", json=accept), 400, "token")
    log = await team.owner.data(
        "GET", f"{team.path}/audit", params={"type": "invitation.withdrawn"}
    )
    assert [entry["subject"] for entry in log] == [invited["email"]]


async def test_an_owner_who_becomes_admin_keeps_invitations_that_an_admin_may_make(
    service: Service, team: Team
) -> None:
    second = await service.sign_up()
    await join(team.owner, second, team.path, "owner")
    too_high = await invite_as(second, team, "owner")
    fine = await invite_as(second, team, "editor")
    path = f"{team.path}/members/{second.user['id']}"
    await team.owner.data("PUT", path, json={"role": "admin"})
    listed = await team.owner.data("GET", f"{team.path}/invitations")
    assert [invitation["email"] for invitation in listed] == [fine["email"]]
    assert too_high["email"] not in str(listed)


async def test_the_inviter_is_checked_again_when_an_invitation_is_accepted(
    service: Service, team: Team
) -> None:
    """Disabling an account withdraws nothing, because it can be undone."""
    invited = await invite_as(team.admin, team, "editor")
    operator = await service.log_in(OPERATOR)
    user = f"/admin/users/{team.admin.user['id']}"
    friend = await service.sign_up(invited["email"])
    accept = {"token": invited["token"]}
    await operator.data("PUT", user, json={"disabled": True})
    assert_error(await friend.call("POST", "/invitations/accept", json=accept), 400, "token")
    await operator.data("PUT", user, json={"disabled": False})
    await friend.data("POST", "/invitations/accept", json=accept)


async def test_an_invitation_that_was_left_does_not_exceed_the_role_of_its_inviter(
    service: Service, team: Team
) -> None:
    """Even if it was not withdrawn, as of demotions before there was any withdrawal."""
    invited = await invite_as(team.admin, team, "admin")
    friend = await service.sign_up(invited["email"])
    async with service.services.catalog.write() as tx:
        await update_member(tx, team.workspace_id, team.admin.user["id"], WorkspaceRole.EDITOR)
    accept = {"token": invited["token"]}
    assert_error(await friend.call("POST", "/invitations/accept", json=accept), 400, "token")
