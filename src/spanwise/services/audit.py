"""Audit log: records security-relevant actions in the transaction of the action."""

from typing import Any

from spanwise.model.accounts import AuditEntry, Principal
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


async def record_action(
    tx: Transaction,
    caller: Principal,
    action: str,
    subject: str | None,
    address: str | None,
    **data: Any,  # noqa: ANN401 -- details of the action
) -> None:
    """Record what a person or a key did in their workspace."""
    await record(
        tx,
        action,
        workspace=caller.workspace_id,
        actor=caller.caller_id,
        subject=subject,
        address=address,
        **data,
    )
