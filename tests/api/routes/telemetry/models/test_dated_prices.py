"""Prices with a date, per call and per image, of models and of tools."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.ids import new_trace_id
from support.polling import until
from support.service import Person, assert_error
from support.spans import llm_call, span

RATES: dict[str, Any] = {"inputPerMillion": 1.0, "outputPerMillion": 1.0}
CHANGE = datetime(2026, 11, 1, tzinfo=UTC)
NEW = {**RATES, "inputPerMillion": 3.0, "effectiveFrom": "2026-11-01T00:00:00Z"}
PERIOD = {"startDate": "2026-10-20", "endDate": "2026-11-10"}
AROUND = (CHANGE, CHANGE - timedelta(seconds=1))


async def send(person: Person, *spans: dict[str, Any]) -> None:
    await person.data("POST", "/spans", json={"spans": spans})


def calls(model: str, *starts: datetime) -> list[dict[str, Any]]:
    return [llm_call(model, "acme", {"input": 1_000_000}, start=start) for start in starts]


async def put(person: Person, model: str, *prices: dict[str, Any]) -> None:
    for price in prices:
        await person.data("PUT", "/models/prices", json={"model": model, **price})


async def costs(person: Person, field: str, name: str) -> list[float]:
    """Return the costs of the traces with a model or tool, newest first."""
    filters = json.dumps([{"field": field, "value": name}])
    traces = await person.data("GET", "/spans/traces", params={"filters": filters, **PERIOD})
    return [trace["cost"] for trace in traces]


async def until_costs(person: Person, name: str, *expected: float, field: str = "model") -> None:
    async def are() -> bool:
        # Asked first, because reading traces takes longer.
        tasks = await person.data("GET", "/models/repricing")
        if any(task["state"] != "done" for task in tasks):
            return False
        return await costs(person, field, name) == [pytest.approx(cost) for cost in expected]

    await until(are, 30)


async def unpriced(person: Person) -> tuple[list[str], int]:
    found = await person.data("GET", "/analytics/costs", params=PERIOD)
    return found["unpricedModels"], found["unpricedTokens"]


async def test_a_call_has_the_prices_that_are_valid_at_its_start(person: Person) -> None:
    """For models that have prices when the calls come, for example per call and per image."""
    await put(person, "dated", NEW, RATES)
    await put(person, "fees", {**RATES, "perCall": 0.25, "perImage": 0.04})
    await put(person, "audio", {**RATES, "audioInputPerMillion": 10, "audioOutputPerMillion": 20})
    # A tool of the same name changes nothing.
    await put(person, "as a tool", RATES, {"kind": "tool", "perCall": 9})
    call, failed = calls("fees", CHANGE, CHANGE - timedelta(hours=1))
    call["attributes"] |= {"spanwise.images": 3}
    spoken = llm_call("audio", "acme", {"input": 1_000_000, "output": 500_000}, start=CHANGE)
    spoken["attributes"] |= {
        "gen_ai.usage.audio.input_tokens": 400_000,
        "gen_ai.usage.audio.output_tokens": 100_000,
    }
    await send(
        person,
        *calls("dated", *AROUND),
        call,
        failed | {"status": "error"},
        spoken,
        *calls("as a tool", CHANGE),
    )
    assert await costs(person, "model", "dated") == [3.0, 1.0]
    # A failed call has no fee.
    assert await costs(person, "model", "fees") == [pytest.approx(1.0 + 0.25 + 0.12), 1.0]
    assert await costs(person, "model", "audio") == [pytest.approx(0.6 + 4.0 + 0.4 + 2.0)]
    assert await costs(person, "model", "as a tool") == [1.0]
    assert await unpriced(person) == ([], 0)

    one = {"model": "dated", "effectiveFrom": NEW["effectiveFrom"]}
    await person.data("DELETE", "/models/prices", params=one)
    await until_costs(person, "dated", 1.0, 1.0)
    assert_error(await person.call("DELETE", "/models/prices", params=one), 404)
    await person.data("DELETE", "/models/prices", params={**one, "effectiveFrom": "always"})
    await until_costs(person, "dated", 0.0, 0.0)
    listed = await person.data("GET", "/models/prices")
    assert "dated" not in {price["model"] for price in listed}


async def test_repricing_stored_spans_respects_dates(person: Person) -> None:
    await send(
        person,
        *calls("dated", *AROUND),
        *(llm_call("gpt-4.1", "openai", {"input": 1_000_000}, start=at) for at in AROUND),
    )
    await put(person, "dated", NEW)
    await until_costs(person, "dated", 3.0, 0.0)
    assert (await unpriced(person))[1] == 1_000_000
    await put(person, "dated", RATES)
    await until_costs(person, "dated", 3.0, 1.0)
    listed = await person.data("GET", "/models/prices")
    assert [price["effectiveFrom"] for price in listed] == [None, "2026-11-01T00:00:00Z"]
    assert await unpriced(person) == ([], 0)
    # Before an own price starts, the list price applies.
    await put(person, "gpt-4.1", {**NEW, "inputPerMillion": 50.0})
    await until_costs(person, "gpt-4.1", 50.0, 2.0)


async def test_deleting_without_a_date_deletes_all_prices_of_the_model(person: Person) -> None:
    await put(person, "dated", NEW, RATES)
    await person.data("DELETE", "/models/prices", params={"model": "dated"})
    assert await person.data("GET", "/models/prices") == []


async def test_images_without_a_rate_make_their_model_unpriced(person: Person) -> None:
    await put(person, "images", RATES)
    [call] = calls("images", CHANGE)
    call["attributes"] |= {"spanwise.images": 3}
    await send(person, call)
    assert await unpriced(person) == (["images"], 0)
    await put(person, "images", {"perImage": 1.0})
    await until_costs(person, "images", 4.0)
    assert (await unpriced(person))[0] == []


async def test_a_tool_is_priced_per_call(person: Person) -> None:
    trace_id, name = new_trace_id(), "web_search"
    root = span(trace_id, kind="agent", start=CHANGE)
    tools = [
        span(trace_id, kind="tool", toolName=name, start=CHANGE, parentSpanId=root["spanId"])
        for _ in range(2)
    ]
    await send(person, root, *tools)
    assert await costs(person, "tool", name) == [0]
    await put(person, name, {"kind": "tool", "perCall": 0.01})
    await until_costs(person, name, 0.02, field="tool")
    found = await person.data("GET", "/analytics/costs", params=PERIOD)
    assert found["byTool"] == {name: pytest.approx(0.02)}
    assert (found["byModel"], found["totalCost"]) == ({}, pytest.approx(0.02))
    detail = await person.data("GET", f"/spans/traces/{trace_id}")
    assert [s["cost"] for s in detail["spans"] if s["kind"] == "tool"] == [0.01, 0.01]
    await person.data("DELETE", "/models/prices", params={"kind": "tool", "model": name})
    await until_costs(person, name, 0.0, field="tool")
