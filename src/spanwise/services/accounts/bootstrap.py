"""Headless setup: the first admin, workspace and key of an empty installation, from settings."""

import structlog

from spanwise.model.errors import SpanwiseError, StartError
from spanwise.model.keys import Scope
from spanwise.services import audit
from spanwise.services.accounts.emails import normalize_email
from spanwise.services.accounts.keys import new_key
from spanwise.services.accounts.passwords import check_password, hash_password
from spanwise.services.accounts.registration import NewAccount, add_account, lock_registration
from spanwise.services.tokens import hash_secret
from spanwise.settings import Settings
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.accounts import keys as stored_keys
from spanwise.storage.catalog.accounts import users as stored_users
from spanwise.storage.catalog.accounts.workspaces import update_workspace

log = structlog.get_logger()


async def bootstrap(settings: Settings, catalog: Catalog) -> None:
    """Create what the settings name, all or nothing, unless there is an account already."""
    if settings.bootstrap_admin_email is None:
        return
    async with catalog.read() as tx:
        if await stored_users.count_users(tx):
            return
    email = normalize_email(settings.bootstrap_admin_email)
    password_hash = await hash_password(_read_password(settings))
    async with catalog.write() as tx:
        # Another replica may have been faster.
        if not await lock_registration(tx):
            return
        # The operator vouches for the address.
        new = NewAccount(email, email.partition("@")[0], password_hash, is_verified=True)
        user = (await add_account(tx, new, is_first=True)).user
        workspace_id = user.default_workspace_id or ""
        if settings.bootstrap_workspace:
            await update_workspace(tx, workspace_id, {"name": settings.bootstrap_workspace})
        if settings.bootstrap_ingest_key is not None:
            secret = settings.bootstrap_ingest_key.get_secret_value()
            key = new_key(workspace_id, "bootstrap", [Scope.INGEST], None, secret)
            await stored_keys.add_key(tx, user.id, key, hash_secret(secret))
        await audit.record(tx, "account.bootstrapped", workspace=workspace_id, subject=user.id)
    log.info("bootstrapped", email=email, workspace=workspace_id)


def _read_password(settings: Settings) -> str:
    try:
        if settings.bootstrap_admin_password_file is not None:
            password = settings.bootstrap_admin_password_file.read_text().strip()
        elif settings.bootstrap_admin_password is not None:
            password = settings.bootstrap_admin_password.get_secret_value()
        else:
            raise StartError(
                "SPANWISE_BOOTSTRAP_ADMIN_EMAIL needs SPANWISE_BOOTSTRAP_ADMIN_PASSWORD or "
                "SPANWISE_BOOTSTRAP_ADMIN_PASSWORD_FILE"
            )
        check_password(password)
    except OSError as error:
        raise StartError(
            f"cannot read SPANWISE_BOOTSTRAP_ADMIN_PASSWORD_FILE: {error.strerror}"
        ) from None
    except StartError:
        raise
    except SpanwiseError as error:
        raise StartError(f"SPANWISE_BOOTSTRAP_ADMIN_PASSWORD: {error.message}") from None
    return password
