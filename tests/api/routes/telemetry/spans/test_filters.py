"""The values for filter menus."""

import pytest

from support.service import Person, Service, assert_error
from support.telemetry import make_span


@pytest.fixture(scope="module")
async def ann(shared_service: Service) -> Person:
    person = await shared_service.sign_up()
    spans = []
    for model, agent in (("m2", "ä agent"), ("m1", "planner"), ("m1", "planner")):
        root = make_span(agentName=agent, kind="agent", environment="noon", experimentId="exp_1")
        call = {"kind": "llm", "model": model, "provider": "acme", "cost": 1}
        tool = {"kind": "tool", "toolName": f"tool of {model}"}
        spans += [
            root,
            make_span(root["traceId"], parentSpanId=root["spanId"], **call),
            make_span(root["traceId"], parentSpanId=root["spanId"], **tool),
        ]
    spans.append(make_span(status="error", errorType="timeout", agentName="planner"))
    spans.append(make_span(startTime="2026-03-09T23:59:59.999999Z", environment="early"))
    await person.data("POST", "/spans", json={"spans": spans})
    return person


async def test_values_are_distinct_and_sorted(ann: Person) -> None:
    filters = await ann.data("GET", "/spans/filters")
    agents = filters.pop("agents")
    assert [agent["name"] for agent in agents] == ["planner", "ä agent"]
    assert all(agent["id"].startswith("agt_") for agent in agents)
    assert filters == {
        "models": ["m1", "m2"],
        "providers": ["acme"],
        "tools": ["tool of m1", "tool of m2"],
        "kinds": ["agent", "llm", "other", "tool"],
        "statuses": ["error", "success"],
        "errorTypes": ["timeout"],
        "environments": ["early", "noon"],
        "experiments": ["exp_1"],
    }


async def test_dates_limit_the_values(ann: Person) -> None:
    async def environments(**dates: str) -> list[str]:
        found: list[str] = (await ann.data("GET", "/spans/filters", params=dates))["environments"]
        return found

    assert await environments(startDate="2026-03-10") == ["noon"]
    assert await environments(endDate="2026-03-09") == ["early"]
    assert await environments(endDate="2026-03-10T12:00:00Z") == ["early"]
    assert await environments(startDate="2026-03-11") == []
    assert_error(await ann.call("GET", "/spans/filters", params={"endDate": "x"}), 400, "endDate")


@pytest.mark.usefixtures("ann")
async def test_another_workspace_sees_no_value(person: Person) -> None:
    assert not any((await person.data("GET", "/spans/filters")).values())
