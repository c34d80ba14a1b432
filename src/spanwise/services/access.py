"""Resolves tokens and API keys to a principal, with a short cache.

Records when keys were used, and audits the first use of each from each address.
"""

from datetime import datetime

from spanwise.model.accounts import Account, Principal
from spanwise.model.api_model import utc_now
from spanwise.model.errors import Unauthorized
from spanwise.model.keys import KeyGrant
from spanwise.model.workspaces import WorkspaceRole
from spanwise.services import audit
from spanwise.services.tokens import TokenSigner, hash_secret
from spanwise.services.ttl_cache import TtlCache
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.accounts import keys as stored_keys
from spanwise.storage.catalog.accounts import users as stored_users

KEY_PREFIX = "sw_"

# Changes by other processes take effect within this time; the docs promise five seconds.
CACHE_SECONDS = 4.0

# Only admins make keys; beyond that a key is limited by its scopes.
_KEY_ROLE = WorkspaceRole.ADMIN

# Keys of short-lived machines are used from thousands of addresses.
MAX_ADDRESSES = 100
_MAX_KNOWN_ADDRESSES = 10_000


class Access:
    """Resolves sign-in tokens and API keys, and tracks when each key was last used."""

    def __init__(self, catalog: Catalog, signer: TokenSigner) -> None:
        self._catalog = catalog
        self._signer = signer
        self._accounts = TtlCache[str, Account]()
        self._grants = TtlCache[str, KeyGrant]()
        self._last_uses: dict[str, datetime] = {}
        self._key_addresses = KeyAddresses()

    async def by_token(self, token: str, workspace_id: str | None = None) -> Principal:
        """Return the person, in the named workspace or else in their default one."""
        claims = self._signer.check(token)
        account = await self._find_account(claims.user_id)
        if account is None or account.user.disabled:
            raise Unauthorized("the account does not exist or is disabled")
        if account.token_version != claims.token_version:
            raise Unauthorized("the token was revoked by a password change; log in again")
        return Principal.of_account(account, workspace_id)

    async def by_key(self, secret: str, address: str | None = None) -> Principal:
        grant = await self._find_grant(secret)
        if grant is None:
            raise Unauthorized("the API key is not valid")
        principal = self._admit(grant)
        if address is not None:
            self._key_addresses.add(grant, address)
        return principal

    def find_cached_key(self, secret: str, address: str) -> Principal | None:
        """Resolve a key from the cache, without I/O.

        None means that it is not cached, or used from a new address.
        """
        grant = self._grants.get(hash_secret(secret))
        if grant is None or not self._key_addresses.is_known(grant.key_id, address):
            return None
        return self._admit(grant)

    def _admit(self, grant: KeyGrant) -> Principal:
        now = utc_now()
        if grant.valid_until is not None and grant.valid_until <= now:
            raise Unauthorized("the API key is not valid")
        self._last_uses[grant.key_id] = now
        return Principal(
            grant.user_id,
            grant.workspace_id,
            _KEY_ROLE,
            key_id=grant.key_id,
            scopes=grant.scopes,
        )

    def invalidate_user(self, user_id: str) -> None:
        """Make a change to an account take effect in this process at once."""
        self._accounts.invalidate(lambda _, account: account.user.id == user_id)
        # A disabled account may have been the last active member of a workspace.
        self._grants.invalidate(lambda _, grant: True)

    def invalidate_workspace(self, workspace_id: str) -> None:
        """Make a change of members or keys take effect in this process at once."""
        self._accounts.invalidate(lambda _, account: workspace_id in account.memberships)
        self._grants.invalidate(lambda _, grant: grant.workspace_id == workspace_id)

    def invalidate_key(self, key_id: str) -> None:
        self._grants.invalidate(lambda _, grant: grant.key_id == key_id)

    async def write_key_uses(self) -> None:
        """Flush the collected times and addresses of use; runs periodically."""
        await self._key_addresses.write(self._catalog)
        await self._write_last_uses()

    async def _write_last_uses(self) -> None:
        uses, self._last_uses = self._last_uses, {}
        if not uses:
            return
        try:
            async with self._catalog.write() as tx:
                await stored_keys.update_last_used(tx, uses)
        except BaseException:
            self._last_uses = {**uses, **self._last_uses}
            raise

    async def _find_account(self, user_id: str) -> Account | None:
        account = self._accounts.get(user_id)
        if account is None:
            load = self._accounts.start_load(user_id)
            async with self._catalog.read() as tx:
                account = await stored_users.find_account(tx, user_id)
            self._accounts.put(user_id, account, load, CACHE_SECONDS)
        return account

    async def _find_grant(self, secret: str) -> KeyGrant | None:
        if not secret.startswith(KEY_PREFIX):
            return None
        secret_hash = hash_secret(secret)
        grant = self._grants.get(secret_hash)
        if grant is None:
            load = self._grants.start_load(secret_hash)
            async with self._catalog.read() as tx:
                grant = await stored_keys.find_grant(tx, secret_hash)
            self._grants.put(secret_hash, grant, load, CACHE_SECONDS)
        return grant


class KeyAddresses:
    """Collects new addresses of keys in memory; `write` stores and audits them."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()
        self._new: list[tuple[KeyGrant, str]] = []

    def is_known(self, key_id: str, address: str) -> bool:
        return (key_id, address) in self._known

    def add(self, grant: KeyGrant, address: str) -> None:
        if (grant.key_id, address) not in self._known:
            if len(self._known) >= _MAX_KNOWN_ADDRESSES:
                self._known.clear()
            self._known.add((grant.key_id, address))
            self._new.append((grant, address))

    async def write(self, catalog: Catalog) -> None:
        """Store the collected addresses and audit those that no process has seen before."""
        new, self._new = self._new, []
        if not new:
            return
        try:
            async with catalog.write() as tx:
                for grant, address in new:
                    if await stored_keys.add_address(tx, grant.key_id, address, MAX_ADDRESSES):
                        await audit.record(
                            tx,
                            "key.used_from_new_address",
                            workspace=grant.workspace_id,
                            subject=grant.key_id,
                            address=address,
                        )
        except BaseException:
            self._new = new + self._new
            raise
