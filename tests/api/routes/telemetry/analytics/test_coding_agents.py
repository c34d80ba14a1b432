"""The report on coding agents: calls count once, metrics fill in where there are no calls."""

import asyncio
import json
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from support.metrics import CUMULATIVE, DELTA, Point, make_request
from support.otlp import PROTOBUF, SECOND, make_span, make_traces, pairs
from support.service import Person, Service

GOLDEN = Path(__file__).parents[4] / "golden" / "clients"
NOW = time.time_ns() - 60 * SECOND
PERIOD = {"startDate": "2026-01-01", "endDate": "2030-01-01"}
PERSON = {"user.email": "ann@example.com", "user.account_uuid": "u1"}


@pytest.fixture
async def ann(service: Service) -> Person:
    return await service.sign_up()


async def report(person: Person, **period: str) -> dict[str, Any]:
    found: dict[str, Any] = await person.data("GET", "/analytics/coding-agents", params=period)
    return found


async def send_metric(person: Person, name: str, *points: Point, **options: Any) -> None:
    resource = options.pop("resource", {"service.name": "claude-code"})
    request = make_request(name, points, resource=resource, **options)
    await _send(person, "metrics", request.SerializeToString())


async def send_call(person: Person, session: str, cost: float, **attributes: Any) -> None:
    """Send a model call of Claude Code, as a log record."""
    request = ExportLogsServiceRequest()
    sent = request.resource_logs.add()
    resource = {"service.name": "claude-code", "vcs.repository.name": "shop"}
    sent.resource.attributes.extend(pairs(resource))
    record = sent.scope_logs.add().log_records.add(time_unix_nano=NOW)
    record.body.string_value = "claude_code.api_request"
    values = {
        "session.id": session,
        "prompt.id": f"{session}-1",
        "model": "claude-sonnet-4-5",
        "cost_usd": cost,
        "input_tokens": 100,
        "output_tokens": 50,
        "cache_read_tokens": 800,
        "cache_creation_tokens": 100,
        "request_id": f"req-{session}-{cost}",
        **attributes,
    }
    record.attributes.extend(pairs(values))
    await _send(person, "logs", request.SerializeToString())


async def _send(person: Person, kind: str, content: bytes) -> None:
    response = await person.call(
        "POST", f"/otlp/v1/{kind}", content=content, headers={"Content-Type": PROTOBUF}
    )
    assert response.status_code == 200, response.text
    assert response.content == b""


async def test_cost_and_tokens_come_from_calls_and_are_grouped(ann: Person) -> None:
    await asyncio.gather(
        send_call(ann, "s1", 0.5, **PERSON), send_call(ann, "s2", 0.25, **{"user.id": "bob"})
    )
    found = await report(ann)
    assert found["totals"] | {"cost": 0.75, "sessions": 2, "people": 2} == found["totals"]
    assert found["totals"]["inputTokens"] == 2000
    assert found["totals"]["cachedTokens"] == 1600
    assert found["totals"]["cacheHitRatio"] == 0.8
    assert [(a["agent"], a["cost"], a["source"]) for a in found["agents"]] == [
        ("Claude Code", 0.75, "calls")
    ]
    assert {p["person"]: p["cost"] for p in found["people"]} == {
        "ann@example.com": 0.5,
        "bob": 0.25,
    }
    assert {r["repository"]: r["cost"] for r in found["repositories"]} == {"shop": 0.75}
    assert [(m["model"], m["cost"]) for m in found["models"]] == [("claude-sonnet-4-5", 0.75)]
    assert {b["billing"]: (b["cost"], b["share"]) for b in found["billing"]} == {
        "subscription": (0.5, pytest.approx(2 / 3)),
        "api": (0.25, pytest.approx(1 / 3)),
    }
    assert {s["sessionId"]: s["person"] for s in found["sessions"]} == {
        "s1": "ann@example.com",
        "s2": "bob",
    }
    assert sum(day["cost"] for day in found["days"]) == 0.75
    assert sum(day["costByAgent"].get("Claude Code", 0) for day in found["days"]) == 0.75
    assert found["notSent"] == ["lines", "commits", "pull_requests", "active_seconds", "edits"]


async def test_cached_tokens_of_a_call_that_two_spans_report_count_once(ann: Person) -> None:
    usage: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "claude-sonnet-4-5",
        "gen_ai.usage.input_tokens": 1636,
        "gen_ai.usage.cache_read.input_tokens": 1024,
        "gen_ai.usage.cache_creation.input_tokens": 512,
    }
    outer = make_span(bytes(range(16)), bytes(range(8)), **usage)
    inner = make_span(outer.trace_id, b"12345678", parent=outer.span_id, **usage)
    request = make_traces([outer, inner], service="claude-code")
    await _send(ann, "traces", request.SerializeToString())
    totals = (await report(ann))["totals"]
    assert (totals["inputTokens"], totals["cachedTokens"]) == (1636, 1024)
    assert totals["cacheWriteTokens"] == 512
    assert totals["cacheHitRatio"] == pytest.approx(1024 / 1636)


async def test_the_person_is_the_user_of_traces_and_sessions(ann: Person) -> None:
    sent = {
        "ann@example.com": PERSON,
        "ines@example.com": {"user.email": "ines@example.com", "user.account_id": "a1"},
        "u2": {"user.account_uuid": "u2"},
        # An id that was set on purpose is that of the application's own users.
        "bob": {"user.id": "bob", "user.email": "bob@example.com"},
    }
    calls = (send_call(ann, f"talk of {user}", 0.5, **about) for user, about in sent.items())
    await asyncio.gather(*calls)
    await report(ann)
    query = {"of": "traces", "measures": ["cost"], "groupBy": ["userId"]}
    found = await ann.data("POST", "/analytics/query", json=query)
    assert {row["userId"]: row["cost"] for row in found["rows"]} == dict.fromkeys(sent, 0.5)
    sessions = await ann.data("GET", "/spans/sessions")
    assert {one["sessionId"]: one["userId"] for one in sessions} == {
        f"talk of {user}": user for user in sent
    }
    [session] = await ann.data("GET", "/spans/sessions", params={"search": "ines@example.com"})
    assert session["userId"] == "ines@example.com"


async def test_the_cost_metric_counts_only_for_sessions_without_calls(ann: Person) -> None:
    points = [
        Point(NOW, amount, attributes={"session.id": session, "model": "opus", **PERSON})
        for session, amount in (("s1", 0.5), ("s3", 2.0))
    ]
    tokens = [
        Point(NOW, amount, attributes={"session.id": "s3", "type": kind, "model": "opus"})
        for kind, amount in (("input", 10), ("cacheRead", 80), ("output", 5), ("cacheCreation", 10))
    ]
    await asyncio.gather(
        send_call(ann, "s1", 0.5, **PERSON),
        send_metric(ann, "claude_code.cost.usage", *points),
        # Without a session id it may be that of a call.
        send_metric(ann, "claude_code.cost.usage", Point(NOW + 1, 7.5)),
        send_metric(ann, "claude_code.token.usage", *tokens),
    )
    found = await report(ann)
    assert found["totals"]["cost"] == 2.5
    assert found["agents"][0]["source"] == "both"
    assert {m["model"]: m["cost"] for m in found["models"]} == {
        "opus": 2.0,
        "claude-sonnet-4-5": 0.5,
    }
    [_, opus] = sorted(found["models"], key=lambda m: str(m["model"]))
    assert (opus["inputTokens"], opus["outputTokens"]) == (100, 5)
    assert found["totals"]["cachedTokens"] == 800 + 80
    assert {b["billing"]: b["cost"] for b in found["billing"]} == {
        "subscription": 0.5,
        "unknown": 2.0,
    }


async def test_an_agent_that_sends_metrics_only_is_reported(ann: Person) -> None:
    await asyncio.gather(
        send_metric(ann, "claude_code.cost.usage", Point(NOW, 1.5, attributes=PERSON)),
        send_metric(ann, "claude_code.session.count", Point(NOW, 2, attributes=PERSON)),
    )
    found = await report(ann)
    assert (found["totals"]["cost"], found["totals"]["sessions"]) == (1.5, 2)
    assert found["agents"][0]["source"] == "metrics"
    assert found["people"][0]["person"] == "ann@example.com"


async def test_work_is_read_from_the_metrics_of_all_agents(ann: Person) -> None:
    sent: list[Awaitable[None]] = []
    for name, kind, amount in (
        ("claude_code.lines_of_code.count", "added", 10),
        ("claude_code.lines_of_code.count", "removed", 4),
        ("gemini_cli.lines.changed", "added", 5),
    ):
        sent.append(send_metric(ann, name, Point(NOW, amount, attributes={"type": kind, **PERSON})))
    sent.append(send_metric(ann, "claude_code.commit.count", Point(NOW, 3, attributes=PERSON)))
    sent.append(
        send_metric(ann, "claude_code.pull_request.count", Point(NOW, 1, attributes=PERSON))
    )
    for number, kind in enumerate(("user", "cli")):
        point = Point(NOW + number, 60.5, attributes={"type": kind, **PERSON})
        sent.append(send_metric(ann, "claude_code.active_time.total", point))
    decision = "claude_code.code_edit_tool.decision"
    for chosen, language, amount in (
        ("accept", "Python", 6),
        ("reject", "Python", 2),
        ("accept", "Go", 1),
    ):
        attributes = {"decision": chosen, "language": language, **PERSON}
        sent.append(send_metric(ann, decision, Point(NOW, amount, attributes=attributes)))
    copilot = {"copilot_chat.edit.outcome": "rejected", "copilot_chat.language_id": "Go"}
    sent.append(
        send_metric(ann, "copilot_chat.edit.acceptance.count", Point(NOW, 1, attributes=copilot))
    )
    # A counter that goes on, of which the first point is before the period.
    calls = [
        Point(NOW - hours * 3600 * SECOND, total, NOW - 10**15, {**about, **PERSON})
        for hours, total in ((100, 4), (1, 9))
        for about in ({"function_name": "replace", "decision": "accept"}, {"function_name": "ls"})
    ]
    sent.append(send_metric(ann, "gemini_cli.tool.call.count", *calls, temporality=CUMULATIVE))
    await asyncio.gather(*sent)
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW // SECOND - 50 * 3600))
    found = await report(ann, startDate=start)
    totals = found["totals"]
    assert (totals["linesAdded"], totals["linesRemoved"]) == (15, 4)
    assert (totals["commits"], totals["pullRequests"], totals["activeSeconds"]) == (3, 1, 121)
    assert (totals["editsAccepted"], totals["editsRejected"]) == (12, 3)
    assert found["edits"] == [
        {"language": "Python", "accepted": 6, "rejected": 2},
        {"language": "unknown", "accepted": 5, "rejected": 0},
        {"language": "Go", "accepted": 1, "rejected": 1},
    ]
    assert [person["commits"] for person in found["people"] if person["commits"]] == [3]
    assert found["notSent"] == ["repository"]


@pytest.mark.parametrize(
    "kinds", [("logs", "metrics"), ("metrics",), ("traces", "logs", "metrics")]
)
async def test_real_exports_count_once_whatever_is_sent(
    ann: Person, kinds: tuple[str, ...]
) -> None:
    body = json.loads((GOLDEN / "claude-code.metrics.json").read_text())
    session = next(
        a["value"]["stringValue"]
        for a in body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["sum"]["dataPoints"][
            0
        ]["attributes"]
        if a["key"] == "session.id"
    )
    bodies = {kind: json.loads((GOLDEN / f"claude-code.{kind}.json").read_text()) for kind in kinds}
    exports = (ann.call("POST", f"/otlp/v1/{kind}", json=bodies[kind]) for kind in kinds)
    for response in await asyncio.gather(*exports):
        assert response.json() == {}
    found = await report(ann, **PERIOD)
    calls = {s["sessionId"]: s["cost"] for s in found["sessions"]}
    of_session = calls.get(session, found["totals"]["cost"])
    assert of_session == pytest.approx(2 * 0.0047772)
    assert found["totals"]["cost"] == pytest.approx(sum(calls.values()) or of_session)


async def test_another_workspace_sees_nothing(service: Service, ann: Person) -> None:
    await asyncio.gather(
        send_call(ann, "s1", 0.5),
        send_metric(ann, "claude_code.commit.count", Point(NOW, 3), temporality=DELTA),
    )
    bob = await service.sign_up()
    found = await report(bob)
    assert found["agents"] == found["people"] == found["sessions"] == []
    assert found["totals"]["commits"] == 0
