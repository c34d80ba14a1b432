"""Single sign-on: starts a sign-in and finishes it."""

from dataclasses import dataclass
from typing import Any

import structlog

from spanwise.model.api_model import utc_now
from spanwise.services import audit
from spanwise.services.access import Access
from spanwise.services.notifications.mail import Mailer
from spanwise.services.single_sign_on.admission import Admission, admit
from spanwise.services.single_sign_on.attempts import Attempt, AttemptSigner, new_attempt
from spanwise.services.single_sign_on.identity import Identity, check_address, read_identity
from spanwise.services.single_sign_on.provider import ClientConfig, Provider
from spanwise.services.single_sign_on.refusals import Reason, SignInRefused
from spanwise.services.single_sign_on.role_claim import read_roles
from spanwise.services.single_sign_on.take_over import METHOD, write_mail
from spanwise.services.tokens import SignIn, TokenSigner, new_sign_in
from spanwise.settings import Settings, load_secret_key
from spanwise.storage.catalog import Catalog

log = structlog.get_logger()

CALLBACK_PATH = "/api/auth/oidc/callback"


@dataclass(frozen=True)
class Started:
    """Where the browser goes, and the cookie that it brings back."""

    url: str
    cookie: str


@dataclass(frozen=True)
class Callback:
    """What the provider sends back with the browser."""

    code: str | None
    state: str | None
    error: str | None
    issuer: str | None


@dataclass(frozen=True)
class Finished:
    """The outcome: the sign-in, or the reason of a refusal."""

    next_path: str | None
    sign_in: SignIn | None = None
    refusal: Reason | None = None


class SingleSignOn:
    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        signer: TokenSigner,
        access: Access,
        mailer: Mailer,
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._signer = signer
        self._access = access
        self._mailer = mailer
        self._attempts = AttemptSigner(load_secret_key(settings))
        secret = settings.oidc_client_secret
        self._provider = Provider(
            ClientConfig(
                issuer=settings.oidc_issuer or "",
                client_id=settings.oidc_client_id or "",
                client_secret=secret.get_secret_value() if secret else "",
                redirect_uri=settings.public_address + CALLBACK_PATH,
                scopes=settings.oidc_scopes,
            )
        )

    async def close(self) -> None:
        await self._provider.close()

    async def start(self, next_path: str | None, invitation: str | None) -> Started:
        """Start a sign-in; raises SignInRefused while the provider does not respond."""
        attempt = new_attempt(next_path, invitation)
        try:
            url = await self._provider.authorization_url(attempt)
        except SignInRefused as refused:
            log.warning("single_sign_on_failed", reason=refused.reason, detail=refused.detail)
            raise
        return Started(url, self._attempts.sign(attempt, utc_now()))

    async def finish(self, callback: Callback, cookie: str | None, address: str | None) -> Finished:
        """Sign in the person whom the provider sent back. A refusal is audited."""
        attempt: Attempt | None = None
        identity: Identity | None = None
        try:
            if callback.error is not None:
                raise SignInRefused(Reason.PROVIDER_REFUSED, callback.error[:200])
            attempt = self._attempts.check(cookie, callback.state)
            claims = await self._exchange(attempt, callback)
            identity = read_identity(claims)
            check_address(
                identity,
                claims,
                domains=self._settings.oidc_domains,
                trusts_email=self._settings.oidc_trust_email,
            )
            sign_in = await self._admit(identity, claims, attempt, address)
        except SignInRefused as refused:
            email = identity.email if identity else None
            log.warning("single_sign_on_refused", reason=refused.reason, detail=refused.detail)
            await self._audit_refusal(refused.reason, email, address)
            return Finished(attempt.next_path if attempt else None, refusal=refused.reason)
        return Finished(attempt.next_path, sign_in)

    async def _exchange(self, attempt: Attempt, callback: Callback) -> dict[str, Any]:
        if not callback.code:
            raise SignInRefused(Reason.PROVIDER_REFUSED, "the provider sent no code")
        claims = ["email"]
        if not self._settings.oidc_trust_email:
            claims.append("email_verified")
        if self._settings.oidc_role_claim:
            claims.append(self._settings.oidc_role_claim)
        return await self._provider.exchange_code(attempt, callback.code, callback.issuer, claims)

    async def _admit(
        self, identity: Identity, claims: dict[str, Any], attempt: Attempt, address: str | None
    ) -> SignIn:
        role_claim = self._settings.oidc_role_claim
        admission = Admission(
            identity,
            read_roles(claims.get(role_claim)) if role_claim else {},
            attempt.invitation,
            self._settings.oidc_create_users,
            address,
        )
        async with self._catalog.write() as tx:
            account, taken = await admit(tx, admission)
        self._access.invalidate_user(account.user.id)
        if taken is not None:
            for workspace_id in taken.workspaces:
                self._access.invalidate_workspace(workspace_id)
            self._mailer.send_in_background(write_mail(account.user.email, taken.losses))
        return new_sign_in(self._signer, account)

    async def _audit_refusal(self, reason: Reason, email: str | None, address: str | None) -> None:
        async with self._catalog.write() as tx:
            await audit.record(
                tx, "login.failed", subject=email, address=address, method=METHOD, reason=reason
            )
