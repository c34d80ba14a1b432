"""Alert evaluation runs once per installation, with few queries, and reports its failures."""

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from spanwise.jobs.alert_evaluation import AlertEvaluator
from spanwise.storage.telemetry.engine.client_pool import Engine
from support.alerting import UNDISTURBED, forget_alerting
from support.clock import Clock
from support.service import Person, Service, start_service
from support.traces import make_span, send_traces

# On the second database what the catalog decides: which replica evaluates, and that it does once.
ON_BOTH = pytest.mark.parametrize("database", ["sqlite", "postgresql"], indirect=True)
RULE = {"id": "errors", "metric": "errorRate", "condition": "above", "threshold": 0.5}


@pytest.fixture(scope="module")
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="module")
async def on_sqlite(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None, clock: Clock
) -> AsyncIterator[Service]:
    async with start_service(tmp_path_factory.mktemp("alerts"), clock, **UNDISTURBED) as running:
        yield running


@pytest.fixture
async def on_postgresql(
    tmp_path: Path, postgres_catalog: str, clock: Clock
) -> AsyncIterator[Service]:
    settings = {"catalog_url": postgres_catalog, **UNDISTURBED}
    async with start_service(tmp_path, clock, **settings) as running:
        yield running


@pytest.fixture
def database(request: pytest.FixtureRequest) -> str:
    return str(getattr(request, "param", "sqlite"))


@pytest.fixture
def running(request: pytest.FixtureRequest, database: str) -> Service:
    found: Service = request.getfixturevalue(f"on_{database}")
    return found


@pytest.fixture
async def service(running: Service, clock: Clock) -> AsyncIterator[Service]:
    """One service for the module; each test has its own workspaces and starts now."""
    yield running
    await forget_alerting(running, clock)


async def watch(person: Person, *rules: dict[str, Any], agent: str = "planner") -> None:
    await person.call("POST", "/agents", json={"name": agent})
    await person.data("PUT", f"/agents/{agent}/alerts", json={"rules": list(rules)})


async def send(person: Person, clock: Clock, *statuses: str, agent: str = "planner") -> None:
    start = clock.now - timedelta(seconds=1)
    await send_traces(person, [make_span(agent, start=start, status=s) for s in statuses])


def replica(service: Service, holder: str, clock: Clock) -> AlertEvaluator:
    use = service.services
    return AlertEvaluator(
        use.catalog, use.alerting.rule_windows, use.ingest.pipeline, 60, holder, clock
    )


@ON_BOTH
async def test_replicas_raise_one_alert_between_them(service: Service, clock: Clock) -> None:
    ann = await service.sign_up()
    await watch(ann, RULE)
    await send(ann, clock, "error")
    replicas = [replica(service, f"replica-{n}", clock) for n in range(4)]
    await asyncio.gather(*(each.run() for each in replicas))
    clock.turn(minutes=1)
    await asyncio.gather(*(each.run() for each in replicas))
    [alert] = await ann.data("GET", "/spans/alerts")
    assert alert["occurrences"] == 2
    assert sum(each.health.passes for each in replicas) == 2
    assert all(each.health.state == "ok" for each in replicas)


async def test_a_replica_takes_over_without_repeating_or_forgetting(
    service: Service, clock: Clock
) -> None:
    ann = await service.sign_up()
    await watch(ann, {**RULE, "forMinutes": 2})
    await send(ann, clock, "error")
    first, second = replica(service, "first", clock), replica(service, "second", clock)
    await first.run()
    clock.turn(minutes=1)
    await second.run()
    assert second.health.passes == 0
    clock.turn(minutes=3)
    await second.run()
    # The breach started before the takeover.
    [alert] = await ann.data("GET", "/spans/alerts")
    await first.run()
    [same] = await ann.data("GET", "/spans/alerts")
    assert (same["id"], same["occurrences"]) == (alert["id"], 1)
    await second.release()
    await first.run()
    assert first.health.passes == 2


async def test_an_evaluation_that_loses_its_lease_writes_nothing(
    service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    await watch(ann, RULE)
    await send(ann, clock, "error")
    slow, quick = replica(service, "slow", clock), replica(service, "quick", clock)
    measure = slow._measurer.measure

    async def stall(*args: Any) -> Any:
        measured = await measure(*args)
        clock.turn(minutes=4)
        await quick.run()
        return measured

    monkeypatch.setattr(slow._measurer, "measure", stall)
    await slow.run()
    assert len(await ann.data("GET", "/spans/alerts")) == 1
    assert len(await ann.data("GET", "/events?type=alert.triggered")) == 1


async def test_many_agents_take_one_query_per_window(
    service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    for person in (ann, bob):
        for number in range(5):
            rules = [{**RULE, "id": f"r{w}", "windowMinutes": w} for w in (5, 15)]
            rules.append({"metric": "avgLatency", "condition": "above", "threshold": 1})
            await watch(person, *rules, agent=f"agent-{number}")
    queries: list[str] = []
    fetch = Engine.fetch

    async def count(self: Engine, sql: str, *args: Any, **options: Any) -> Any:
        queries.append(options["tag"])
        return await fetch(self, sql, *args, **options)

    monkeypatch.setattr(Engine, "fetch", count)
    await service.services.alerting.alert_jobs.evaluate()
    assert queries == ["measure_traces"] * 2


async def test_rules_of_one_workspace_do_not_see_traces_of_another(
    service: Service, clock: Clock
) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    for person in (ann, bob):
        await watch(person, RULE)
        await person.data("PUT", "/alerts/settings", json={"rules": [RULE]})
    await asyncio.gather(send(ann, clock, "ok"), send(bob, clock, "error"))
    await service.services.alerting.alert_jobs.evaluate()
    assert await ann.data("GET", "/spans/alerts") == []
    assert (await ann.data("GET", "/spans/alerts/summary"))["total"] == 0
    assert "alert.triggered" not in [e["type"] for e in await ann.data("GET", "/events")]
    alerts = await bob.data("GET", "/spans/alerts")
    assert sorted(alert["agentName"] for alert in alerts) == ["All agents", "planner"]
    assert {alert["value"] for alert in alerts} == {1}


async def test_a_query_that_fails_does_not_stop_other_rules(
    service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    await watch(ann, RULE)
    count = {"metric": "query", "measure": "count", "windowMinutes": 60}
    costly = {**count, "condition": "below", "threshold": 1}
    await bob.data("PUT", "/alerts/settings", json={"rules": [costly]})
    await send(ann, clock, "error")
    fetch = Engine.fetch

    async def fail(self: Engine, sql: str, *args: Any, **options: Any) -> Any:
        if options["tag"] == "measure_query":
            raise MemoryError("too much memory")
        return await fetch(self, sql, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "fetch", fail)
        await service.services.alerting.alert_jobs.evaluate()
    assert len(await ann.data("GET", "/spans/alerts")) == 1
    assert await bob.data("GET", "/spans/alerts") == []
    await service.services.alerting.alert_jobs.evaluate()
    assert len(await bob.data("GET", "/spans/alerts")) == 1


async def test_an_evaluation_that_fails_is_visible_and_recovers(
    service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    await watch(ann, RULE)
    watching = service.services.alerting.alert_jobs

    async def job_state() -> tuple[str, bool]:
        ready = (await service.call("GET", "/ready")).json()["data"]
        metrics = (await service.http.get("/metrics")).text
        return ready["jobs"]["alerts"], "spanwise_alert_evaluation_healthy 1.0" in metrics

    async def fail(*_args: Any, **_options: Any) -> Any:
        raise RuntimeError("the engine is away")

    with monkeypatch.context() as broken:
        broken.setattr(Engine, "fetch", fail)
        with pytest.raises(RuntimeError):
            await watching.evaluate()
    assert await job_state() == ("failing", False)
    await watching.evaluate()
    assert await job_state() == ("ok", True)
    watching.health.last_pass_at = (watching.health.last_pass_at or 0) - 24 * 3600
    assert await job_state() == ("stalled", False)


async def test_an_anomaly_is_detected_from_weeks_of_history(service: Service, clock: Clock) -> None:
    ann = await service.sign_up()
    clock.now = clock.now.replace(minute=30, second=0, microsecond=0)
    hour = clock.now.replace(minute=0)
    usual = [hour - timedelta(days=7 * week) for week in (1, 2, 3, 4)]
    usual += [hour - timedelta(hours=hours) for hours in range(1, 25)]
    spans = [
        make_span("planner", start=start + timedelta(minutes=minute), duration_ms=100 + minute % 3)
        for start in usual
        for minute in range(60)
        for _ in range(3)
    ]
    spans += [
        make_span(
            "planner", start=clock.now + timedelta(minutes=minute, seconds=-s), duration_ms=210
        )
        for minute in range(1, 6)
        for s in range(2, 14)
    ]
    await send_traces(ann, spans)
    await watch(ann, {"id": "slow", "metric": "avgLatency", "condition": "anomaly"})
    for minute in range(5):
        clock.turn(minutes=1)
        await service.services.alerting.alert_jobs.evaluate()
        alerts = await ann.data("GET", "/spans/alerts")
        if minute < 2:
            assert alerts == []
    [alert] = alerts
    assert alert["value"] == pytest.approx(210, abs=1)
    assert alert["baseline"] == pytest.approx(101, abs=2)
    assert "unusual" in alert["title"]
    path = "/agents/planner/alerts/backtest"
    rule = {"metric": "avgLatency", "condition": "anomaly"}
    answer = await ann.data("POST", path, json={"rules": [rule]})
    assert answer["rules"][0]["fired"] == 1


async def test_a_trace_of_any_length_counts_when_it_ends(service: Service, clock: Clock) -> None:
    ann = await service.sign_up()
    slow = {"id": "slow", "metric": "p95Latency", "condition": "above", "threshold": 3_600_000}
    liked = {"metric": "signal", "signalName": "liked", "condition": "below", "threshold": 0.5}
    ended = clock.now - timedelta(seconds=10)
    lengths = {
        "an hour": timedelta(minutes=61),
        "hours": timedelta(hours=5),
        "weeks": timedelta(days=40),
    }
    spans, votes, ids = [], [], {}
    for agent, length in lengths.items():
        await watch(ann, {**RULE, "windowMinutes": 5}, slow, {**liked, "id": "liked"}, agent=agent)
        milliseconds = length.total_seconds() * 1000
        start = ended - length
        span = make_span(agent, start=start, duration_ms=milliseconds, status="error")
        spans += [span, make_span(agent, start=start)]
        vote = {"signalName": "liked", "value": 0, "traceId": span["traceId"]}
        votes.append({**vote, "timestamp": ended.isoformat()})
        ids[agent] = span["traceId"]
    await send_traces(ann, spans)
    await ann.data("POST", "/signals/batch", json=votes)
    await service.services.alerting.alert_jobs.evaluate()
    alerts = await ann.data("GET", "/spans/alerts")
    clock.turn(minutes=10)
    for agent in lengths:
        raised = {a["ruleId"]: a for a in alerts if a["agentName"] == agent}
        assert set(raised) == {"errors", "slow", "liked"}
        assert raised["errors"]["value"] == 1
        assert [a["exampleTraceIds"] for a in raised.values()] == [[ids[agent]]] * 3
        path = f"/agents/{agent}/alerts/backtest"
        answer = await ann.data("POST", path, json={"rules": [RULE, slow]})
        assert [rule["fired"] for rule in answer["rules"]] == [1, 1]


async def test_a_backtest_finds_anomalies_in_long_windows_too(
    service: Service, clock: Clock
) -> None:
    ann = await service.sign_up()
    begin = clock.now.replace(minute=0, second=0, microsecond=0) - timedelta(days=3)
    slow_from = begin + timedelta(days=2)
    spans = [
        make_span(
            "planner",
            start=begin + timedelta(minutes=minute),
            duration_ms=500 if 0 <= minute - 2880 < 120 else 100 + minute % 3,
        )
        for minute in range(0, 3 * 24 * 60, 2)
    ]
    await send_traces(ann, spans)
    rule = {"metric": "avgLatency", "condition": "anomaly", "windowMinutes": 40}
    path = "/agents/planner/alerts/backtest"
    [backtest] = (await ann.data("POST", path, json={"rules": [rule]}))["rules"]
    [firing] = backtest["firings"]
    started = datetime.fromisoformat(firing["start"])
    assert slow_from < started < slow_from + timedelta(minutes=45)


async def test_the_examples_of_a_signal_that_is_unusually_low_are_the_lowest(
    service: Service, clock: Clock
) -> None:
    ann = await service.sign_up()
    clock.now = clock.now.replace(minute=30, second=0, microsecond=0)
    hour = clock.now.replace(minute=0)
    hours = [hour - timedelta(days=7 * week) for week in (1, 2, 3, 4)]
    hours += [hour - timedelta(hours=number) for number in range(1, 25)]

    votes = [
        (start + timedelta(seconds=20 * n), 5 + n % 3 / 10) for start in hours for n in range(180)
    ]
    minutes = [clock.now + timedelta(minutes=minute) for minute in range(1, 7)]
    for now in minutes:
        votes += [(now - timedelta(seconds=30 - n), 1.0) for n in range(19)]
        votes.append((now - timedelta(seconds=5), 0.1))
    spans = [make_span("planner", start=at) for at, _ in votes]
    await send_traces(ann, spans)
    lowest = {
        at + timedelta(seconds=5): span["traceId"]
        for span, (at, value) in zip(spans, votes, strict=True)
        if value == 0.1
    }
    signals = [
        {
            "signalName": "liked",
            "value": value,
            "traceId": span["traceId"],
            "timestamp": at.isoformat(),
        }
        for span, (at, value) in zip(spans, votes, strict=True)
    ]
    parts = [signals[part : part + 1000] for part in range(0, len(signals), 1000)]
    # Concurrently, so that they are written together.
    await asyncio.gather(
        *(ann.data("POST", "/signals/batch", json={"signals": part}) for part in parts)
    )
    await watch(
        ann, {"id": "liked", "metric": "signal", "signalName": "liked", "condition": "anomaly"}
    )
    alerts: list[dict[str, Any]] = []
    while not alerts:
        assert clock.turn(minutes=1) in lowest
        await service.services.alerting.alert_jobs.evaluate()
        alerts = await ann.data("GET", "/spans/alerts")
    [alert] = alerts
    assert alert["value"] < alert["baseline"]
    assert alert["exampleTraceIds"][0] == lowest[clock.now]
