"""Alerts, their status history, and the state of rules between evaluations."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Row,
    and_,
    bindparam,
    case,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from spanwise.model.alerts import (
    AgentAlertCounts,
    Alert,
    AlertFilter,
    AlertMetric,
    AlertMove,
    AlertStatus,
    AlertSummary,
    RuleKey,
    RuleState,
    Severity,
)
from spanwise.model.api_model import new_id
from spanwise.model.page import Listing, PageRequest
from spanwise.storage.catalog.database import Transaction
from spanwise.storage.catalog.tables import alert_moves, alerts, rule_states

OPEN = (AlertStatus.ACTIVE, AlertStatus.ACKNOWLEDGED)


async def add_alert(
    tx: Transaction, workspace_id: str, alert: Alert, notified_at: datetime
) -> bool:
    """Add an alert; False when its rule already has an open one."""
    values = alert.model_dump(by_alias=False, exclude={"history", "silenced_until", "rule"})
    rule = alert.rule.model_dump(mode="json", by_alias=False)
    try:
        async with tx.begin_nested():
            await tx.execute(
                insert(alerts).values(
                    **{**values, "agent_id": alert.agent_id or workspace_id, "rule": rule},
                    workspace_id=workspace_id,
                    open_rule=_open_rule(workspace_id, alert),
                    notified_at=notified_at,
                )
            )
    except IntegrityError:
        return False
    for move in alert.history:
        await add_status_change(tx, alert.id, move)
    return True


async def count_occurrence(
    tx: Transaction,
    alert_id: str,
    value: float,
    start: datetime,
    end: datetime,
    **values: str,
) -> None:
    """Count another breach while the alert is open; `values` are other columns to change."""
    await tx.execute(
        update(alerts)
        .where(alerts.c.id == alert_id, alerts.c.status.in_(OPEN))
        .values(
            occurrences=alerts.c.occurrences + 1,
            value=value,
            window_start=start,
            window_end=end,
            **values,
        )
    )


async def change_status(
    tx: Transaction,
    workspace_id: str,
    alert_id: str,
    move: AlertMove,
    *,
    from_: Sequence[AlertStatus],
    **values: Any,  # noqa: ANN401 -- columns
) -> bool:
    """Change an alert's status; False when its current status is not in `from_`."""
    moved = await tx.execute(
        update(alerts)
        .where(
            alerts.c.workspace_id == workspace_id,
            alerts.c.id == alert_id,
            alerts.c.status.in_(from_),
        )
        .values(status=move.to, **values)
    )
    if moved.rowcount:
        await add_status_change(tx, alert_id, move)
    return moved.rowcount > 0


async def reopen_alert(tx: Transaction, workspace_id: str, alert: Alert, move: AlertMove) -> bool:
    """Make an alert active again; False when its rule has another open one."""
    try:
        async with tx.begin_nested():
            return await change_status(
                tx,
                workspace_id,
                alert.id,
                move,
                from_=[AlertStatus.ACKNOWLEDGED, AlertStatus.RESOLVED],
                open_rule=_open_rule(workspace_id, alert),
                reopened_at=move.at,
                notified_at=move.at,
                acknowledged_at=None,
                acknowledged_by=None,
                resolved_at=None,
            )
    except IntegrityError:
        return False


async def set_notified_at(tx: Transaction, alert_id: str, now: datetime) -> None:
    await tx.execute(update(alerts).where(alerts.c.id == alert_id).values(notified_at=now))


async def find_alert(tx: Transaction, workspace_id: str, alert_id: str) -> Alert | None:
    rows = await tx.execute(
        select(alerts).where(alerts.c.workspace_id == workspace_id, alerts.c.id == alert_id)
    )
    found = await _with_history(tx, rows.all())
    return found[0] if found else None


async def list_alerts(
    tx: Transaction, workspace_id: str, filters: AlertFilter, page: PageRequest
) -> Listing[Alert]:
    where = _conditions(workspace_id, filters)
    total = await tx.execute(select(func.count()).select_from(alerts).where(where))
    rows = await tx.execute(
        select(alerts)
        .where(where)
        .order_by(alerts.c.triggered_at.desc(), alerts.c.id.desc())
        .limit(page.limit)
        .offset(page.skip)
    )
    return Listing(await _with_history(tx, rows.all()), total.scalar_one())


async def summarize_alerts(
    tx: Transaction, workspace_id: str, filters: AlertFilter
) -> AlertSummary:
    where = _conditions(workspace_id, filters)
    counts = {
        status: func.sum(case((alerts.c.status == status, 1), else_=0)).label(status)
        for status in AlertStatus
    }
    by_agent = await tx.execute(
        select(
            alerts.c.agent_id,
            func.max(alerts.c.agent_name).label("agent_name"),
            *counts.values(),
            func.max(alerts.c.triggered_at).label("last_triggered_at"),
        )
        .where(where)
        .group_by(alerts.c.agent_id)
        .order_by(func.max(alerts.c.triggered_at).desc())
    )
    agents = [
        AgentAlertCounts.model_validate({**row._mapping, **_agent_of(workspace_id, row.agent_id)})
        for row in by_agent
    ]
    by_severity = await tx.execute(
        select(alerts.c.severity, func.count()).where(where).group_by(alerts.c.severity)
    )
    severities = dict.fromkeys(Severity, 0) | {Severity(row[0]): row[1] for row in by_severity}
    return AlertSummary(
        total=sum(severities.values()),
        active=sum(agent.active for agent in agents),
        acknowledged=sum(agent.acknowledged for agent in agents),
        resolved=sum(agent.resolved for agent in agents),
        by_severity=severities,
        by_agent=agents,
    )


async def count_active(tx: Transaction, workspace_id: str, agent: str | None = None) -> int:
    filters = AlertFilter(status=AlertStatus.ACTIVE, agent=agent)
    where = _conditions(workspace_id, filters)
    return (await tx.execute(select(func.count()).select_from(alerts).where(where))).scalar_one()


async def find_open_alerts(tx: Transaction) -> list[tuple[str, Alert, datetime]]:
    """Return all open alerts, each with its workspace and last notification time."""
    rows = (await tx.execute(select(alerts).where(alerts.c.open_rule.is_not(None)))).all()
    found = [_to_alert(row, []) for row in rows]
    return [
        (row.workspace_id, alert, row.notified_at) for row, alert in zip(rows, found, strict=True)
    ]


async def find_firing_times(
    tx: Transaction, rules: Iterable[RuleKey], since: datetime
) -> dict[RuleKey, list[tuple[datetime, datetime | None]]]:
    """Return when rules were firing since a time (start, end), by rule."""
    rows = await tx.execute(
        select(
            alerts.c.agent_id, alerts.c.rule_id, alerts.c.triggered_at, alerts.c.resolved_at
        ).where(or_(alerts.c.resolved_at.is_(None), alerts.c.resolved_at >= since))
    )
    keys = set(rules)
    times: dict[RuleKey, list[tuple[datetime, datetime | None]]] = {}
    for row in rows:
        if (row.agent_id, row.rule_id) in keys:
            times.setdefault((row.agent_id, row.rule_id), []).append(
                (row.triggered_at, row.resolved_at)
            )
    return times


async def read_rule_states(tx: Transaction) -> dict[RuleKey, RuleState]:
    rows = await tx.execute(select(rule_states))
    return {
        (row.agent_id, row.rule_id): RuleState(
            breaching_since=row.breaching_since,
            clear_since=row.clear_since,
            scored_at=row.scored_at,
            scores=tuple(row.scores),
            learns_since=row.learns_since,
        )
        for row in rows
    }


async def write_rule_states(tx: Transaction, states: Mapping[RuleKey, RuleState]) -> None:
    """Replace the states of these rules."""
    await delete_rule_states(tx, list(states))
    if states:
        await tx.execute(
            insert(rule_states),
            [
                {
                    "agent_id": agent_id,
                    "rule_id": rule_id,
                    "breaching_since": state.breaching_since,
                    "clear_since": state.clear_since,
                    "scored_at": state.scored_at,
                    "scores": list(state.scores),
                    "learns_since": state.learns_since,
                }
                for (agent_id, rule_id), state in sorted(states.items())
            ],
        )


async def delete_rule_states(tx: Transaction, keys: Sequence[RuleKey]) -> None:
    if keys:
        await tx.execute(
            delete(rule_states).where(
                rule_states.c.agent_id == bindparam("agent"),
                rule_states.c.rule_id == bindparam("rule"),
            ),
            [{"agent": agent_id, "rule": rule_id} for agent_id, rule_id in sorted(keys)],
        )


def _conditions(workspace_id: str, filters: AlertFilter) -> ColumnElement[bool]:
    conditions: list[ColumnElement[bool]] = [alerts.c.workspace_id == workspace_id]
    if filters.start is not None:
        conditions.append(alerts.c.triggered_at >= filters.start)
    if filters.end is not None:
        conditions.append(alerts.c.triggered_at < filters.end)
    if filters.status is not None:
        conditions.append(alerts.c.status == filters.status)
    if filters.severity is not None:
        conditions.append(alerts.c.severity == filters.severity)
    if filters.agent is not None:
        conditions.append(
            or_(alerts.c.agent_id == filters.agent, alerts.c.agent_name == filters.agent)
        )
    return and_(*conditions)


def rule_key(workspace_id: str, alert: Alert) -> RuleKey:
    return alert.agent_id or workspace_id, alert.rule_id


def _open_rule(workspace_id: str, alert: Alert) -> str:
    return "/".join(rule_key(workspace_id, alert))


async def add_status_change(tx: Transaction, alert_id: str, move: AlertMove) -> None:
    """Add an entry to the history of an alert."""
    await tx.execute(
        insert(alert_moves).values(
            id=new_id("mov"),
            alert_id=alert_id,
            at=move.at,
            from_status=move.from_,
            to_status=move.to,
            by=move.by,
            note=move.note,
        )
    )


async def count_status_changes(tx: Transaction, alert_id: str) -> int:
    where = alert_moves.c.alert_id == alert_id
    counted = await tx.execute(select(func.count()).select_from(alert_moves).where(where))
    return counted.scalar_one()


async def _with_history(tx: Transaction, rows: Sequence[Row[Any]]) -> list[Alert]:
    moves = await tx.execute(
        select(alert_moves)
        .where(alert_moves.c.alert_id.in_([row.id for row in rows]))
        .order_by(alert_moves.c.at, alert_moves.c.id)
    )
    history: dict[str, list[AlertMove]] = {}
    for move in moves:
        history.setdefault(move.alert_id, []).append(
            AlertMove(
                at=move.at, from_=move.from_status, to=move.to_status, by=move.by, note=move.note
            )
        )
    return [_to_alert(row, history.get(row.id, [])) for row in rows]


def _agent_of(workspace_id: str, stored_id: str) -> dict[str, str | None]:
    return {"agent_id": None if stored_id == workspace_id else stored_id}


def _to_alert(row: Row[Any], history: list[AlertMove]) -> Alert:
    values = {
        **row._mapping,
        **_agent_of(row.workspace_id, row.agent_id),
        "metric": AlertMetric(row.metric),
        "history": history,
    }
    return Alert.model_validate(
        {name: values[name] for name in Alert.model_fields if name in values}
    )
