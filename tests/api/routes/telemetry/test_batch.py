"""A batch answers each of its reads as it would be answered alone, and does nothing else."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from spanwise.api.routes.telemetry import batch_parts
from spanwise.services.telemetry.analytics import Analytics
from support.service import Person, Service, assert_error
from support.teams import make_team
from support.traces import send_trace

PERIOD = {"startDate": "2020-01-01", "endDate": "2030-01-01"}
COUNT = {"of": "traces", "measures": ["count"], **PERIOD}
READS: list[dict[str, Any]] = [
    {"path": "/analytics/query", "body": COUNT},
    {"path": "/api/analytics/metrics", "query": {**PERIOD, "compare": "previous"}},
    {"path": "/agents", "query": {"limit": 1, "search": "plan ner&limit=2"}},
    {"path": "/users/profile"},
    {"path": "/workspaces", "query": {}},
    {"path": "/spans/alerts/summary"},
    # These fail.
    {"path": "/analytics/query", "body": {"of": "nothing"}},
    {"path": "/analytics/metrics", "query": {"startDate": "soon"}},
    {"path": "/analytics/metrics", "query": {"startTime": "2020-01-01"}},
    {"path": "/agents/nobody"},
    {"path": "/agents/a%00b"},
    {"path": "/no/such/route"},
    {"path": "/analytics/query"},
]


async def read(person: Person, *requests: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    body = {"requests": requests}
    found: list[dict[str, Any]] = await person.data(
        "POST", "/analytics/batch", json=body, headers=headers
    )
    return found


async def send_alone(person: Person, one: dict[str, Any], **headers: str) -> httpx.Response:
    path = one["path"].removeprefix("/api")
    options = {"params": one.get("query"), "headers": headers}
    if "body" in one:
        return await person.call("POST", path, json=one["body"], **options)
    return await person.call("GET", path, **options)


def is_refused(answer: dict[str, Any]) -> bool:
    details = answer["body"].get("error", {}).get("details", [])
    return answer["status"] == 400 and [one["field"] for one in details] == ["batch"]


async def test_each_read_is_answered_in_order_as_it_is_alone(person: Person) -> None:
    await send_trace(person, "planner")
    alone = [await send_alone(person, one) for one in READS]
    found = await read(person, *READS)
    assert [one["status"] for one in found] == [one.status_code for one in alone]
    assert [one["body"] for one in found] == [one.json() for one in alone]
    assert [one["status"] for one in found] == [200] * 6 + [400] * 3 + [404, 400, 404, 404]
    assert found[0]["body"]["data"]["rows"] == [{"count": 1}]


async def test_each_read_is_authorized_by_itself(service: Service) -> None:
    team, outsider = await make_team(service), await service.sign_up()
    audit = {"path": f"{team.path}/audit"}
    members = {"path": f"{team.path}/members"}
    reads = (members, audit, READS[0], {"path": "/users/profile"})
    for person, expected in (
        (team.admin, [200, 200, 200, 200]),
        (team.viewer, [200, 403, 200, 200]),
        (outsider, [404, 404, 404, 200]),
    ):
        found = await read(person, *reads, **team.header)
        assert [one["status"] for one in found] == expected
        alone = [await send_alone(person, one, **team.header) for one in reads]
        assert [one["body"] for one in found] == [one.json() for one in alone]


async def test_a_key_reads_what_it_may_read_alone(service: Service, person: Person) -> None:
    keys = {scope: (await person.new_key(scopes=[scope]))["key"] for scope in ("read", "ingest")}
    body = {"requests": [READS[0], {"path": "/users/profile"}]}
    sent = await service.call(
        "POST", "/analytics/batch", json=body, headers={"x-api-key": keys["read"]}
    )
    assert [one["status"] for one in sent.json()["data"]] == [200, 403]
    sent = await service.call(
        "POST", "/analytics/batch", json=body, headers={"x-api-key": keys["ingest"]}
    )
    assert_error(sent, 403)


@pytest.mark.parametrize(
    "refused",
    [
        {"path": "/spans/traces"},
        {"path": "/%73pans/traces"},
        {"path": "/signals", "body": {"name": "rating"}},
        {"path": "/otlp/v1/traces", "body": {}},
        {"path": "/keys"},
        {"path": "/admin/stats"},
        {"path": "/openapi.json"},
        {"path": "/auth/options"},
        {"path": "/auth/login", "body": {}},
        {"path": "/agents", "body": {"name": "written"}},
        {"path": "/analytics/batch", "body": {"requests": [READS[0]]}},
        {"path": "/analytics/traces/list", "query": {"format": "csv"}},
    ],
    ids=lambda one: one["path"],
)
async def test_what_is_no_read_of_the_standard_tier_is_refused(
    person: Person, refused: dict[str, Any]
) -> None:
    found = await read(person, READS[0], refused, READS[3])
    assert is_refused(found[1]), found[1]
    assert [found[0]["status"], found[2]["status"]] == [200, 200]
    assert await person.data("GET", "/agents") == []


async def test_an_assignment_is_refused(person: Person) -> None:
    body = {"name": "prompt", "variants": [{"key": "a"}, {"key": "b"}]}
    made = await person.data("POST", "/experiments", json=body)
    await person.data("POST", f"/experiments/{made['id']}/start")
    path = f"/experiments/{made['id']}"
    found = await read(
        person, {"path": f"{path}/assign", "query": {"unitId": "u"}}, {"path": f"{path}/results"}
    )
    assert is_refused(found[0]), found[0]
    assert found[1]["status"] == 200


@pytest.mark.parametrize(
    ("requests", "field"),
    [
        ([], "requests"),
        ([READS[0]] * 21, "requests"),
        ([{"path": "analytics/metrics"}], "requests.0.path"),
        ([{"path": "/agents?limit=1"}], "requests.0.path"),
        ([{"path": "/agents", "query": {"limit": [1]}}], "requests.0.query.limit"),
    ],
)
async def test_an_invalid_batch_is_400(person: Person, requests: list[Any], field: str) -> None:
    sent = await person.call("POST", "/analytics/batch", json={"requests": requests})
    assert sent.status_code == 400
    fields = [one["field"] for one in sent.json()["error"]["details"]]
    assert all(one.startswith(field) for one in fields), fields


async def test_a_deep_body_and_a_long_url_are_400(person: Person) -> None:
    nested = '{"a":' * 500 + "1" + "}" * 500
    deep = await person.call(
        "POST",
        "/analytics/batch",
        content=f'{{"requests": [{{"path": "/analytics/query", "body": {nested}}}]}}',
        headers={"Content-Type": "application/json"},
    )
    assert_error(deep, 400, "requests.0.body")
    [found] = await read(person, {"path": "/agents", "query": {"search": "ä" * 3000}})
    assert is_refused(found)


async def test_answers_beyond_the_memory_of_a_batch_are_refused(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = await send_alone(person, READS[3])
    monkeypatch.setattr(batch_parts, "MAX_ANSWER_BYTES", 2 * len(alone.content))
    found = await read(person, *[READS[3]] * 4)
    assert [is_refused(one) for one in found].count(True) == 2
    assert [one["status"] for one in found].count(200) == 2


Method = Callable[..., Awaitable[Any]]


async def test_reads_run_at_the_same_time_and_a_crash_is_that_of_one(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, original = asyncio.Barrier(2), Analytics.metrics

    async def meet(self: Analytics, *arguments: Any, **named: Any) -> Any:
        async with asyncio.timeout(20):
            await both.wait()
        return await original(self, *arguments, **named)

    async def crash(*_: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Analytics, "metrics", meet)
    monkeypatch.setattr(Analytics, "outcomes", crash)
    metrics, crashing = (
        {"path": "/analytics/metrics"},
        {"path": "/analytics/traces/success-failure"},
    )
    found = await read(person, metrics, crashing, metrics)
    assert [one["status"] for one in found] == [200, 500, 200]
    assert found[1]["body"]["error"]["code"] == "INTERNAL_ERROR"
