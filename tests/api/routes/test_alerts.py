"""Alerts over the API: settings, changes of status, validation."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from support.alerting import UNDISTURBED, RuleDesk, forget_alerting
from support.clock import Clock
from support.service import Service, assert_error, start_service
from support.traces import make_span, send_traces

RULE = {"id": "errors", "metric": "errorRate", "condition": "above", "threshold": 0.5}


class Watched(RuleDesk):
    """A user with an agent, and the clock of the rule evaluation."""

    async def watch(self, *rules: dict[str, Any], **notify: Any) -> dict[str, Any]:
        await self.person.call("POST", "/agents", json={"name": "planner"})
        body = {"rules": list(rules), "notify": notify}
        agent: dict[str, Any] = await self.person.data("PUT", "/agents/planner/alerts", json=body)
        return agent

    async def move(self, alert: dict[str, Any], verb: str, **body: Any) -> dict[str, Any]:
        path = f"/spans/alerts/{alert['id']}/{verb}"
        moved: dict[str, Any] = await self.person.data("PUT", path, json=body)
        return moved


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
async def running(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None, clock: Clock
) -> AsyncIterator[Service]:
    async with start_service(tmp_path_factory.mktemp("alerts"), clock, **UNDISTURBED) as service:
        yield service


@pytest.fixture
async def watched(running: Service, clock: Clock) -> AsyncIterator[Watched]:
    yield Watched(running, await running.sign_up(), clock)
    await forget_alerting(running, clock)


async def test_a_breach_raises_one_alert_with_its_traces(watched: Watched) -> None:
    agent = await watched.watch({**RULE, "name": "Too many", "severity": "critical"})
    ids = await watched.send("error", "error", "error", "ok")
    [alert] = await watched.evaluate()
    assert alert["id"].startswith("alr_")
    assert alert["agentId"] == agent["id"]
    assert (alert["agentName"], alert["ruleId"]) == ("planner", "errors")
    assert (alert["metric"], alert["severity"], alert["status"]) == (
        "errorRate",
        "critical",
        "active",
    )
    assert (alert["value"], alert["threshold"], alert["baseline"]) == (0.75, 0.5, None)
    assert alert["title"] == "planner: error rate 75.0% is above 50.0%"
    assert set(alert["exampleTraceIds"]) == set(ids[:3])
    assert alert["occurrences"] == 1
    [move] = alert["history"]
    assert (move["from"], move["to"], move["by"]) == (None, "active", "spanwise")
    [same] = await watched.evaluate(minutes=1)
    assert (same["id"], same["occurrences"]) == (alert["id"], 2)
    assert await watched.person.data("GET", f"/spans/alerts/{alert['id']}") == same


async def test_an_alert_resolves_by_itself_and_a_new_breach_is_a_new_alert(
    watched: Watched,
) -> None:
    await watched.watch(RULE)
    spans = [watched.span("planner", "error", minutes=minutes) for minutes in (0, 12)]
    spans += [watched.span("planner", "ok", minutes=6) for _ in range(2)]
    await send_traces(watched.person, spans)
    [alert] = await watched.evaluate()
    [resolved] = await watched.evaluate(minutes=6)
    assert resolved["status"] == "resolved"
    assert resolved["resolvedAt"] is not None
    assert resolved["history"][-1]["note"] == "the condition has cleared"
    newer, older = await watched.evaluate(minutes=6)
    assert (newer["status"], older["id"]) == ("active", alert["id"])
    # A rule has no second open alert.
    path = f"/spans/alerts/{older['id']}/reopen"
    assert_error(await watched.person.call("PUT", path, json={}), 400)


async def test_missing_data_keeps_an_alert_open(watched: Watched) -> None:
    await watched.watch(RULE)
    await watched.send("error")
    await watched.evaluate()
    [alert] = await watched.evaluate(hours=2)
    assert (alert["status"], alert["occurrences"]) == ("active", 1)


async def test_a_breach_must_last_and_have_samples(watched: Watched) -> None:
    await watched.watch({**RULE, "forMinutes": 3, "minSamples": 2})
    spans = [watched.span("planner", "error", minutes=minutes) for minutes in (0, 1)]
    await send_traces(watched.person, spans)
    assert await watched.evaluate() == []
    assert await watched.evaluate(minutes=1) == []
    assert await watched.evaluate(minutes=2) == []
    assert len(await watched.evaluate(minutes=1)) == 1


async def test_every_metric_can_raise_an_alert(watched: Watched) -> None:
    limits = {"p95Latency": 500, "avgLatency": 500, "cost": 0.5, "totalTokens": 100}
    rules = [{"metric": m, "condition": "above", "threshold": t} for m, t in limits.items()]
    rules.append({"metric": "requestCount", "condition": "below", "threshold": 5})
    rating = {"metric": "signal", "signalName": "rating", "condition": "below", "threshold": 2}
    await watched.watch(*rules, rating)
    # The trace ends in the second in which rules are evaluated.
    watched.clock.now = watched.clock.now.replace(microsecond=950_000)
    usage: dict[str, Any] = {"kind": "llm", "cost": 1.5, "inputTokens": 90, "outputTokens": 20}
    [trace] = await watched.send("ok", duration_ms=900, **usage)
    signal = {"signalName": "rating", "value": 1, "traceId": trace}
    moment = (watched.clock.now - timedelta(seconds=1)).isoformat()
    await watched.person.data("POST", "/signals", json={**signal, "timestamp": moment})
    alerts = await watched.evaluate()
    values = {alert["metric"]: alert["value"] for alert in alerts}
    assert values == {
        "p95Latency": pytest.approx(900),
        "avgLatency": pytest.approx(900),
        "cost": 1.5,
        "totalTokens": 110,
        "requestCount": 1,
        "signal": 1,
    }
    assert all(alert["exampleTraceIds"] == [trace] for alert in alerts)


async def test_usage_without_a_price_raises_an_alert(watched: Watched) -> None:
    await watched.watch({"metric": "unpricedTokens", "condition": "above", "threshold": 0})
    usage: dict[str, Any] = {"kind": "llm", "model": "in-house", "inputTokens": 90}
    priced = watched.span("planner", "ok", **usage, cost=0.5)
    unpriced = watched.span("planner", "ok", minutes=1, **usage, outputTokens=20)
    await send_traces(watched.person, [priced, unpriced])
    assert await watched.evaluate() == []
    [alert] = await watched.evaluate(minutes=1)
    assert (alert["value"], alert["exampleTraceIds"][0]) == (110, unpriced["traceId"])
    assert "tokens without a price 110 is above 0" in alert["title"]


async def test_a_signal_counts_only_for_its_agent(watched: Watched) -> None:
    rating = {"metric": "signal", "signalName": "rating", "condition": "below", "threshold": 2}
    agent = await watched.watch({**rating, "minSamples": 3})
    spans = [watched.span(agent, "ok") for agent in ("planner", "other")]
    await send_traces(watched.person, spans)
    mine, other = (span["traceId"] for span in spans)
    moment = (watched.clock.now - timedelta(seconds=1)).isoformat()
    shared = {"signalName": "rating", "timestamp": moment}
    signals = [
        {**shared, "value": 1, "traceId": mine},
        {**shared, "value": 0, "traceId": other},
        {**shared, "value": 2, "agentId": "planner"},
        {**shared, "value": 5, "agentId": "other"},
        {**shared, "signalName": "stars", "value": 9, "agentId": "planner"},
    ]
    await watched.person.data("POST", "/signals/batch", json=signals)
    assert await watched.evaluate() == []
    by_id = {**shared, "value": 0, "agentId": agent["id"]}
    await watched.person.data("POST", "/signals", json=by_id)
    [alert] = await watched.evaluate()
    assert (alert["value"], alert["exampleTraceIds"]) == (1, [mine])


async def test_silence_is_a_low_number_of_requests(watched: Watched) -> None:
    await watched.watch({"metric": "requestCount", "condition": "below", "threshold": 1})
    spans = [watched.span("planner", "ok", minutes=minutes) for minutes in (0, 11, 11)]
    await send_traces(watched.person, spans)
    assert await watched.evaluate() == []
    [alert] = await watched.evaluate(minutes=10)
    assert alert["value"] == 0
    [alert] = await watched.evaluate(minutes=1)
    assert alert["status"] == "resolved"


async def test_acknowledging_and_reopening_keep_the_history_of_an_alert(
    watched: Watched,
) -> None:
    await watched.watch(RULE)
    await watched.send("error")
    [alert] = await watched.evaluate()
    seen = await watched.move(alert, "acknowledge", note="on it")
    assert seen["status"] == "acknowledged"
    assert seen["acknowledgedBy"] == watched.person.user["id"]
    assert await watched.move(alert, "acknowledge") == seen
    again = await watched.move(alert, "reopen")
    assert (again["status"], again["acknowledgedAt"]) == ("active", None)
    assert await watched.move(alert, "reopen") == again
    history = [(m["from"], m["to"], m["note"]) for m in again["history"]]
    assert history == [
        (None, "active", None),
        ("active", "acknowledged", "on it"),
        ("acknowledged", "active", None),
    ]
    types = [e["type"] for e in await watched.person.data("GET", "/events")]
    assert [t for t in types if t.startswith("alert.")] == [
        "alert.reopened",
        "alert.acknowledged",
        "alert.triggered",
    ]


async def test_an_acknowledged_alert_resolves_and_cannot_be_acknowledged_then(
    watched: Watched,
) -> None:
    await watched.watch(RULE)
    spans = [watched.span("planner", "error"), watched.span("planner", "ok", minutes=6)]
    await send_traces(watched.person, spans)
    [alert] = await watched.evaluate()
    await watched.move(alert, "acknowledge")
    [alert] = await watched.evaluate(minutes=6)
    assert alert["status"] == "resolved"
    path = f"/spans/alerts/{alert['id']}/acknowledge"
    assert_error(await watched.person.call("PUT", path, json={}), 400)


async def test_a_reopened_alert_stays_open_until_it_has_recovered_for_a_while(
    watched: Watched,
) -> None:
    await watched.watch(RULE)
    spans = [watched.span("planner", "error")]
    spans += [watched.span("planner", "ok", minutes=minutes) for minutes in (6, 14, 18, 22, 26)]
    await send_traces(watched.person, spans)
    await watched.evaluate()
    [alert] = await watched.evaluate(minutes=6)
    await watched.move(alert, "reopen")
    [alert] = await watched.evaluate(minutes=1)
    assert (alert["status"], alert["resolvedAt"]) == ("active", None)
    await watched.evaluate(minutes=3)
    for _ in range(4):
        [alert] = await watched.evaluate(minutes=4)
    assert alert["status"] == "resolved"


async def test_alerts_of_rules_that_are_removed_or_switched_off_resolve(watched: Watched) -> None:
    await watched.watch(RULE)
    path = "/agents/{}/alerts"
    await watched.person.call("POST", "/agents", json={"name": "writer"})
    await watched.person.data("PUT", path.format("writer"), json={"rules": [RULE]})
    await send_traces(watched.person, [watched.span(a, "error") for a in ("planner", "writer")])
    assert len(await watched.evaluate()) == 2
    await watched.person.data("PUT", path.format("planner"), json={"enabled": False})
    await watched.person.data("PUT", path.format("writer"), json={"rules": []})
    alerts = await watched.evaluate(minutes=1)
    assert [alert["status"] for alert in alerts] == ["resolved"] * 2
    notes = {alert["history"][-1]["note"] for alert in alerts}
    assert notes == {"the rule was removed or switched off"}


async def test_alerts_are_filtered_and_summarized(watched: Watched) -> None:
    await watched.watch(RULE, {**RULE, "id": "cost", "metric": "requestCount", "threshold": 0})
    await watched.send("error")
    first, second = await watched.evaluate()
    await watched.move(first, "acknowledge")
    person = watched.person

    async def ids(**params: str) -> list[str]:
        return [a["id"] for a in await person.data("GET", "/spans/alerts", params=params)]

    assert await ids(status="acknowledged") == [first["id"]]
    assert await ids(severity="critical") == []
    assert await ids(agentId="planner") == await ids(agentId=first["agentId"])
    assert await ids(agentId="nobody") == []
    assert await ids(startDate="2020-01-01", endDate="2020-01-02") == []
    assert_error(await person.call("GET", "/spans/alerts?status=odd"), 400, "status")
    summary = await person.data("GET", "/spans/alerts/summary")
    counts = {"active": 1, "acknowledged": 1, "resolved": 0}
    assert summary == {
        "total": 2,
        **counts,
        "bySeverity": {"info": 0, "warning": 2, "critical": 0},
        "byAgent": [
            {
                "agentId": second["agentId"],
                "agentName": "planner",
                **counts,
                "lastTriggeredAt": second["triggeredAt"],
            }
        ],
    }
    metrics = await person.data("GET", "/analytics/metrics")
    assert metrics["activeAlerts"] == 1


@pytest.mark.parametrize(
    ("change", "field"), [({"threshold": None}, "threshold"), ({"metric": "errors"}, "metric")]
)
async def test_an_invalid_rule_is_named_and_the_old_settings_are_kept(
    watched: Watched, change: dict[str, Any], field: str
) -> None:
    before = await watched.watch(RULE)
    body = {"rules": [RULE, {**RULE, "id": "second", "name": "Second", **change}]}
    refused = await watched.person.call("PUT", "/agents/planner/alerts", json=body)
    assert_error(refused, 400, f"rules.1.{field}")
    assert await watched.person.data("GET", "/agents/planner") == before


async def test_settings_with_too_much_or_the_wrong_receivers_are_refused(
    watched: Watched,
) -> None:
    before = await watched.watch(RULE)
    bad = {
        "rules": {"rules": [{**RULE, "id": f"r{n}"} for n in range(1000)]},
        "rules.1.id": {"rules": [RULE, RULE]},
        "notify.emails.0": {"notify": {"emails": ["nobody"]}},
        "notify.webhooks.1.url": {
            "notify": {
                "webhooks": [{"url": "https://hooks.invalid/"}, {"url": "http://127.0.0.1/"}]
            }
        },
        "enabled": {"enabled": "yes"},
    }
    for field, body in bad.items():
        refused = await watched.person.call("PUT", "/agents/planner/alerts", json=body)
        assert_error(refused, 400, field)
    assert await watched.person.data("GET", "/agents/planner") == before


async def test_settings_can_be_changed_in_parts_and_show_secrets_once(watched: Watched) -> None:
    hook = {"url": "https://hooks.invalid/hook"}
    agent = await watched.watch(RULE, emails=["ann@example.com"], webhooks=[hook])
    [shown] = agent["alertSettings"]["notify"]["webhooks"]
    assert shown["secret"].startswith("whsec_")
    stored = (await watched.person.data("GET", "/agents/planner"))["alertSettings"]
    assert stored["notify"]["webhooks"] == [{**hook, "secret": None}]
    [rule] = stored["rules"]
    assert (rule["windowMinutes"], rule["forMinutes"], rule["minSamples"]) == (5, 0, 1)
    assert rule["severity"] == "warning"
    body = {"enabled": False, "notify": {"emails": []}}
    changed = await watched.person.data("PUT", "/agents/planner/alerts", json=body)
    settings = changed["alertSettings"]
    assert settings["rules"] == stored["rules"]
    assert settings["notify"] == {"emails": [], "webhooks": [shown], "channels": []}
    assert settings["enabled"] is False


async def test_a_backtest_returns_when_rules_would_have_fired(watched: Watched) -> None:
    await watched.watch()
    spans = []
    for days in (10, 3):
        start = watched.clock.now - timedelta(days=days)
        spans += [
            make_span("planner", start=start + timedelta(minutes=minutes, seconds=s), status=status)
            for minutes, status in ((0, "error"), (20, "ok"))
            for s in range(5)
        ]
    await send_traces(watched.person, spans)
    quiet = {**RULE, "id": "quiet", "minSamples": 50}
    body = {"rules": [RULE, quiet]}
    path = "/agents/planner/alerts/backtest"
    answer = await watched.person.data("POST", path, json=body)
    errors, other = answer["rules"]
    assert (errors["ruleId"], errors["fired"], other["fired"]) == ("errors", 2, 0)
    starts = [firing["start"] for firing in errors["firings"]]
    assert starts == sorted(starts)
    assert all(firing["end"] is not None for firing in errors["firings"])
    assert max(point["value"] or 0 for point in errors["points"]) > 0
    assert await watched.person.data("GET", "/spans/alerts") == []
    bad = await watched.person.call("POST", path, json={"rules": [{**RULE, "threshold": None}]})
    assert_error(bad, 400, "rules.0.threshold")


async def test_an_alert_is_charted_around_its_own_time_with_its_own_rule(
    watched: Watched,
) -> None:
    only = [{"field": "environment", "value": "production"}]
    await watched.watch({**RULE, "filters": only})
    spans = [
        watched.span("planner", "ok", environment="staging"),
        watched.span("planner", "error", environment="production"),
    ]
    await send_traces(watched.person, spans)
    [alert] = await watched.evaluate(seconds=10)
    assert alert["rule"]["filters"] == [{**only[0], "op": "eq"}]
    # Long after, the rule and its agent are gone.
    watched.clock.turn(minutes=40 * 24 * 60)
    await watched.person.data("DELETE", "/agents/planner")
    await watched.evaluate()
    path = f"/spans/alerts/{alert['id']}/backtest"
    found = await watched.person.data("GET", path)
    assert found["start"] < alert["windowStart"] < alert["windowEnd"] < found["end"]
    day = timedelta(days=1)
    triggered = datetime.fromisoformat(alert["triggeredAt"])
    assert datetime.fromisoformat(found["start"]) == triggered - day
    [rule] = found["rules"]
    assert (rule["ruleId"], rule["fired"]) == ("errors", 1)
    assert max(point["value"] or 0 for point in rule["points"]) == 1
    missing = await watched.person.call("GET", "/spans/alerts/alr_none/backtest")
    assert_error(missing, 404)
