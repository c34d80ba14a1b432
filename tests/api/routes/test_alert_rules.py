"""Rules of the whole workspace, the list of all rules, and the metrics that a rule can have."""

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from spanwise.model.alerts import AlertRule, AlertSettings
from spanwise.storage.catalog.alerting.alert_settings import set_workspace_settings
from support.alerting import UNDISTURBED, RuleDesk, forget_alerting
from support.clock import Clock
from support.service import Service, assert_error, start_service
from support.traces import make_span, send_traces

FIRST_TOKEN = {
    "metric": "query",
    "measure": "p95TimeToFirstToken",
    "of": "spans",
    "condition": "above",
    "threshold": 1000,
}
ERRORS = {"id": "errors", "metric": "errorRate", "condition": "above", "threshold": 0.5}


class Desk(RuleDesk):
    """A user with rules for the whole workspace, and the clock of the rule evaluation."""

    async def watch(self, *rules: dict[str, Any]) -> dict[str, Any]:
        body = {"rules": list(rules)}
        settings: dict[str, Any] = await self.person.data("PUT", "/alerts/settings", json=body)
        return settings


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
async def running(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None, clock: Clock
) -> AsyncIterator[Service]:
    async with start_service(tmp_path_factory.mktemp("rules"), clock, **UNDISTURBED) as service:
        yield service


@pytest.fixture
async def desk(running: Service, clock: Clock) -> AsyncIterator[Desk]:
    yield Desk(running, await running.sign_up(), clock)
    await forget_alerting(running, clock)


async def test_a_workspace_rule_measures_the_traces_of_all_agents(desk: Desk) -> None:
    await desk.watch({**ERRORS, "name": "Everywhere"})
    failed = [desk.span(agent, "error") for agent in ("planner", "planner", "writer")]
    await send_traces(desk.person, [*failed, desk.span("writer", "ok")])
    [alert] = await desk.evaluate()
    assert (alert["agentId"], alert["agentName"]) == (None, "All agents")
    assert alert["title"] == "All agents: error rate 75.0% is above 50.0%"
    assert set(alert["exampleTraceIds"]) == {span["traceId"] for span in failed}
    summary = await desk.person.data("GET", "/spans/alerts/summary")
    assert [one["agentId"] for one in summary["byAgent"]] == [None]
    path = f"/spans/alerts/{alert['id']}"
    await desk.person.data("PUT", f"{path}/acknowledge")
    assert (await desk.person.data("PUT", f"{path}/reopen"))["status"] == "active"
    [still] = await desk.evaluate(minutes=1)
    assert (still["id"], still["occurrences"]) == (alert["id"], 2)
    await desk.watch()
    [resolved] = await desk.evaluate(minutes=1)
    assert resolved["status"] == "resolved"


async def test_a_signal_of_a_workspace_rule_is_the_mean_over_all_agents(desk: Desk) -> None:
    await desk.watch(
        {"metric": "signal", "signalName": "rating", "condition": "below", "threshold": 3}
    )
    spans = [desk.span(agent, "ok") for agent in ("planner", "writer", "editor")]
    await send_traces(desk.person, spans)
    shared = {"signalName": "rating", "timestamp": desk.clock.now.isoformat()}
    signals = [
        {**shared, "value": value, "traceId": span["traceId"]}
        for span, value in zip(spans, (5, 0, 1), strict=True)
    ]
    await desk.person.data("POST", "/signals/batch", json=signals)
    [alert] = await desk.evaluate()
    assert alert["value"] == 2
    assert len(alert["exampleTraceIds"]) == 3


async def test_filters_restrict_what_a_rule_measures(desk: Desk) -> None:
    only = [{"field": "environment", "value": "production"}]
    await desk.watch({**ERRORS, "filters": only})
    others = [
        desk.span("planner", "error", environment="staging"),
        desk.span("planner", "ok", environment="production"),
    ]
    failed = [desk.span("planner", "error", minutes=1, environment="production") for _ in range(2)]
    await send_traces(desk.person, [*others, *failed])
    assert await desk.evaluate() == []
    [alert] = await desk.evaluate(minutes=1)
    assert alert["value"] == pytest.approx(2 / 3)
    assert set(alert["exampleTraceIds"]) == {span["traceId"] for span in failed}
    assert "2 of 3 traces where environment is production failed" in alert["description"]


async def test_filters_of_an_agents_rule_keep_to_the_agent(desk: Desk) -> None:
    await desk.person.data("POST", "/agents", json={"name": "planner"})
    filters = [{"field": "model", "op": "in", "value": ["gpt-4o"]}]
    rule = {"metric": "requestCount", "condition": "above", "threshold": 1, "filters": filters}
    await desk.person.data("PUT", "/agents/planner/alerts", json={"rules": [rule]})
    others = [
        ("writer", "gpt-4o"),
        ("writer", "gpt-4o"),
        ("planner", "other"),
        ("planner", "other"),
    ]
    spans = [desk.span(agent, "ok", kind="llm", model=model) for agent, model in others]
    spans += [
        desk.span("planner", "ok", minutes=minutes, kind="llm", model="gpt-4o")
        for minutes in (0, 1)
    ]
    await send_traces(desk.person, spans)
    assert await desk.evaluate() == []
    [alert] = await desk.evaluate(minutes=1)
    assert alert["value"] == 2


async def test_any_query_can_be_a_metric(desk: Desk) -> None:
    filters = [{"field": "tool", "value": "search"}]
    slow = {"metric": "query", "measure": "p99", "of": "spans", "filters": filters}
    await desk.watch({**slow, "condition": "above", "threshold": 1000})
    other = desk.span("planner", "ok", kind="tool", toolName="other", duration_ms=900_000)
    quick = desk.span("planner", "ok", kind="tool", toolName="search", duration_ms=500)
    long = desk.span("planner", "ok", minutes=1, kind="tool", toolName="search", duration_ms=2000)
    await send_traces(desk.person, [other, quick, long])
    assert await desk.evaluate() == []
    [alert] = await desk.evaluate(seconds=70)
    assert (alert["metric"], alert["measure"]) == ("query", "p99")
    assert alert["value"] == pytest.approx(1985)
    assert alert["title"] == "All agents: p99 latency of spans 1.99 s is above 1 s"
    assert long["traceId"] in alert["exampleTraceIds"]


async def test_the_time_to_the_first_token_of_spans_can_be_a_metric(desk: Desk) -> None:
    await desk.watch(FIRST_TOKEN)
    streamed = {"gen_ai.response.time_to_first_chunk": 2.5}
    await desk.send("ok", kind="llm", model="gpt-4o", duration_ms=5000, attributes=streamed)
    [alert] = await desk.evaluate(seconds=10)
    assert alert["value"] == pytest.approx(2500)
    assert alert["title"] == "All agents: p95 time to first token of spans 2.50 s is above 1 s"
    desk.clock.turn(minutes=10)
    found = await desk.person.data("POST", "/alerts/backtest", json={"rules": [FIRST_TOKEN]})
    assert found["rules"][0]["fired"] == 1


async def test_examples_of_failed_spans_are_traces_that_contain_them(desk: Desk) -> None:
    rule = {"metric": "query", "measure": "errors", "of": "spans", "condition": "above"}
    await desk.watch({**rule, "threshold": 2})
    traces, spans = [], []
    for failures in (1, 2, 0):
        # The agent recovers: only tools fail.
        root = desk.span("planner", "ok")
        child = {"traceId": root["traceId"], "parentSpanId": root["spanId"], "kind": "tool"}
        tools = [desk.span("planner", "error", toolName="search", **child) for _ in range(failures)]
        spans += [root, *tools]
        traces.append(root["traceId"])
    await send_traces(desk.person, spans)
    [alert] = await desk.evaluate(seconds=5)
    assert alert["value"] == 3
    assert alert["exampleTraceIds"] == [traces[1], traces[0]]


async def test_examples_of_a_slow_first_token_are_the_slowest(desk: Desk) -> None:
    await desk.watch(FIRST_TOKEN)
    waits = [{"gen_ai.response.time_to_first_chunk": seconds} for seconds in (2.5, 4, 1.5)]
    waits.insert(2, {})
    llm: dict[str, Any] = {"kind": "llm", "model": "gpt-4o", "duration_ms": 9000}
    spans = [desk.span("planner", "ok", attributes=times, **llm) for times in waits]
    await send_traces(desk.person, spans)
    traces = [span["traceId"] for span in spans]
    [alert] = await desk.evaluate(seconds=10)
    assert alert["exampleTraceIds"] == [traces[1], traces[0], traces[3]]


async def test_a_window_without_streamed_calls_does_not_clear_the_condition(desk: Desk) -> None:
    measures = ("p95TimeToFirstToken", "avgTimeToFirstToken")
    await desk.watch(*({**FIRST_TOKEN, "measure": measure} for measure in measures))
    streamed = {"gen_ai.response.time_to_first_chunk": 2.5}
    llm: dict[str, Any] = {"kind": "llm", "model": "gpt-4o"}
    spans = [desk.span("planner", "ok", duration_ms=5000, attributes=streamed, **llm)]
    spans += [desk.span("planner", "ok", minutes=10 * step, **llm) for step in range(1, 5)]
    await send_traces(desk.person, spans)
    alerts = await desk.evaluate(seconds=10)
    assert {alert["measure"] for alert in alerts} == set(measures)
    for _ in range(4):
        still = await desk.evaluate(minutes=10)
        assert {one["id"] for one in still} == {alert["id"] for alert in alerts}
        assert {(one["status"], one["occurrences"]) for one in still} == {("active", 1)}
    for alert in alerts:
        backtest = await desk.person.data("GET", f"/spans/alerts/{alert['id']}/backtest")
        assert backtest["rules"][0]["points"][-1]["value"] in {None, 2500}


async def test_the_minimum_of_samples_counts_spans_with_a_first_token(desk: Desk) -> None:
    await desk.watch({**FIRST_TOKEN, "minSamples": 2})
    streamed = {"gen_ai.response.time_to_first_chunk": 2.5}
    llm: dict[str, Any] = {"kind": "llm", "model": "gpt-4o", "duration_ms": 5000}
    spans = [desk.span("planner", "ok", attributes=streamed, minutes=m, **llm) for m in (0, 1)]
    spans += [desk.span("planner", "ok", **llm) for _ in range(3)]
    await send_traces(desk.person, spans)
    assert await desk.evaluate(seconds=10) == []
    [alert] = await desk.evaluate(minutes=1)
    assert "in 2 spans" in alert["description"]


async def test_a_stored_rule_that_is_no_longer_valid_is_named(desk: Desk) -> None:
    rule = AlertRule.model_validate({**FIRST_TOKEN, "id": "first", "of": "traces"})
    workspace = desk.person.user["defaultWorkspaceId"]
    async with desk.service.services.catalog.write() as tx:
        await set_workspace_settings(tx, workspace, AlertSettings(rules=[rule]))
    response = await desk.person.call("POST", "/alerts/backtest", json={})
    assert_error(response, 400, "rules.0.of")
    # Other settings can still be changed.
    changed = await desk.person.data("PUT", "/alerts/settings", json={"enabled": False})
    assert not changed["enabled"]
    assert changed["rules"][0]["of"] == "traces"


async def test_a_query_that_counts_is_zero_without_rows(desk: Desk) -> None:
    rule = {"metric": "query", "measure": "count", "condition": "below", "threshold": 1}
    await desk.watch({**rule, "filters": [{"field": "tool", "value": "heartbeat"}]})
    beats = [
        desk.span("planner", "ok", minutes=1, kind="tool", toolName="heartbeat") for _ in range(2)
    ]
    await send_traces(desk.person, beats)
    [alert] = await desk.evaluate()
    assert alert["value"] == 0
    [alert] = await desk.evaluate(minutes=1)
    assert alert["status"] == "resolved"


async def test_a_new_failure_is_named_and_linked(desk: Desk) -> None:
    await desk.watch(
        {"metric": "newFailureGroup", "condition": "above", "threshold": 0, "windowMinutes": 60}
    )
    await desk.send("ok")
    assert await desk.evaluate() == []
    [trace] = await desk.send(
        "error", kind="tool", toolName="search", statusMessage="quota exceeded"
    )
    [alert] = await desk.evaluate(minutes=1)
    assert alert["title"] == "planner: new failure: search: quota exceeded"
    assert alert["exampleTraceIds"] == [trace]
    [failure] = await desk.person.data("GET", "/analytics/failures")
    assert alert["failureId"] == failure["id"]
    await desk.send("error", kind="tool", toolName="browse", statusMessage="no such page")
    [alert] = await desk.evaluate(minutes=1)
    assert (alert["value"], alert["occurrences"]) == (2, 2)
    assert alert["title"].endswith("and 1 more")
    [resolved] = await desk.evaluate(minutes=90)
    assert resolved["status"] == "resolved"


async def test_a_failure_marked_as_muted_raises_no_alert(desk: Desk) -> None:
    await desk.send("error", kind="tool", toolName="search", statusMessage="quota exceeded")
    [failure] = await desk.person.data("GET", "/analytics/failures")
    body = {"status": "muted"}
    await desk.person.data("PUT", f"/analytics/failures/{failure['id']}", json=body)
    await desk.watch(
        {"metric": "newFailureGroup", "condition": "above", "threshold": 0, "windowMinutes": 60}
    )
    assert await desk.evaluate() == []


async def test_all_rules_are_in_one_list(desk: Desk) -> None:
    await desk.send("error", agent="planner")
    await desk.watch({**ERRORS, "name": "Everywhere"}, {**ERRORS, "id": "off", "enabled": False})
    body = {"enabled": False, "rules": [{**ERRORS, "name": "Planner"}]}
    agent = await desk.person.data("PUT", "/agents/planner/alerts", json=body)
    [alert] = await desk.evaluate()
    rules = await desk.person.data("GET", "/alerts/rules")
    assert [(one["agentName"], one["rule"]["name"], one["enabled"]) for one in rules] == [
        ("All agents", "Everywhere", True),
        ("All agents", None, False),
        ("planner", "Planner", False),
    ]
    assert [one["agentId"] for one in rules] == [None, None, agent["id"]]
    assert (rules[0]["lastAlertId"], rules[0]["lastAlertStatus"]) == (alert["id"], "active")
    assert rules[1]["lastAlertId"] is None
    page = (await desk.person.call("GET", "/alerts/rules?limit=1&skip=1")).json()
    assert [one["rule"]["id"] for one in page["data"]] == ["off"]
    assert page["pagination"]["total"] == 3


async def test_changes_of_workspace_rules_are_audited(desk: Desk) -> None:
    settings = await desk.watch({**ERRORS, "id": None})
    assert settings["rules"][0]["id"].startswith("rul_")
    workspace = desk.person.user["defaultWorkspaceId"]
    entries = await desk.person.data("GET", f"/workspaces/{workspace}/audit")
    assert [one["action"] for one in entries].count("alert_rules.changed") == 1
    assert await desk.person.data("GET", "/alerts/settings") == settings


async def test_workspace_rules_are_backtested(desk: Desk) -> None:
    start = desk.clock.now - timedelta(hours=30)
    failed = [
        make_span(agent, start=start + timedelta(minutes=m), status="error")
        for m in range(30)
        for agent in ("planner", "writer")
    ]
    calm = [make_span("planner", start=start + timedelta(hours=h)) for h in range(2, 30)]
    await send_traces(desk.person, [*failed, *calm])
    query = {"metric": "query", "measure": "errors", "condition": "above", "threshold": 5}
    failures = {"metric": "newFailureGroup", "condition": "above", "threshold": 0}
    rules = [{**ERRORS, "minSamples": 2}, query, failures]
    found = await desk.person.data("POST", "/alerts/backtest", json={"rules": rules})
    errors, queried, new = found["rules"]
    assert (errors["fired"], queried["fired"], new["fired"]) == (1, 1, 1)
    # Later traces come one by one.
    assert 0 < errors["skipped"] < errors["windows"]
    assert queried["skipped"] == 0
