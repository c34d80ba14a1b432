"""Audit log: records security-relevant actions in the transaction of the action."""

from typing import Any

from spanwise.model.accounts import AuditEntry
from spanwise.model.api_model import new_id, utc_now
from spanwise.storage.catalog import Transaction
from spanwise.storage.catalog.accounts.audit import add_entry

_MAX_SUBJECT = 320


async def record(
    tx: Transaction,
    action: str,
    *,
    workspace: str | None = None,
    actor: str | None = None,
    subject: str | None = None,
    address: str | None = None,
    **data: Any,  # noqa: ANN401 -- details of the action
) -> None:
    await add_entry(
        tx,
        AuditEntry(
            id=new_id("aud"),
            workspace_id=workspace,
            at=utc_now(),
            action=action,
            actor=actor,
            subject=None if subject is None else subject[:_MAX_SUBJECT],
            address=address,
            data=data,
        ),
    )
