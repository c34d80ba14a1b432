"""`spanwise user`: accounts from the command line, for closed installations and lost admins."""

import asyncio
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from spanwise.actions.accounts import normalize_email
from spanwise.api.bodies import Email
from spanwise.app import open_services
from spanwise.cli.logs import configure_logs
from spanwise.model.accounts import Role, User
from spanwise.model.errors import StartError
from spanwise.settings import Settings, load_settings
from spanwise.storage.catalog import users as stored

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
    """Create an account, also while registration is closed."""
    address = _valid_email(email)
    settings = load_settings(open_registration=True)
    user = asyncio.run(_add(settings, address, password, name or address.partition("@")[0]))
    print(f"{user.id} {user.email} {user.role}")


@app.command("role")
def role(email: str, role: Role) -> None:
    """Make an account admin or member."""
    asyncio.run(_set_role(load_settings(), _valid_email(email), role))
    print(f"{email} is {role}")


async def _add(settings: Settings, email: str, password: str, name: str) -> User:
    configure_logs(settings)
    async with open_services(settings) as services:
        return await services.accounts.register(email, password, name, None)


async def _set_role(settings: Settings, email: str, role: Role) -> None:
    configure_logs(settings)
    async with open_services(settings) as services:
        async with services.catalog.read() as tx:
            account = await stored.find_account_by_email(tx, normalize_email(email))
        if account is None:
            raise StartError(f"there is no account {email}")
        await services.accounts.administer(None, account.user.id, role, None, None)


def _valid_email(text: str) -> str:
    try:
        valid: str = TypeAdapter(Email).validate_python(text)
    except ValidationError as error:
        raise StartError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
    return valid
