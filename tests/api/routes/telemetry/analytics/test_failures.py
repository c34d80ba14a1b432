"""Failures: grouping, status, marks."""

import asyncio
import json
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from support.clock import Clock
from support.ids import new_span_id, new_trace_id
from support.ledger import moment
from support.service import Person, Service, assert_error, start_service
from support.traces import make_span, send_traces


def child(root: dict[str, Any], parent: dict[str, Any] | None = None, **fields: Any) -> Any:
    return {
        **root,
        "agentName": None,
        "kind": "tool",
        "spanId": new_span_id(),
        "parentSpanId": (parent or root)["spanId"],
        "name": "execute_tool",
        **fields,
    }


async def find(person: Person, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = await person.data("GET", "/analytics/failures", params=params)
    return found


async def test_failures_are_filtered_by_their_spans(service: Service) -> None:
    ann = await service.sign_up()
    failed: dict[str, Any] = {"status": "error", "statusMessage": "no answer"}
    root = make_span("planner", userId="u1", environment="staging", sessionId="s1")
    other = make_span("planner", userId="u2", sessionId="s2")
    searched: dict[str, Any] = {"toolName": "search", "attributes": {"tenant": "acme"}, **failed}
    # A call of another tool in the same trace does not fail with the search.
    steps = [child(root, **searched), child(root, toolName="book", **failed)]
    await send_traces(ann, [root, other, *steps, child(other, toolName="pay", **failed)])

    async def operations(*conditions: dict[str, Any]) -> set[str]:
        found = await find(ann, filters=json.dumps(conditions))
        return {failure["operation"] for failure in found}

    assert await operations() == {"search", "book", "pay"}
    assert await operations({"field": "tool", "value": "search"}) == {"search"}
    assert await operations({"field": "tool", "op": "ne", "value": "search"}) == {"book", "pay"}
    assert await operations({"field": "attribute:tenant", "value": "acme"}) == {"search"}
    assert await operations({"field": "userId", "op": "in", "value": ["u1", "u3"]}) == {
        "search",
        "book",
    }
    assert await operations({"field": "sessionId", "value": "s2"}) == {"pay"}
    assert await operations({"field": "environment", "op": "exists"}) == {"search", "book"}
    [paid] = await find(ann, filters=json.dumps([{"field": "sessionId", "value": "s2"}]))
    assert await operations({"field": "failure", "value": paid["id"]}) == {"pay"}
    assert await operations({"field": "durationMs", "op": "gte", "value": 1e9}) == set()
    refused = await ann.call("GET", "/analytics/failures", params={"filters": "[{}]"})
    assert refused.status_code == 400


async def test_messages_differ_only_by_ids_and_numbers(service: Service) -> None:
    ann = await service.sign_up()
    messages = [
        'no flight "LH400" after 200 ms (request req_01jabcdefghij4)',
        'no flight "BA9" after 1,250.5 ms (request req_01jzyxwvutsrq9)',
        "no flight after 3 ms",
    ]
    spans = []
    for number, message in enumerate(messages):
        root = make_span("planner", status="error", userId=f"u{number}", statusMessage="run failed")
        spans += [root, child(root, toolName="search", status="error", statusMessage=message)]
    await send_traces(ann, spans)
    first, second = await find(ann)
    assert first["id"].startswith("flr_")
    assert first["title"] == "search: no flight … after … ms (request …)"
    assert (first["agentName"], first["operation"], first["kind"]) == ("planner", "search", "tool")
    assert (first["count"], first["traces"], first["users"], first["status"]) == (2, 2, 2, "new")
    # The examples are the spans in which it began, with what they reported.
    assert {(e["traceId"], e["spanId"], e["message"]) for e in first["examples"]} == {
        (span["traceId"], span["spanId"], span["statusMessage"]) for span in (spans[1], spans[3])
    }
    starts = sorted(moment(example["startTime"]) for example in first["examples"])
    assert starts == sorted(moment(span["startTime"]) for span in (spans[1], spans[3]))
    assert set(first["userIds"]) == {"u0", "u1"}
    assert sum(point["count"] for point in first["trend"]) == 2
    # The roots failed because of their tools and form no group.
    assert (second["count"], second["message"]) == (1, "no flight after … ms")


async def test_traces_and_spans_of_a_failure_are_filtered(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    fine = make_span("planner")
    slow = make_span("planner", status="error", statusMessage="slow")
    down = make_span("planner")
    step = child(down, toolName="search", status="error", statusMessage="down after 3 s")
    again = {**step, "spanId": new_span_id(), "statusMessage": "down after 4 s"}
    await send_traces(ann, [fine, slow, down, step, again])
    groups = {group["message"]: group["id"] for group in await find(ann)}
    group = groups["down after … s"]

    async def traces(person: Person, **condition: Any) -> set[str]:
        filters = json.dumps([{"field": "failure", **condition}])
        found = await person.data("GET", "/spans/traces", params={"filters": filters})
        return {trace["traceId"] for trace in found}

    assert await traces(ann, value=group) == {down["traceId"]}
    assert await traces(ann, op="ne", value=group) == {fine["traceId"], slow["traceId"]}
    assert await traces(ann, op="in", value=list(groups.values())) == {
        slow["traceId"],
        down["traceId"],
    }
    assert await traces(ann, op="exists", value=False) == {fine["traceId"]}
    assert await traces(ann, value="flr_0") == set()
    assert await traces(bob, value=group) == set()
    for of, count in (("traces", 1), ("spans", 2)):
        query = {
            "of": of,
            "measures": ["count"],
            "filters": [{"field": "failure", "value": group}],
            "startDate": (datetime.now(UTC) - timedelta(days=1)).isoformat(),
            "endDate": (datetime.now(UTC) + timedelta(days=1)).isoformat(),
        }
        answer = await ann.data("POST", "/analytics/query", json=query)
        assert answer["rows"] == [{"count": count}]


async def test_a_span_that_no_longer_fails_leaves_its_group(service: Service) -> None:
    ann = await service.sign_up()
    failed, other = (make_span("planner", status="error", statusMessage="down") for _ in range(2))
    await send_traces(ann, [failed, other])
    assert [group["count"] for group in await find(ann)] == [2]
    await send_traces(ann, [{**failed, "status": "ok"}])
    assert [group["count"] for group in await find(ann)] == [1]
    await ann.data("DELETE", f"/spans/traces/{other['traceId']}")
    assert await find(ann) == []


async def test_a_root_that_arrives_later_names_the_agent(service: Service) -> None:
    ann = await service.sign_up()
    root = make_span("planner")
    await send_traces(ann, [child(root, toolName="search", status="error", statusMessage="down")])
    assert [group["agentName"] for group in await find(ann)] != ["planner"]
    await send_traces(ann, [root])
    [group] = await find(ann, agentId="planner")
    assert (group["agentName"], group["count"]) == ("planner", 1)
    assert len(await find(ann)) == 1


@pytest.fixture(scope="module")
async def carl(shared_service: Service) -> Person:
    """A person with four failures."""
    person = await shared_service.sign_up()
    kinds = (("planner", "prod"), ("writer", "prod"), ("writer", "test"))
    event = {"name": "exception", "attributes": {"exception.type": "ContentFiltered"}}
    spans = [
        make_span(agent, status="error", environment=place, statusMessage=f"{agent} IN {place}")
        for agent, place in kinds
    ]
    filtered = make_span("filter", status="error", environment="prod", events=[event])
    await send_traces(person, [*spans, filtered])
    return person


async def test_the_name_of_an_exception_is_the_error_type(carl: Person) -> None:
    [failure] = await find(carl, agentId="filter")
    assert (failure["errorType"], failure["title"]) == (
        "ContentFiltered",
        "answer: ContentFiltered",
    )


async def test_filters_and_pages(carl: Person) -> None:
    assert {g["agentName"] for g in await find(carl, agentId="writer")} == {"writer"}
    assert [g["message"] for g in await find(carl, environment="test")] == ["writer IN test"]
    assert len(await find(carl, status="new")) == 4
    assert await find(carl, status="muted") == []
    page = (await carl.call("GET", "/analytics/failures", params={"limit": 3, "skip": 3})).json()
    assert (len(page["data"]), page["pagination"]["total"]) == (1, 4)
    past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    assert await find(carl, endDate=past) == []


async def test_failures_are_found_by_part_of_their_title(carl: Person) -> None:
    for part, titles in (
        ("planner in", ["answer: planner IN prod"]),
        ("answer: content", ["answer: ContentFiltered"]),
        ("100%", []),
    ):
        assert [one["title"] for one in await find(carl, search=part)] == titles


async def test_one_failure_is_as_in_the_list(carl: Person) -> None:
    period = {"startDate": "2020-01-01T00:00:00Z", "endDate": "2100-01-01T00:00:00Z"}
    past = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    failures = await find(carl, **period)
    assert len(failures) == 4
    for failure in failures:
        path = f"/analytics/failures/{failure['id']}"
        assert await carl.data("GET", path, params=period) == failure
        assert_error(await carl.call("GET", path, params={"endDate": past}), 404)


async def test_another_workspace_has_none_of_the_failures(carl: Person, service: Service) -> None:
    bob = await service.sign_up()
    assert await find(bob) == []
    [failure, *_] = await find(carl)
    path = f"/analytics/failures/{failure['id']}"
    assert_error(await bob.call("GET", path), 404)
    assert_error(await bob.call("PUT", path, json={"status": "known"}), 404)


async def test_an_unknown_failure_or_status_is_refused(carl: Person) -> None:
    [failure, *_] = await find(carl)
    path = f"/analytics/failures/{failure['id']}"
    assert_error(await carl.call("PUT", path, json={"status": "regressed"}), 400, "status")
    # The last has a signed number.
    for other in ("flr_0000000000000000", "flr_x", "x", "flr_-00000000000000f"):
        path = f"/analytics/failures/{other}"
        assert_error(await carl.call("GET", path), 404)
        assert_error(await carl.call("PUT", path, json={"status": "known"}), 404)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[tuple[Person, Clock]]:
    clock = Clock()
    async with start_service(tmp_path, clock) as service:
        yield await service.sign_up(), clock


async def test_marks_and_regressions(desk: tuple[Person, Clock]) -> None:
    ann, clock = desk

    async def fail(message: str) -> None:
        span = make_span("planner", start=clock.now, status="error", statusMessage=message)
        await send_traces(ann, [span])

    async def statuses() -> dict[str, str]:
        period = {"startDate": "2020-01-01T00:00:00Z", "endDate": "2030-01-01T00:00:00Z"}
        return {group["message"]: group["status"] for group in await find(ann, **period)}

    start = clock.now - timedelta(days=30)
    clock.now = start
    await asyncio.gather(fail("down"), fail("slow"))
    assert await statuses() == {"down": "new", "slow": "new"}
    clock.turn(days=2)
    assert await statuses() == {"down": "known", "slow": "known"}
    clock.turn(days=10)
    await fail("down")
    assert await statuses() == {"down": "regressed", "slow": "known"}
    # New and regressed failures come first.
    await asyncio.gather(fail("slow"), fail("slow"), fail("rare"))
    assert list(await statuses()) == ["rare", "slow", "down"]
    ids = {group["message"]: group["id"] for group in await find(ann, startDate=start.isoformat())}
    clock.turn(minutes=1)
    await ann.data("PUT", f"/analytics/failures/{ids['down']}", json={"status": "known"})
    await ann.data("PUT", f"/analytics/failures/{ids['rare']}", json={"status": "muted"})
    assert await statuses() == {"slow": "regressed", "down": "known", "rare": "muted"}
    await ann.data("PUT", f"/analytics/failures/{ids['rare']}", json={"status": "new"})
    assert (await statuses())["rare"] == "new"


async def test_groups_equal_a_plain_computation(service: Service) -> None:
    ann = await service.sign_up()
    rng = random.Random(7)
    expected: Counter[tuple[str, str, str]] = Counter()
    traces: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    spans: list[dict[str, Any]] = []
    for _ in range(150):
        agent = rng.choice(["planner", "writer"])
        start = datetime.now(UTC) - timedelta(hours=rng.uniform(0, 24 * 40))
        root = make_span(agent, start=start, traceId=new_trace_id())
        spans.append(root)
        for _ in range(rng.randrange(4)):
            tool, message = rng.choice("ab"), rng.choice(["down 1", "down 22", "slow"])
            failed = rng.random() < 0.5
            status: dict[str, Any] = {"status": "error" if failed else "ok"}
            status |= {"statusMessage": message} if failed else {}
            spans.append(child(root, toolName=tool, **status))
            if failed:
                key = (agent, tool, message.rstrip("0123456789").strip())
                expected[key] += 1
                traces[key].add(root["traceId"])
    rng.shuffle(spans)
    # In two parts, so that spans are added to traces whose failures have been found.
    for part in (spans[: len(spans) // 2], spans[len(spans) // 2 :]):
        await send_traces(ann, part)
        await find(ann)
    period = {"startDate": (datetime.now(UTC) - timedelta(days=60)).isoformat(), "limit": 100}
    found = await find(ann, **period)
    assert {
        (g["agentName"], g["operation"], g["message"].removesuffix("…").strip()): (
            g["count"],
            g["traces"],
        )
        for g in found
    } == {key: (count, len(traces[key])) for key, count in expected.items()}
