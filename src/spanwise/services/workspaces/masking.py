"""Masking rules of workspaces: stored in the catalog, applied by ingest."""

import asyncio

from spanwise.ingest.masking.masker import Masker, WorkspaceMasking
from spanwise.model.accounts import Principal
from spanwise.model.masking import MaskingMode, MaskingRules
from spanwise.services import audit
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.accounts import workspaces as stored


class Masking:
    """Holds the rules of all workspaces in memory; `refresh` loads them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._applied = WorkspaceMasking()

    async def refresh(self) -> None:
        """Load the rules of all workspaces, which other replicas may have changed."""
        async with self._catalog.read() as tx:
            self._applied.replace_all(await stored.list_masking(tx))

    def find_masker(self, workspace: str) -> Masker | None:
        return self._applied.find(workspace)

    async def put(
        self, caller: Principal, rules: MaskingRules, address: str | None
    ) -> MaskingRules:
        """Set the rules; what is sent from now on is masked by them."""
        async with self._catalog.write() as tx:
            values = {"masking": rules.model_dump(mode="json")}
            await stored.update_workspace(tx, caller.workspace_id, values)
            await audit.record(
                tx,
                "masking.changed",
                workspace=caller.workspace_id,
                actor=caller.user_id,
                address=address,
                **rules.model_dump(mode="json", by_alias=True),
            )
        self._applied.set(caller.workspace_id, rules)
        return rules

    async def preview(self, rules: MaskingRules, text: str) -> str:
        """Return what the rules would leave of a text."""
        match rules.mode:
            case MaskingMode.OFF:
                return text
            case MaskingMode.METADATA_ONLY:
                return ""
        return await asyncio.to_thread(Masker(rules).mask_text, text)
