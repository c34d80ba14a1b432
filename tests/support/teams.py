"""A workspace with a member of every role."""

from dataclasses import dataclass
from functools import cached_property

from support.service import Person, Service


@dataclass
class Team:
    workspace_id: str
    by_role: dict[str, Person]

    @property
    def path(self) -> str:
        return f"/workspaces/{self.workspace_id}"

    @cached_property
    def header(self) -> dict[str, str]:
        return {"X-Workspace-Id": self.workspace_id}

    @property
    def owner(self) -> Person:
        return self.by_role["owner"]

    @property
    def admin(self) -> Person:
        return self.by_role["admin"]

    @property
    def editor(self) -> Person:
        return self.by_role["editor"]

    @property
    def viewer(self) -> Person:
        return self.by_role["viewer"]


async def make_team(service: Service) -> Team:
    owner = await service.sign_up()
    workspace = await owner.data("POST", "/workspaces", json={"name": "Team"})
    team = Team(workspace["id"], {"owner": owner})
    for role in ("admin", "editor", "viewer"):
        person = await service.sign_up()
        await join(owner, person, team.path, role)
        team.by_role[role] = person
    return team


async def join(inviter: Person, person: Person, path: str, role: str) -> None:
    """Invite a person, who accepts."""
    body = {"email": person.email, "role": role}
    invitation = await inviter.data("POST", f"{path}/invitations", json=body)
    token = invitation["link"].partition("token=")[2]
    await person.data("POST", "/invitations/accept", json={"token": token})
