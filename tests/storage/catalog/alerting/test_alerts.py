"""Alerts in the catalog: one open alert per rule, guarded status changes, stored rule states."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.model.alerts import Alert, AlertFilter, AlertMove, AlertStatus, RuleState
from spanwise.model.api_model import new_id
from spanwise.model.page import PageRequest
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog.alerting import alerts as stored

NOW = datetime(2026, 1, 5, 12, tzinfo=UTC)
ACTIVE, RESOLVED = AlertStatus.ACTIVE, AlertStatus.RESOLVED


def make_alert(**fields: Any) -> Alert:
    values = {
        "id": new_id("alr"),
        "agent_id": "agt_1",
        "agent_name": "planner",
        "rule_id": "errors",
        "measure": None,
        "failure_id": None,
        "metric": "errorRate",
        "condition": "above",
        "severity": "warning",
        "status": ACTIVE,
        "title": "too many errors",
        "description": "",
        "value": 0.5,
        "threshold": 0.1,
        "baseline": None,
        "window_start": NOW - timedelta(minutes=5),
        "window_end": NOW,
        "triggered_at": NOW,
        "acknowledged_at": None,
        "acknowledged_by": None,
        "reopened_at": None,
        "resolved_at": None,
        "occurrences": 1,
        "example_trace_ids": ["0" * 32],
        "rule": {"metric": "errorRate", "condition": "above", "threshold": 0.1},
        "history": [move(None, ACTIVE)],
        **fields,
    }
    return Alert.model_validate(values)


def move(from_: AlertStatus | None, to: AlertStatus) -> AlertMove:
    return AlertMove(at=NOW, from_=from_, to=to, by="spanwise", note=None)


async def resolve(catalog: Catalog, alert: Alert, workspace: str = "wsp_1") -> bool:
    async with catalog.write() as tx:
        return await stored.change_status(
            tx,
            workspace,
            alert.id,
            move(ACTIVE, RESOLVED),
            from_=[ACTIVE],
            open_rule=None,
            resolved_at=NOW,
        )


async def add(catalog: Catalog, alert: Alert) -> bool:
    async with catalog.write() as tx:
        return await stored.add_alert(tx, "wsp_1", alert, alert.triggered_at)


async def test_an_alert_is_stored_unchanged(catalog: Catalog) -> None:
    alert = make_alert()
    assert await add(catalog, alert)
    async with catalog.read() as tx:
        assert await stored.find_alert(tx, "wsp_1", alert.id) == alert
        assert await stored.find_alert(tx, "wsp_2", alert.id) is None
        listed = await stored.list_alerts(tx, "wsp_1", AlertFilter(), PageRequest())
        assert list(listed.items) == [alert]


@pytest.mark.both_engines
async def test_a_rule_has_one_open_alert(catalog: Catalog) -> None:
    first, second = make_alert(), make_alert()
    assert await add(catalog, first)
    assert not await add(catalog, second)
    assert await add(catalog, make_alert(agent_id="agt_2"))
    assert await resolve(catalog, first)
    assert await add(catalog, second)
    async with catalog.write() as tx:
        assert not await stored.reopen_alert(tx, "wsp_1", first, move(RESOLVED, ACTIVE))
        assert [a.id for _, a, _ in await stored.find_open_alerts(tx) if a.agent_id == "agt_1"] == [
            second.id
        ]


async def test_a_move_happens_once_and_only_in_its_workspace(catalog: Catalog) -> None:
    alert = make_alert()
    await add(catalog, alert)
    assert not await resolve(catalog, alert, "wsp_2")
    assert await resolve(catalog, alert)
    assert not await resolve(catalog, alert)
    async with catalog.read() as tx:
        found = await stored.find_alert(tx, "wsp_1", alert.id)
    assert found is not None
    assert [m.to for m in found.history] == [ACTIVE, RESOLVED]


async def test_states_are_replaced_and_dropped(catalog: Catalog) -> None:
    state = RuleState(NOW, None, NOW, (0.0, None, 5.25), NOW)
    async with catalog.write() as tx:
        await stored.write_rule_states(tx, {("agt_1", "a"): RuleState(), ("agt_1", "b"): state})
        await stored.write_rule_states(tx, {("agt_1", "a"): state, ("agt_2", "a"): state})
        await stored.delete_rule_states(tx, [("agt_1", "b")])
    async with catalog.read() as tx:
        assert await stored.read_rule_states(tx) == {
            ("agt_1", "a"): state,
            ("agt_2", "a"): state,
        }
