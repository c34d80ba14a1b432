"""Queries of every read with text that means something to SQL, JSON, patterns or paths.

No answer is a 5xx, none contains a record of another workspace, and none takes long.
"""

import json
import random
import time
from typing import Any
from urllib.parse import quote

import pytest

from support.openapi import Operation, operations
from support.service import Person, Service
from support.spans import span

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

SEED, PER_PARAMETER, SECONDS = 23, 8, 15
CANARY = "canaryofaneighbour"
PAYLOADS = (
    "'",
    "''",
    '"',
    "`",
    "\\",
    "\\'",
    "' OR 1=1 --",
    "' OR '1'='1",
    '" OR ""="',
    "') OR workspace != ('",
    "') UNION ALL SELECT * FROM spans --",
    "1; DROP TABLE spans",
    "'; SELECT sleep(3); --",
    "{workspace:String}",
    "{x:Identifier}",
    "%(workspace)s",
    ":workspace",
    "?",
    "$1",
    "%",
    "_%_",
    "*",
    ".*",
    "(((((((((((((((((((((((((((((((((((((((((",
    "(a+)+$",
    "[[:alpha:]]",
    "../../../etc/passwd",
    "file('/etc/passwd')",
    "url('http://127.0.0.1:1/')",
    "${jndi:ldap://127.0.0.1/a}",
    "{{7*7}}",
    "\x00",
    "\r\nX-Injected: yes",
    "\ud7ff\uffff",
    "\u0130\u0131\u017f\u212a",
    "-1",
    "9" * 400,
    "1e999",
    "NaN",
    "null",
    "[]",
    "{}",
    '{"a": {"$ne": null}}',
    '[{"field": "status", "operator": "equals", "value": "x\' OR 1=1"}]',
    '[{"field": "attribute:a\' OR 1=1 --", "operator": "exists"}]',
    '[{"field": "workspace", "operator": "equals", "value": "x"}]',
    "attribute:') OR 1=1 --",
    "a" * 4000,
)
QUERY_FIELDS = ("of", "by", "measures", "filters", "startDate", "endDate", "granularity", "order")


@pytest.fixture
async def thief(service: Service) -> Person:
    """Somebody beside whom others have data that must not be seen."""
    victim, person = await service.sign_up(), await service.sign_up()
    about = {"userId": CANARY, "sessionId": CANARY, "agentName": CANARY, "input": CANARY}
    hidden = span(name=CANARY, model=CANARY, attributes={CANARY: CANARY}, **about)
    await victim.data("POST", "/spans", json={"spans": [hidden]})
    await victim.data("POST", "/logs", json={"message": CANARY, "agentName": CANARY})
    await victim.data("POST", "/signals", json={"signalName": CANARY, "value": 1})
    # Its owner sees it, so the tests below could find it.
    assert CANARY in (await victim.call("GET", "/spans/traces")).text
    await person.data("POST", "/spans", json={"spans": [span(name="own", attributes={"a": "b"})]})
    return person


def problem_of(answer: Any, seconds: float) -> str | None:
    if answer.status_code >= 500:
        return f"{answer.status_code}: {answer.text[:300]}"
    if CANARY in answer.text:
        return f"shows another workspace: {answer.text[:300]}"
    if "x-injected" in answer.headers:
        return "a header was injected"
    return f"took {seconds:.1f} s" if seconds > SECONDS else None


async def try_all(
    person: Person, method: str, path: str, requests: list[dict[str, Any]]
) -> list[str]:
    problems = []
    for options in requests:
        started = time.monotonic()
        answer = await person.call(method, path, **options)
        if problem := problem_of(answer, time.monotonic() - started):
            problems.append(f"{method} {path} {json.dumps(options)[:200]}: {problem}")
    return problems


def texts_of(operation: Operation) -> list[str]:
    return [p["name"] for p in operation.spec.get("parameters", []) if p["in"] == "query"]


async def test_no_parameter_of_a_read_is_interpreted(service: Service, thief: Person) -> None:
    document = (await service.call("GET", "/openapi.json")).json()
    dice, problems, tried = random.Random(SEED), [], 0
    for operation in operations(document):
        if operation.method != "GET" or not operation.is_guarded:
            continue
        path = operation.address().removeprefix("/api")
        requests = [
            {"params": {**operation.query(), name: payload}}
            for name in texts_of(operation)
            for payload in dice.sample(PAYLOADS, PER_PARAMETER)
        ]
        problems += await try_all(thief, "GET", path, requests)
        tried += len(requests)
    assert problems == []
    assert tried > 1000


async def test_no_field_of_a_query_is_interpreted(thief: Person) -> None:
    valid: dict[str, Any] = {"measures": ["count"], "startDate": "2026-01-01"}
    requests: list[dict[str, Any]] = []
    for payload in PAYLOADS:
        requests += [{"json": {**valid, field: payload}} for field in QUERY_FIELDS]
        requests += [{"json": {**valid, field: [payload]}} for field in ("by", "measures")]
        for condition in (
            {"field": payload, "operator": "equals", "value": "x"},
            {"field": f"attribute:{payload}", "operator": "exists"},
            {"field": "attribute:a", "operator": payload, "value": "b"},
            {"field": "attribute:a", "operator": "contains", "value": payload},
            {"field": "userId", "operator": "in", "value": [payload, "x"]},
        ):
            requests.append({"json": {**valid, "filters": [condition]}})
        requests.append({"json": {**valid, "by": [f"attribute:{payload}"]}})
        requests.append({"json": {**valid, "measures": [f"signal:{payload}"]}})
    # JSON cannot carry a lone surrogate, and the NUL is tried too.
    assert await try_all(thief, "POST", "/analytics/query", requests) == []
    metric = [{"json": {"name": p, "startDate": "2026-01-01", "by": [p]}} for p in PAYLOADS]
    assert await try_all(thief, "POST", "/metrics/query", metric) == []


async def test_no_id_in_a_path_is_interpreted(service: Service, thief: Person) -> None:
    document = (await service.call("GET", "/openapi.json")).json()
    dice, problems = random.Random(SEED), []
    for operation in operations(document):
        if operation.method != "GET" or not operation.path_parameters:
            continue
        for payload in dice.sample(PAYLOADS, PER_PARAMETER):
            names = [parameter["name"] for parameter in operation.path_parameters]
            path = operation.address(**dict.fromkeys(names, quote(payload, safe="")))
            params = {"params": operation.query()}
            problems += await try_all(thief, "GET", path.removeprefix("/api"), [params])
    assert problems == []
