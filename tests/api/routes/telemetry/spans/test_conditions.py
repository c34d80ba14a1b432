"""`filters` and the search box of the trace list."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from spanwise.storage.telemetry.traces import trace_queries
from support.service import Person, Service, assert_error
from support.spans import child_of, new_span, send

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    """A person with three traces: of acme, of globex, and without a tenant."""
    person = await shared_service.sign_up()
    acme = new_span(NOW, 900, name="acme run", agentName="planner", userId="ada@example.com")
    globex = new_span(NOW, 100, name="globex run", agentName="coder", sessionId="Talk-17")
    plain = new_span(NOW + timedelta(hours=1), 50, name="plain run", agentName="coder")
    await send(
        person,
        acme,
        child_of(acme, attributes={"tenant": "acme", "size": 12, "beta": True}, cost=1, kind="llm"),
        globex,
        child_of(globex, attributes={"tenant": "globex", "size": 2.5}, toolName="search"),
        child_of(globex, attributes={"tenant": "acme-eu", "tags": ["a"]}),
        plain,
    )
    return person


def condition(field: str, op: str, value: Any = None) -> dict[str, Any]:
    return {"field": field, "op": op, **({} if value is None else {"value": value})}


async def find(person: Person, *conditions: dict[str, Any], **parameters: Any) -> list[str]:
    params = {"filters": json.dumps(conditions), **parameters}
    traces = await person.data("GET", "/spans/traces", params=params)
    return sorted(trace["name"].removesuffix(" run") for trace in traces)


@pytest.mark.parametrize(
    ("field", "op", "value", "found"),
    [
        ("attribute:tenant", "eq", "acme", ["acme"]),
        ("attribute:tenant", "ne", "acme", ["globex", "plain"]),
        ("attribute:tenant", "in", ["acme", "globex"], ["acme", "globex"]),
        ("attribute:tenant", "contains", "ACME", ["acme", "globex"]),
        ("attribute:tenant", "exists", None, ["acme", "globex"]),
        ("attribute:tenant", "exists", False, ["plain"]),
        ("attribute:tags", "exists", True, ["globex"]),
        ("attribute:size", "gt", 2.5, ["acme"]),
        ("attribute:size", "lte", 12, ["acme", "globex"]),
        ("attribute:size", "eq", 12, ["acme"]),
        ("attribute:size", "eq", "12", ["acme"]),
        ("attribute:beta", "eq", True, ["acme"]),
        ("attribute:beta", "ne", True, ["globex", "plain"]),
        ("agent", "eq", "coder", ["globex", "plain"]),
        ("agent", "in", ["planner", "nobody"], ["acme"]),
        ("tool", "eq", "search", ["globex"]),
        ("tool", "ne", "search", ["acme", "plain"]),
        ("tool", "exists", False, ["acme", "plain"]),
        ("durationMs", "gte", 100, ["acme", "globex"]),
        ("durationMs", "lt", 100, ["plain"]),
        ("cost", "exists", None, ["acme"]),
        ("name", "contains", "PLAIN", ["plain"]),
        ("userId", "exists", None, ["acme"]),
    ],
)
async def test_conditions_select_traces(
    ada: Person, field: str, op: str, value: Any, found: list[str]
) -> None:
    assert await find(ada, condition(field, op, value)) == found


async def test_conditions_and_parameters_must_all_hold(ada: Person) -> None:
    tenant = condition("attribute:tenant", "exists")
    assert await find(ada, tenant, agentId="coder") == ["globex"]
    assert await find(ada, tenant, condition("durationMs", "gt", 500)) == ["acme"]
    assert await find(ada, tenant, startDate="2026-03-10T12:30:00Z") == []
    assert await find(ada, tenant, sort="cost") == ["acme", "globex"]


async def test_an_agent_may_be_named_by_its_id(ada: Person) -> None:
    [planner] = [a for a in await ada.data("GET", "/agents") if a["name"] == "planner"]
    assert await find(ada, condition("agent", "in", [planner["id"]])) == ["acme"]
    assert await find(ada, condition("agent", "ne", planner["id"])) == ["globex", "plain"]


async def test_downloads_and_analytics_take_the_same_filters(ada: Person) -> None:
    params = {
        "filters": json.dumps([condition("attribute:tenant", "eq", "acme")]),
        "startDate": "2026-03-01",
        "endDate": "2026-03-31",
    }
    file = await ada.call("GET", "/analytics/traces/list", params={**params, "format": "jsonl"})
    assert [json.loads(line)["name"] for line in file.text.splitlines()] == ["acme run"]
    assert (await ada.data("GET", "/analytics/metrics", params=params))["totalTraces"] == 1


@pytest.fixture(params=["few", "many"])
def _limit(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few matches are read by key, many are not."""
    if request.param == "many":
        monkeypatch.setattr(trace_queries, "MAX_FEW", -1)


@pytest.mark.usefixtures("_limit")
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ada@example", ["acme"]),
        ("talk-17", ["globex"]),
        (" TALK ", ["globex"]),
        ("plain run", ["plain"]),
        ("run", ["acme", "globex", "plain"]),
        ("@", ["acme"]),
        ("nowhere", []),
    ],
)
async def test_search_finds_words_users_and_sessions(
    ada: Person, text: str, found: list[str]
) -> None:
    assert await find(ada, search=text) == found


@pytest.mark.usefixtures("_limit")
async def test_search_is_sorted_filtered_and_paged(ada: Person) -> None:
    slow = {"search": "run", "sort": "duration", "order": "desc"}
    traces = await ada.data("GET", "/spans/traces", params=slow)
    assert [trace["name"] for trace in traces] == ["acme run", "globex run", "plain run"]
    second = await ada.call("GET", "/spans/traces", params={**slow, "limit": 1, "skip": 1})
    assert [trace["name"] for trace in second.json()["data"]] == ["globex run"]
    assert second.json()["pagination"]["total"] == 3
    by_coder = await ada.call("GET", "/spans/traces", params={"search": "run", "agentId": "coder"})
    assert by_coder.json()["pagination"]["total"] == 2
    late = {"search": "run", "startDate": (NOW + timedelta(minutes=1)).isoformat()}
    [plain] = await ada.data("GET", "/spans/traces", params=late)
    assert plain["name"] == "plain run"


@pytest.mark.usefixtures("_limit")
async def test_search_finds_a_trace_by_its_id(ada: Person) -> None:
    [trace] = await ada.data("GET", "/spans/traces", params={"search": "plain"})
    assert await find(ada, search=trace["traceId"].upper()) == ["plain"]
    assert await find(ada, search=f" {trace['traceId']} ") == ["plain"]


async def test_another_workspace_finds_nothing(service: Service, ada: Person) -> None:
    other = await service.sign_up()
    assert await find(other, condition("attribute:tenant", "exists")) == []
    assert await find(other, search="ada@example") == []


async def test_broken_filters_are_refused(ada: Person) -> None:
    for path in ("/spans/traces", "/spans/sessions"):
        response = await ada.call("GET", path, params={"filters": "[{}]"})
        assert_error(response, 400, "filters.0.field")


async def test_special_characters_are_compared_unchanged(person: Person) -> None:
    text = "quote ' backslash \\ tab \t newline \n brace {x:String} percent %s é 漢 😀"
    key = "quote ' backslash \\ brace {x:String} %s 😀"
    await send(person, new_span(NOW, name="odd run", attributes={key: text}, userId=text))
    for op in ("eq", "in", "contains"):
        for field in (f"attribute:{key}", "userId"):
            for value, found in ((text, ["odd"]), ("zzz", [])):
                wanted = condition(field, op, [value] if op == "in" else value)
                assert await find(person, wanted) == found, wanted
    period = {"startDate": "2026-03-01", "endDate": "2026-03-31"}
    query = {"measures": ["count"], "groupBy": ["userId", f"attribute:{key}"], **period}
    rows = (await person.data("POST", "/analytics/query", json=query))["rows"]
    assert rows == [{"userId": text, f"attribute:{key}": text, "count": 1}]
