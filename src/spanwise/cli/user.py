"""`spanwise user`: adds accounts and changes roles from the command line."""

import asyncio
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from spanwise.api.requests.fields import Email
from spanwise.cli.log_setup import configure_logs
from spanwise.model.accounts import Role, User
from spanwise.model.errors import StartError
from spanwise.settings import Settings, load_settings
from spanwise.wiring.commands import open_accounts

app = typer.Typer(
    help="Add accounts and change roles.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.command("add")
def add(
    email: str,
    password: Annotated[str, typer.Option(prompt=True, hide_input=True)],
    name: Annotated[str | None, typer.Option()] = None,
) -> None:
    """Create an account, even if registration is closed."""
    address = _valid_email(email)
    settings = load_settings(open_registration=True)
    user = asyncio.run(_add(settings, address, password, name or address.partition("@")[0]))
    print(f"{user.id} {user.email} {user.role}")


@app.command("role")
def role(email: str, role: Role) -> None:
    """Make an account admin or member."""
    user = asyncio.run(_set_role(load_settings(), _valid_email(email), role))
    print(f"{user.email} is {user.role}")


async def _add(settings: Settings, email: str, password: str, name: str) -> User:
    configure_logs(settings)
    async with open_accounts(settings) as accounts:
        return await accounts.register(email, password, name, None, is_verified=True)


async def _set_role(settings: Settings, email: str, role: Role) -> User:
    configure_logs(settings)
    async with open_accounts(settings) as accounts:
        return await accounts.set_role(email, role)


def _valid_email(text: str) -> str:
    try:
        valid: str = TypeAdapter(Email).validate_python(text)
    except ValidationError as error:
        raise StartError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    return valid
