"""The role claim: puts a person into workspaces, at every sign-in."""

from collections.abc import Iterable, Mapping

import structlog

from spanwise.model.workspaces import WorkspaceRole
from spanwise.services.workspaces.members import put_member
from spanwise.storage.catalog import Transaction

log = structlog.get_logger()

MAX_ENTRIES = 100


def read_roles(value: object) -> dict[str, WorkspaceRole]:
    """Read `["wsp_…:role"]`, `{"wsp_…": "role"}` or `"wsp_…:role wsp_…:role"`.

    Other entries are logged and ignored: a claim may be made of the names of all groups. Of two
    roles in one workspace, the higher one counts.
    """
    roles: dict[str, WorkspaceRole] = {}
    for workspace_id, name in _entries(value):
        if not workspace_id or name not in list(WorkspaceRole):
            log.info("role_claim_ignored", entry=f"{workspace_id}:{name}"[:200])
            continue
        role = WorkspaceRole(name)
        if workspace_id not in roles or role.includes(roles[workspace_id]):
            roles[workspace_id] = role
    return roles


def _entries(value: object) -> Iterable[tuple[str, str]]:
    if isinstance(value, Mapping):
        pairs = [(str(workspace_id), str(role)) for workspace_id, role in value.items()]
        return pairs[:MAX_ENTRIES]
    words = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(words, list):
        return []
    split = (str(word).rpartition(":") for word in words[:MAX_ENTRIES])
    return [(workspace_id.strip(), role.strip()) for workspace_id, _, role in split]


async def apply_roles(
    tx: Transaction, user_id: str, roles: Mapping[str, WorkspaceRole], address: str | None
) -> list[str]:
    """Give the person these roles; return the workspaces in which they now have one.

    Memberships that the claim does not mention stay as they are.
    """
    applied = []
    for workspace_id, role in roles.items():
        problem = await put_member(tx, workspace_id, user_id, role, address)
        if problem is None:
            applied.append(workspace_id)
        else:
            log.warning("role_claim_ignored", entry=f"{workspace_id}:{role}", problem=problem)
    return applied
