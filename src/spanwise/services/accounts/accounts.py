"""Accounts: registration, sign-in, e-mail verification, passwords, and administration."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from spanwise.model.accounts import (
    Account,
    AdminUser,
    Principal,
    Role,
    SignInOptions,
    SingleSignOnOption,
    TokenPurpose,
    User,
)
from spanwise.model.api_model import utc_now
from spanwise.model.errors import Forbidden, Invalid, NotFound, RateLimited, Unauthorized
from spanwise.services import audit
from spanwise.services.access import Access
from spanwise.services.accounts.emails import normalize_email
from spanwise.services.accounts.passwords import check_password, hash_password, verify_password
from spanwise.services.accounts.registration import (
    ACCOUNTS_LOCK,
    NewAccount,
    add_account,
    lock_registration,
)
from spanwise.services.notifications.mail import Mail, Mailer
from spanwise.services.tokens import SignIn, TokenSigner, hash_secret, new_secret, new_sign_in
from spanwise.services.workspaces.invitations import accept_invitation
from spanwise.settings import Settings
from spanwise.storage.catalog import Catalog, Transaction
from spanwise.storage.catalog.accounts import users as stored
from spanwise.storage.catalog.database import serialize_writers
from spanwise.storage.counters import Count, Counters, Limit

VERIFY_LIFETIME = timedelta(hours=48)
RESET_LIFETIME = timedelta(hours=1)
FAILED_LOGINS = Limit("failed-logins", 20, window_seconds=15 * 60)

_WRONG_CREDENTIALS = "Incorrect e-mail or password"


class Accounts:
    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        counters: Counters,
        mailer: Mailer,
        signer: TokenSigner,
        access: Access,
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._counters = counters
        self._mailer = mailer
        self._signer = signer
        self._access = access

    async def find_sign_in_options(self) -> SignInOptions:
        async with self._catalog.read() as tx:
            has_accounts = await stored.has_users(tx)
        settings = self._settings
        single_sign_on = SingleSignOnOption(name=settings.oidc_name)
        return SignInOptions(
            has_accounts=has_accounts,
            open_registration=settings.open_registration,
            password_login=settings.password_login,
            single_sign_on=single_sign_on if settings.has_single_sign_on else None,
        )

    async def register(
        self,
        email: str,
        password: str,
        name: str,
        address: str | None,
        invitation: str | None = None,
        *,
        is_verified: bool = False,
    ) -> User:
        """Create an account and its workspace. The first account becomes admin.

        An invitation also makes it a member of another workspace, even if registration is closed.
        """
        email = normalize_email(email)
        check_password(password)
        password_hash = await hash_password(password)
        async with self._catalog.write() as tx:
            is_first = await lock_registration(tx)
            is_open = self._settings.open_registration or invitation is not None
            if not is_first and not is_open:
                raise Forbidden("registration is closed on this installation")
            new = NewAccount(email, name, password_hash, is_verified)
            account = await add_account(tx, new, is_first=is_first)
            if invitation is not None:
                await accept_invitation(tx, invitation, account.user.id, email, address)
            account = await _require(tx, account.user.id)
            mail = None if is_verified else await self._verification_mail(tx, account)
            await audit.record(
                tx,
                "account.registered",
                workspace=account.user.default_workspace_id,
                actor=account.user.id,
                address=address,
            )
        if mail is not None:
            self._mailer.send_in_background(mail)
        return account.user

    async def login(self, email: str, password: str, address: str | None) -> SignIn:
        """Sign in. The error is the same for an unknown address and a wrong password."""
        email = normalize_email(email)
        _check_login_limit(await self._counters.peek(FAILED_LOGINS, email))
        async with self._catalog.read() as tx:
            account = await stored.find_account_by_email(tx, email)
        matches = await verify_password(password, account.password_hash if account else None)
        if account is None or not matches or account.user.disabled:
            _check_login_limit(await self._counters.hit(FAILED_LOGINS, email))
            async with self._catalog.write() as tx:
                await audit.record(tx, "login.failed", subject=email, address=address)
            raise Unauthorized(_WRONG_CREDENTIALS)
        # Checked again: concurrent attempts may have failed while this password was hashed.
        _check_login_limit(await self._counters.peek(FAILED_LOGINS, email))
        if self._settings.require_verified_email and not account.user.email_verified:
            raise Forbidden("verify the e-mail address first; the link is in the mail sent to it")
        async with self._catalog.write() as tx:
            await stored.update_user(tx, account.user.id, {"last_login_at": utc_now()})
            await audit.record(tx, "login.succeeded", actor=account.user.id, address=address)
            user = (await _require(tx, account.user.id)).user
        # Signs the token version read with the password, so that a reset in between revokes it.
        return new_sign_in(self._signer, replace(account, user=user))

    async def verify_email(self, token: str, address: str | None) -> User:
        async with self._catalog.write() as tx:
            user_id = await _consume_token(tx, TokenPurpose.VERIFY_EMAIL, token)
            await stored.update_user(tx, user_id, {"email_verified": True})
            await audit.record(tx, "email.verified", actor=user_id, address=address)
            account = await _require(tx, user_id)
        self._access.invalidate_user(user_id)
        return account.user

    async def resend_verification(self, email: str) -> None:
        """Send another verification mail if the address has an unverified account."""
        async with self._catalog.write() as tx:
            account = await stored.find_account_by_email(tx, normalize_email(email))
            if account is None or account.user.disabled or account.user.email_verified:
                return
            mail = await self._verification_mail(tx, account)
        self._mailer.send_in_background(mail)

    async def forgot_password(self, email: str, address: str | None) -> None:
        """Send a reset mail if the address has an account; the response is the same either way."""
        async with self._catalog.write() as tx:
            account = await stored.find_account_by_email(tx, normalize_email(email))
            if account is None or account.user.disabled:
                return
            secret = new_secret()
            await stored.replace_token(
                tx,
                account.user.id,
                TokenPurpose.RESET_PASSWORD,
                hash_secret(secret),
                utc_now() + RESET_LIFETIME,
            )
            await audit.record(
                tx, "password.reset_requested", subject=account.user.id, address=address
            )
        self._mailer.send_in_background(self._reset_mail(account.user, secret))

    async def reset_password(self, token: str, password: str, address: str | None) -> None:
        """Set a new password with a mailed token; revokes all existing sign-ins."""
        check_password(password)
        password_hash = await hash_password(password)
        async with self._catalog.write() as tx:
            user_id = await _consume_token(tx, TokenPurpose.RESET_PASSWORD, token)
            await self._set_password(tx, user_id, password_hash)
            # Using the mailed link proves access to the mailbox.
            await stored.update_user(tx, user_id, {"email_verified": True})
            await audit.record(tx, "password.reset", actor=user_id, address=address)
        self._access.invalidate_user(user_id)

    async def change_password(
        self, caller: Principal, current: str, new: str, address: str | None
    ) -> SignIn:
        """Change the caller's password; revokes all existing sign-ins and returns a new one."""
        async with self._catalog.read() as tx:
            account = await _require(tx, caller.user_id)
        if not await verify_password(current, account.password_hash):
            raise Invalid.field("currentPassword", "is not the current password")
        check_password(new, "newPassword")
        password_hash = await hash_password(new)
        async with self._catalog.write() as tx:
            await self._set_password(tx, caller.user_id, password_hash)
            await audit.record(tx, "password.changed", actor=caller.user_id, address=address)
            account = await _require(tx, caller.user_id)
        self._access.invalidate_user(caller.user_id)
        return new_sign_in(self._signer, account)

    async def find_profile(self, caller: Principal) -> User:
        async with self._catalog.read() as tx:
            return (await _require(tx, caller.user_id)).user

    async def update_profile(
        self, caller: Principal, name: str | None, default_workspace_id: str | None
    ) -> User:
        changes = {"name": name, "default_workspace_id": default_workspace_id}
        async with self._catalog.write() as tx:
            account = await _require(tx, caller.user_id)
            if default_workspace_id not in {None, *account.memberships}:
                raise NotFound("workspace not found")
            given = {field: value for field, value in changes.items() if value is not None}
            await stored.update_user(tx, caller.user_id, given)
            user = (await _require(tx, caller.user_id)).user
        self._access.invalidate_user(caller.user_id)
        return user

    async def administer(
        self,
        caller: Principal | None,
        user_id: str,
        role: Role | None,
        disabled: bool | None,
        address: str | None,
    ) -> AdminUser:
        """Change the role of an account, or disable or enable it.

        At least one active admin always remains. Without a caller, the operator acts from the
        command line.
        """
        changes: dict[str, Any] = {
            name: value
            for name, value in (("role", role), ("disabled", disabled))
            if value is not None
        }
        async with self._catalog.write() as tx:
            await serialize_writers(tx, ACCOUNTS_LOCK)
            before = (await _require(tx, user_id)).user
            await stored.update_user(tx, user_id, changes)
            if await stored.count_active_admins(tx) == 0:
                raise Invalid("an installation needs at least one active admin")
            if disabled:
                await stored.invalidate_tokens(tx, user_id)
            changed = {n: v for n, v in changes.items() if getattr(before, n) != v}
            if changed:
                await audit.record(
                    tx,
                    "account.changed",
                    actor=caller.user_id if caller else None,
                    subject=user_id,
                    address=address,
                    **changed,
                )
            after = (await _require(tx, user_id)).user
        self._access.invalidate_user(user_id)
        return after

    async def set_role(self, email: str, role: Role) -> AdminUser:
        """Change the role of an account from the command line."""
        async with self._catalog.read() as tx:
            account = await stored.find_account_by_email(tx, normalize_email(email))
        if account is None:
            raise NotFound(f"there is no account {email}")
        return await self.administer(None, account.user.id, role, None, None)

    async def _set_password(self, tx: Transaction, user_id: str, password_hash: str) -> None:
        await stored.update_user(tx, user_id, {"password_hash": password_hash})
        await stored.invalidate_tokens(tx, user_id)
        await stored.delete_tokens(tx, user_id, TokenPurpose.RESET_PASSWORD)

    async def _verification_mail(self, tx: Transaction, account: Account) -> Mail:
        secret = new_secret()
        await stored.replace_token(
            tx,
            account.user.id,
            TokenPurpose.VERIFY_EMAIL,
            hash_secret(secret),
            utc_now() + VERIFY_LIFETIME,
        )
        link = f"{self._settings.public_address}/verify-email?token={secret}"
        return Mail(
            to=account.user.email,
            subject="Verify your e-mail address",
            text=f"Welcome to Spanwise.\n\nVerify your address within 48 hours:\n{link}\n",
            link=link,
        )

    def _reset_mail(self, user: User, secret: str) -> Mail:
        link = f"{self._settings.public_address}/reset-password?token={secret}"
        return Mail(
            to=user.email,
            subject="Reset your password",
            text=(
                f"A password reset was requested for your account.\n\n"
                f"Choose a new password within one hour:\n{link}\n\n"
                f"If you did not request it, ignore this mail: nothing has changed.\n"
            ),
            link=link,
        )


def _check_login_limit(failed_logins: Count) -> None:
    if failed_logins.exceeded:
        raise RateLimited(
            "too many failed logins for this account; try again later",
            failed_logins.retry_after_seconds,
        )


async def _consume_token(tx: Transaction, purpose: TokenPurpose, token: str) -> str:
    user_id = await stored.consume_token(tx, purpose, hash_secret(token), utc_now())
    if user_id is None:
        raise Invalid.field("token", "is unknown, already used or expired; request a new one")
    return user_id


async def _require(tx: Transaction, user_id: str) -> Account:
    account = await stored.find_account(tx, user_id)
    if account is None:
        raise NotFound("user not found")
    return account
