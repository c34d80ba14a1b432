"""Finds or creates the account of a person whom the provider has authenticated."""

from dataclasses import dataclass

from spanwise.model.accounts import Account
from spanwise.model.api_model import utc_now
from spanwise.model.errors import SpanwiseError
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services import audit
from spanwise.services.accounts.passwords import NO_PASSWORD
from spanwise.services.accounts.registration import NewAccount, add_account, lock_registration
from spanwise.services.single_sign_on.identity import Identity
from spanwise.services.single_sign_on.refusals import Reason, SignInRefused
from spanwise.services.single_sign_on.role_claim import apply_roles
from spanwise.services.single_sign_on.take_over import METHOD, TakeOver, take_over
from spanwise.services.workspaces.invitations import accept_invitation
from spanwise.storage.catalog import Transaction
from spanwise.storage.catalog.accounts import users as stored


@dataclass(frozen=True)
class Admission:
    identity: Identity
    roles: dict[str, WorkspaceRole]
    invitation: str | None
    may_create: bool
    address: str | None


async def admit(tx: Transaction, admission: Admission) -> tuple[Account, TakeOver | None]:
    """Return the account, after it was created, linked, invited and given its roles.

    If its address had never been verified, also return what others have lost.
    """
    account = await stored.find_account_by_email(tx, admission.identity.email)
    is_new = False
    if account is None:
        account, is_new = await _find_or_create(tx, admission)
    if account.user.disabled:
        raise SignInRefused(Reason.ACCOUNT_DISABLED)
    user_id = account.user.id
    taken = None
    if not account.user.email_verified:
        taken = await take_over(tx, account, admission.address)
    joined = await apply_roles(tx, user_id, admission.roles, admission.address)
    if is_new and joined:
        await stored.update_user(tx, user_id, {"default_workspace_id": joined[0]})
    if admission.invitation is not None:
        await _accept_invitation(tx, user_id, admission, admission.invitation)
    await stored.update_user(tx, user_id, {"last_login_at": utc_now()})
    account = await _read(tx, user_id)
    if is_new:
        await audit.record(
            tx,
            "account.registered",
            workspace=account.user.default_workspace_id,
            actor=user_id,
            address=admission.address,
            method=METHOD,
        )
    await audit.record(
        tx, "login.succeeded", actor=user_id, address=admission.address, method=METHOD
    )
    return account, taken


async def _find_or_create(tx: Transaction, admission: Admission) -> tuple[Account, bool]:
    is_first = await lock_registration(tx)
    # Another tab of the same person may have been faster.
    account = await stored.find_account_by_email(tx, admission.identity.email)
    if account is not None:
        return account, False
    if not admission.may_create and admission.invitation is None:
        raise SignInRefused(Reason.ACCOUNT_MISSING)
    new = NewAccount(
        admission.identity.email, admission.identity.name, NO_PASSWORD, is_verified=True
    )
    return await add_account(tx, new, is_first=is_first), True


async def _accept_invitation(
    tx: Transaction, user_id: str, admission: Admission, token: str
) -> None:
    try:
        await accept_invitation(tx, token, user_id, admission.identity.email, admission.address)
    except SpanwiseError as error:
        raise SignInRefused(Reason.INVITATION_REJECTED, error.message) from None


async def _read(tx: Transaction, user_id: str) -> Account:
    account = await stored.find_account(tx, user_id)
    if account is None:
        raise SignInRefused(Reason.ACCOUNT_MISSING)
    return account
