"""Audits the first use of each key from each address."""

from spanwise.model.keys import KeyGrant
from spanwise.services import audit
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.accounts import keys as stored

# Keys of short-lived machines are used from thousands of addresses.
MAX_PER_KEY = 100
_MAX_KNOWN = 10_000


class KeyAddresses:
    """Collects new addresses in memory; `write` stores them."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()
        self._new: list[tuple[KeyGrant, str]] = []

    def is_known(self, key_id: str, address: str) -> bool:
        return (key_id, address) in self._known

    def note(self, grant: KeyGrant, address: str) -> None:
        if (grant.key_id, address) not in self._known:
            if len(self._known) >= _MAX_KNOWN:
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
                    if await stored.add_address(tx, grant.key_id, address, MAX_PER_KEY):
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
