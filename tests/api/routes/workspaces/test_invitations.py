"""Invitations: for one address, once, within seven days."""

from datetime import timedelta
from typing import Any

import pytest

from spanwise.model.api_model import utc_now
from spanwise.services.workspaces import invitations as module
from support.service import (
    PASSWORD,
    Person,
    Service,
    assert_error,
    link_token,
    new_email,
    start_service,
)
from support.teams import Team


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
