"""The number of SQL statements per request does not grow with the number of rows."""

import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from sqlalchemy import event

from spanwise.services import access, agents
from spanwise.services.experiments import assignments
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.rollup import aggregate_cache, watermarks
from support.ids import new_span_id
from support.metrics import Point, make_request
from support.openapi import Operation, operations
from support.service import PASSWORD, Person, Service
from support.spans import child_of, llm_call, new_span

# The most rows of routes that cannot return a hundred.
MOST = {"/api/events/webhooks": 50}
# How long values stay in the caches that requests fill.
CACHES = (
    (agents, "_CACHE_SECONDS"),
    (access, "CACHE_SECONDS"),
    (assignments, "CACHE_SECONDS"),
    (watermarks, "CACHE_SECONDS"),
    (aggregate_cache, "TTL_SECONDS"),
)
TRACE = "0af7651916cd43dd8448eb211c80319c"
NOW = datetime.now(UTC)

# Noted when a statement of telemetry is answered.
ANSWERED = "answered"

# The statements of the current request; None outside of one.
current_statements: ContextVar[list[str] | None] = ContextVar("current_statements", default=None)


@pytest.fixture
def _at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what may change the statements of a request: expiring caches, and a new rollup."""
    for module, name in CACHES:
        monkeypatch.setattr(module, name, 3600.0)
    monkeypatch.setattr("spanwise.wiring.services.start_rollup", lambda *_: None)


@pytest.fixture(autouse=True)
def _counted(
    _at_rest: None, own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    def note(what: str) -> None:
        if (statements := current_statements.get()) is not None:
            statements.append(what)

    def note_statement(*arguments: Any) -> None:
        note(arguments[2])

    def counted(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def count(*arguments: Any, **named: Any) -> Any:
            note(f"telemetry: {named.get('tag')}")
            answer = await method(*arguments, **named)
            note(ANSWERED)
            return answer

        return count

    for name in ("fetch", "fetch_columns", "run", "run_heavy"):
        monkeypatch.setattr(Engine, name, counted(getattr(Engine, name)))
    catalog = own_service.services.catalog._engine.sync_engine
    event.listen(catalog, "before_cursor_execute", note_statement)
    yield
    event.remove(catalog, "before_cursor_execute", note_statement)


async def statements_of(call: Callable[[], Awaitable[httpx.Response]]) -> tuple[list[str], Any]:
    """Return the statements and the data of a request whose caches have just been filled."""
    assert (await call()).status_code == 200
    statements: list[str] = []
    token = current_statements.set(statements)
    response = await call()
    current_statements.reset(token)
    assert response.status_code == 200, response.text
    return statements, response.json().get("data")


class Rows:
    """Creates rows of every kind, numbered from one number up to another."""

    def __init__(self, service: Service, person: Person) -> None:
        self.service = service
        self.person = person
        workspace = person.user["defaultWorkspaceId"]
        self.ids = {"traceId": TRACE, "sessionId": "talk", "workspaceId": workspace}

    async def add(self, first: int, last: int) -> None:
        numbers = range(first, last)
        await self._add_records(numbers)
        await self._add_telemetry(numbers)
        await self.service.services.alerting.alert_jobs.evaluate()

    async def _add_records(self, numbers: range) -> None:
        make = self.person.data
        rule = {"metric": "requestCount", "condition": "below", "threshold": 1}
        ends_at = (NOW + timedelta(days=1)).isoformat()
        variants = [{"key": "a"}, {"key": "b"}]
        for number in numbers:
            if number < MOST["/api/events/webhooks"]:
                # The first webhook subscribes to everything, so that it has many deliveries.
                hook = {"url": "https://hooks.invalid/", "types": ["key.rotated"] * bool(number)}
                self._keep("webhookId", await make("POST", "/events/webhooks", json=hook))
            self._keep("keys", await self.person.new_key(name=f"key {number}"))
            prompt = {"name": f"prompt {number}", "variants": variants}
            self._keep("experiments", await make("POST", "/experiments", json=prompt))
            view = {"name": f"view {number}", "page": "traces"}
            self._keep("views", await make("POST", "/views", json=view))
            panel = {"title": "traces", "query": {"measures": ["count"]}}
            dashboard = {"name": f"dashboard {number}", "panels": [panel]}
            self._keep("dashboards", await make("POST", "/dashboards", json=dashboard))
            price = {"model": f"model {number}", "inputPerMillion": 1, "outputPerMillion": 1}
            await make("PUT", "/models/prices", json=price)
            agent = await make("POST", "/agents", json={"name": f"agent {number}"})
            self._keep("agentId", agent)
            await make("PUT", f"/agents/{agent['id']}/alerts", json={"rules": [rule]})
            quiet = {"agentId": agent["id"], "endsAt": ends_at}
            await make("POST", "/alerts/silences", json=quiet)
            await self._add_member(f"member{number}@example.com")
            await self._invite(f"guest{number}@example.com")
            await make("POST", "/workspaces", json={"name": f"workspace {number}"})
        if 0 in numbers:
            await make("POST", f"/experiments/{self.ids['experiments']}/start")

    async def _add_member(self, email: str) -> None:
        account = {"email": email, "password": PASSWORD, "invitation": await self._invite(email)}
        response = await self.service.call("POST", "/auth/register", json=account)
        assert response.status_code == 201

    async def _invite(self, email: str) -> str:
        body = {"email": email, "role": "viewer"}
        path = f"/workspaces/{self.ids['workspaceId']}/invitations"
        made = await self.person.data("POST", path, json=body)
        return str(made["link"].partition("token=")[2])

    def _keep(self, name: str, made: dict[str, Any]) -> None:
        self.ids.setdefault(name, made["id"])

    async def _add_telemetry(self, numbers: range) -> None:
        make = self.person.data
        root = {**new_span(NOW - timedelta(minutes=5)), "traceId": TRACE, "spanId": "b" * 16}
        self.ids["spanId"] = root["spanId"]
        spans = [root] if 0 in numbers else []
        for number in numbers:
            call = llm_call(f"model {number}", "acme", {"input": 5}, agentName=f"agent {number}")
            call["attributes"][f"key {number}"] = number
            named = {"sessionId": f"talk {number}", "toolName": f"tool {number}"}
            spans.append({**call, **named, "status": "error"})
            spans.append({**new_span(NOW - timedelta(minutes=4)), "sessionId": "talk"})
            spans.append(child_of(root, spanId=new_span_id()))
        await make("POST", "/spans", json={"spans": spans})
        signals = [{"signalName": f"s {n}", "value": 1, "traceId": TRACE} for n in numbers]
        await make("POST", "/signals/batch", json={"signals": signals})
        logs = [{"message": f"line {n}", "traceId": TRACE} for n in numbers]
        await make("POST", "/logs", json={"logs": logs})
        metrics = ExportMetricsServiceRequest()
        for number in numbers:
            metrics.MergeFrom(make_request(f"metric {number}", [Point(time.time_ns(), 1)]))
        body = json_format.MessageToDict(metrics)
        await self.person.call("POST", "/otlp/v1/metrics", json=body)
        [failure, *_] = await make("GET", "/analytics/failures")
        self._keep("failureId", failure)


def rows_in(answer: Any) -> int:
    """Count the rows of a response: its items, or those of the longest list in it."""
    if isinstance(answer, list):
        return len(answer)
    if isinstance(answer, dict):
        return max((len(v) for v in answer.values() if isinstance(v, list | dict)), default=0)
    return 0


@pytest.mark.parametrize("count", [20, pytest.param(100, marks=pytest.mark.long)])
async def test_no_route_runs_more_statements_for_more_rows(
    own_service: Service, count: int
) -> None:
    service = own_service
    ann = await service.sign_up()
    document = (await service.call("GET", "/openapi.json")).json()
    reads = [o for o in operations(document) if o.method == "GET" and o.is_guarded]
    rows = Rows(service, ann)

    async def count_all() -> dict[str, tuple[list[str], Any]]:
        [alert, *_] = await ann.data("GET", "/spans/alerts", params={"limit": count})
        rows.ids["alertId"] = alert["id"]
        return {o.path: await statements_of(partial(get, ann, o, rows.ids, count)) for o in reads}

    await rows.add(0, 1)
    one = await count_all()
    await rows.add(1, count)
    many = await count_all()
    short = {
        o.path: rows_in(many[o.path][1])
        for o in reads
        if "limit" in {p["name"] for p in o.spec.get("parameters", [])}
        and rows_in(many[o.path][1]) < min(count, MOST.get(o.path, count))
    }
    assert short == {}, "too few rows to tell"
    grown = {path: many[path][0] for path in one if len(many[path][0]) > len(one[path][0])}
    assert grown == {}


FAILED = json.dumps([{"field": "status", "value": "error"}])
TOOL = json.dumps([{"field": "tool", "value": "tool 1"}])
KEY = json.dumps([{"field": "attribute:key 1", "op": "exists"}])
LISTS: list[tuple[str, dict[str, Any]]] = [
    ("/spans/traces", {}),
    ("/spans/traces", {"errorNames": True}),
    ("/spans/traces", {"errorNames": True, "limit": 2, "skip": 2}),
    ("/spans/traces", {"order": "asc", "agentId": "agent 1"}),
    ("/spans/traces", {"filters": TOOL}),
    ("/spans/traces", {"filters": KEY, "errorNames": True}),
    ("/spans/traces", {"filters": FAILED, "sort": "cost", "errorNames": True}),
    ("/spans/traces", {"sort": "duration", "limit": 2, "skip": 2}),
    ("/spans/traces", {"search": "talk", "errorNames": True}),
    ("/spans/traces", {"search": "talk", "sort": "tokens", "filters": KEY}),
    ("/spans", {}),
    ("/spans", {"sort": "cost", "filters": FAILED, "limit": 1, "skip": 1}),
    ("/spans/sessions", {}),
    ("/spans/sessions", {"sort": "cost", "order": "asc", "limit": 2, "skip": 1}),
    ("/spans/sessions", {"filters": KEY}),
    ("/spans/sessions/talk", {}),
    ("/analytics/traces/list", {}),
]


async def test_a_page_takes_three_statements_and_one_trace_one_round_of_three(
    own_service: Service,
) -> None:
    ann = await own_service.sign_up()
    rows = Rows(own_service, ann)
    await rows.add(0, 3)
    for path, params in LISTS:
        statements, found = await statements_of(partial(ann.call, "GET", path, params=params))
        assert found, (path, params)
        assert len(of_telemetry(statements)) <= 3, (path, params, statements)
    [plain, *_] = await ann.data("GET", "/spans/traces", params={"filters": FAILED})
    path = f"/spans/traces/{plain['traceId']}"
    statements, _ = await statements_of(partial(ann.call, "GET", path))
    assert len(of_telemetry(statements)) == 3
    assert statements.index(ANSWERED) > statements.index(of_telemetry(statements)[-1])
    # Only a trace that has signals and logs takes another round.
    statements, trace = await statements_of(partial(ann.call, "GET", f"/spans/traces/{TRACE}"))
    assert trace["signals"]
    assert trace["logCount"]
    assert len(of_telemetry(statements)) == 5


def of_telemetry(statements: list[str]) -> list[str]:
    return [statement for statement in statements if statement.startswith("telemetry")]


async def get(
    person: Person, operation: Operation, ids: dict[str, str], limit: int
) -> httpx.Response:
    noun = operation.path.split("/")[2]
    path = operation.address(**ids, id=ids.get(noun, "")).removeprefix("/api")
    params = operation.query()
    # Reads over a period reject what they do not have.
    if "limit" in {parameter["name"] for parameter in operation.spec.get("parameters", [])}:
        params["limit"] = str(limit)
    return await person.call("GET", path, params=params)
