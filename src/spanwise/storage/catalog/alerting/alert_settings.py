"""Reads alert settings of agents and workspaces, writes those of workspaces.

`agents.change_agent` writes those of agents.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update

from spanwise.model.alerts import (
    ALL_AGENTS,
    AlertSettings,
    Notify,
    RuleEntry,
    RuleKey,
    WatchedRule,
    settings_from,
)
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import agents, alerts, workspaces


async def find_watched_rules(tx: Transaction) -> list[WatchedRule]:
    """Return all rules that are enabled, across workspaces; for jobs only."""
    rows = await tx.execute(select(agents).where(agents.c.alert_settings.is_not(None)))
    watched = []
    for row in rows:
        watched += [
            WatchedRule(row.workspace_id, row.id, row.name, row.first_seen_at, rule)
            for rule in settings_from(row.alert_settings).enabled_rules
        ]
    first_seen = (
        select(func.min(agents.c.first_seen_at))
        .where(agents.c.workspace_id == workspaces.c.id)
        .scalar_subquery()
    )
    own = await tx.execute(
        select(workspaces.c.id, workspaces.c.alert_settings, first_seen.label("first_seen")).where(
            workspaces.c.alert_settings.is_not(None)
        )
    )
    for row in own:
        watched += [
            WatchedRule(row.id, None, None, row.first_seen, rule)
            for rule in settings_from(row.alert_settings).enabled_rules
        ]
    return watched


async def find_alert_settings(
    tx: Transaction, workspace_id: str, agent_id: str | None
) -> AlertSettings:
    """Return the settings of an agent, or without one of the workspace, with their secrets."""
    query = (
        select(workspaces.c.alert_settings).where(workspaces.c.id == workspace_id)
        if agent_id is None
        else select(agents.c.alert_settings).where(
            agents.c.workspace_id == workspace_id, agents.c.id == agent_id
        )
    )
    return settings_from((await tx.execute(query)).scalar_one_or_none())


async def find_first_seen(tx: Transaction, workspace_id: str) -> datetime | None:
    """Return when the first agent of a workspace was seen."""
    query = select(func.min(agents.c.first_seen_at)).where(agents.c.workspace_id == workspace_id)
    first: datetime | None = (await tx.execute(query)).scalar_one()
    return first


async def remove_receivers(tx: Transaction, workspace_id: str) -> int:
    """Remove all receivers of notifications of a workspace and its agents; return their number."""
    removed = 0
    for table, column in ((workspaces, workspaces.c.id), (agents, agents.c.workspace_id)):
        rows = await tx.execute(
            select(table.c.id, table.c.alert_settings).where(
                column == workspace_id, table.c.alert_settings.is_not(None)
            )
        )
        for row in rows.all():
            settings = settings_from(row.alert_settings)
            notify = settings.notify
            removed += len(notify.emails) + len(notify.webhooks) + len(notify.channels)
            empty = settings.model_copy(update={"notify": Notify()})
            await tx.execute(
                update(table)
                .where(table.c.id == row.id)
                .values(alert_settings=empty.model_dump(mode="json", by_alias=False))
            )
    return removed


async def set_workspace_settings(
    tx: Transaction, workspace_id: str, settings: AlertSettings
) -> None:
    stored = settings.model_dump(mode="json", by_alias=False)
    await tx.execute(
        update(workspaces).where(workspaces.c.id == workspace_id).values(alert_settings=stored)
    )


async def list_rules(tx: Transaction, workspace_id: str) -> list[RuleEntry]:
    """Return all rules of a workspace with their last alert, its own ones first."""
    own = await find_alert_settings(tx, workspace_id, None)
    rows = await tx.execute(
        select(agents.c.id, agents.c.name, agents.c.alert_settings)
        .where(agents.c.workspace_id == workspace_id, agents.c.alert_settings.is_not(None))
        .order_by(agents.c.name)
    )
    last = await _find_last_alerts(tx, workspace_id)
    entries = _to_entries(workspace_id, None, ALL_AGENTS, own, last)
    for row in rows:
        settings = settings_from(row.alert_settings)
        entries += _to_entries(workspace_id, row.id, row.name, settings, last)
    return entries


def _to_entries(
    workspace_id: str,
    agent_id: str | None,
    agent_name: str,
    settings: AlertSettings,
    last: Mapping[RuleKey, Mapping[str, Any]],
) -> list[RuleEntry]:
    return [
        RuleEntry(
            agent_id=agent_id,
            agent_name=agent_name,
            enabled=settings.enabled and rule.enabled,
            rule=rule,
            **last.get((agent_id or workspace_id, rule.id or ""), {}),
        )
        for rule in settings.rules
    ]


async def _find_last_alerts(tx: Transaction, workspace_id: str) -> dict[RuleKey, Mapping[str, Any]]:
    newest = (
        select(alerts.c.agent_id, alerts.c.rule_id, func.max(alerts.c.triggered_at).label("at"))
        .where(alerts.c.workspace_id == workspace_id)
        .group_by(alerts.c.agent_id, alerts.c.rule_id)
        .subquery()
    )
    rows = await tx.execute(
        select(alerts).join(
            newest,
            (alerts.c.agent_id == newest.c.agent_id)
            & (alerts.c.rule_id == newest.c.rule_id)
            & (alerts.c.triggered_at == newest.c.at),
        )
    )
    return {
        (row.agent_id, row.rule_id): {
            "last_alert_id": row.id,
            "last_alert_at": row.triggered_at,
            "last_alert_status": row.status,
        }
        for row in rows
    }
