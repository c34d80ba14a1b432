"""`spanwise workspace`: lists workspaces and changes their members from the command line."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from spanwise.cli.log_setup import configure_logs
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services.accounts.emails import normalize_email
from spanwise.services.workspaces.operations import WorkspaceOperations
from spanwise.settings import load_settings
from spanwise.wiring.commands import open_workspaces

T = TypeVar("T")

app = typer.Typer(
    help="List workspaces and change their members.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Id = Annotated[str, typer.Argument(help="Id of the workspace, such as wsp_01j9….")]


@app.command("list")
def list_() -> None:
    """List all workspaces: id, members, owners, name."""
    for found in _run(lambda operations: operations.list_workspaces()):
        print(f"{found.id}  {found.members:>4}  {', '.join(found.owners)}  {found.name}")


@app.command("members")
def members(workspace: Id) -> None:
    """List the members of a workspace."""
    for member in _run(lambda operations: operations.list_members(workspace)):
        state = " (disabled)" if member.disabled else ""
        print(f"{member.role:<6}  {member.email}  {member.name}{state}")


@app.command("member")
def member(workspace: Id, email: str, role: WorkspaceRole) -> None:
    """Add a member, or change the role of one."""
    _run(lambda operations: operations.put_member(workspace, normalize_email(email), role))
    print(f"{email} is {role} of {workspace}")


@app.command("remove")
def remove(workspace: Id, email: str) -> None:
    """Remove a member."""
    _run(lambda operations: operations.remove_member(workspace, normalize_email(email)))
    print(f"{email} is no longer a member of {workspace}")


def _run(work: Callable[[WorkspaceOperations], Awaitable[T]]) -> T:
    settings = load_settings()
    configure_logs(settings)

    async def run() -> T:
        async with open_workspaces(settings) as operations:
            return await work(operations)

    return asyncio.run(run())
