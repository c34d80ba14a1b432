"""Prices with a date, per call and per image, of models and of tools."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.ids import new_trace_id
from support.polling import until
from support.service import Person, Service, assert_error
from support.spans import llm_call, span

MODEL = "acme/dated"
OLD = {"model": MODEL, "inputPerMillion": 1.0, "outputPerMillion": 1.0}
CHANGE = datetime(2026, 11, 1, tzinfo=UTC)
NEW = {**OLD, "inputPerMillion": 3.0, "effectiveFrom": "2026-11-01T00:00:00Z"}
PERIOD = {"startDate": "2026-10-20", "endDate": "2026-11-10"}


async def send(person: Person, *spans: dict[str, Any]) -> None:
    await person.data("POST", "/spans", json={"spans": spans})


def calls(*starts: datetime) -> list[dict[str, Any]]:
    return [llm_call(MODEL, "acme", {"input": 1_000_000}, start=start) for start in starts]


AROUND = (CHANGE, CHANGE - timedelta(seconds=1))


async def costs(person: Person) -> list[float]:
    """Return the costs of all traces, newest first."""
    return [trace["cost"] for trace in await person.data("GET", "/spans/traces", params=PERIOD)]


async def until_costs(person: Person, *expected: float) -> None:
    async def are() -> bool:
        return await costs(person) == [pytest.approx(cost) for cost in expected]

    await until(are, 30)


async def test_a_call_has_the_price_that_is_valid_at_its_start(service: Service) -> None:
    person = await service.sign_up()
    for price in (NEW, OLD):
        await person.data("PUT", "/models/prices", json=price)
    await send(person, *calls(*AROUND))
    assert await costs(person) == [3.0, 1.0]


async def test_repricing_stored_spans_respects_dates(service: Service) -> None:
    person = await service.sign_up()
    await send(person, *calls(*AROUND))
    await person.data("PUT", "/models/prices", json=NEW)
    await until_costs(person, 3.0, 0.0)
    found = await person.data("GET", "/analytics/costs", params=PERIOD)
    assert found["unpricedTokens"] == 1_000_000
    await person.data("PUT", "/models/prices", json=OLD)
    await until_costs(person, 3.0, 1.0)
    listed = await person.data("GET", "/models/prices")
    assert [price["effectiveFrom"] for price in listed] == [None, "2026-11-01T00:00:00Z"]
    found = await person.data("GET", "/analytics/costs", params=PERIOD)
    assert (found["unpricedTokens"], found["unpricedModels"]) == (0, [])


async def test_a_price_of_one_date_can_be_deleted(service: Service) -> None:
    person = await service.sign_up()
    for price in (NEW, OLD):
        await person.data("PUT", "/models/prices", json=price)
    await send(person, *calls(*AROUND))
    one = {"model": MODEL, "effectiveFrom": NEW["effectiveFrom"]}
    await person.data("DELETE", "/models/prices", params=one)
    await until_costs(person, 1.0, 1.0)
    assert_error(await person.call("DELETE", "/models/prices", params=one), 404)
    await person.data(
        "DELETE", "/models/prices", params={"model": MODEL, "effectiveFrom": "always"}
    )
    await until_costs(person, 0.0, 0.0)
    assert await person.data("GET", "/models/prices") == []


async def test_deleting_without_a_date_deletes_all_prices_of_the_model(service: Service) -> None:
    person = await service.sign_up()
    for price in (NEW, OLD):
        await person.data("PUT", "/models/prices", json=price)
    await person.data("DELETE", "/models/prices", params={"model": MODEL})
    assert await person.data("GET", "/models/prices") == []


async def test_the_list_price_applies_before_an_own_price_starts(service: Service) -> None:
    person = await service.sign_up()
    name = "gpt-4.1"
    own = {**OLD, "model": name, "inputPerMillion": 50.0}
    await person.data("PUT", "/models/prices", json=own)
    await send(person, *(llm_call(name, "openai", {"input": 1_000_000}, start=at) for at in AROUND))
    await person.data("PUT", "/models/prices", json={**own, "effectiveFrom": NEW["effectiveFrom"]})
    await person.data("DELETE", "/models/prices", params={"model": name, "effectiveFrom": "always"})
    await until_costs(person, 50.0, 2.0)


async def test_a_price_for_a_model_that_was_never_seen_applies_to_its_first_call(
    service: Service,
) -> None:
    person = await service.sign_up()
    await person.data("PUT", "/models/prices", json={**OLD, "model": "acme/next"})
    await send(person, llm_call("acme/next", "acme", {"input": 1_000_000}, start=CHANGE))
    assert await costs(person) == [1.0]


async def test_calls_and_images_have_a_price_each(service: Service) -> None:
    person = await service.sign_up()
    await person.data("PUT", "/models/prices", json={**OLD, "perCall": 0.25, "perImage": 0.04})
    call = calls(CHANGE)[0]
    call["attributes"] |= {"spanwise.images": 3}
    failed = calls(CHANGE - timedelta(hours=1))[0] | {"status": "error"}
    await send(person, call, failed)
    # A failed call has no fee.
    assert await costs(person) == [pytest.approx(1.0 + 0.25 + 0.12), 1.0]


async def test_images_without_a_rate_make_their_model_unpriced(service: Service) -> None:
    person = await service.sign_up()
    await person.data("PUT", "/models/prices", json=OLD)
    call = calls(CHANGE)[0]
    call["attributes"] |= {"spanwise.images": 3}
    await send(person, call)
    found = await person.data("GET", "/analytics/costs", params=PERIOD)
    assert (found["unpricedModels"], found["unpricedTokens"]) == ([MODEL], 0)
    await person.data("PUT", "/models/prices", json={"model": MODEL, "perImage": 1.0})
    await until_costs(person, 4.0)
    found = await person.data("GET", "/analytics/costs", params=PERIOD)
    assert found["unpricedModels"] == []


async def test_audio_has_its_own_rates(service: Service) -> None:
    person = await service.sign_up()
    await person.data(
        "PUT",
        "/models/prices",
        json={**OLD, "audioInputPerMillion": 10, "audioOutputPerMillion": 20},
    )
    call = llm_call(MODEL, "acme", {"input": 1_000_000, "output": 500_000}, start=CHANGE)
    call["attributes"] |= {
        "gen_ai.usage.audio.input_tokens": 400_000,
        "gen_ai.usage.audio.output_tokens": 100_000,
    }
    await send(person, call)
    assert await costs(person) == [pytest.approx(0.6 + 4.0 + 0.4 + 2.0)]
    found = await person.data("GET", "/analytics/costs", params=PERIOD)
    assert found["unpricedTokens"] == 0


async def test_a_tool_is_priced_per_call(service: Service) -> None:
    person = await service.sign_up()
    trace_id = new_trace_id()
    root = span(trace_id, kind="agent", start=CHANGE)
    tools = [
        span(
            trace_id, kind="tool", toolName="web_search", start=CHANGE, parentSpanId=root["spanId"]
        )
        for _ in range(2)
    ]
    await send(person, root, *tools)
    assert await costs(person) == [0]
    tool = {"kind": "tool", "model": "web_search", "perCall": 0.01}
    await person.data("PUT", "/models/prices", json=tool)
    await until_costs(person, 0.02)
    found = await person.data("GET", "/analytics/costs", params=PERIOD)
    assert found["byTool"] == {"web_search": pytest.approx(0.02)}
    assert (found["byModel"], found["totalCost"]) == ({}, pytest.approx(0.02))
    detail = await person.data("GET", f"/spans/traces/{trace_id}")
    assert [s["cost"] for s in detail["spans"] if s["kind"] == "tool"] == [0.01, 0.01]
    await person.data("DELETE", "/models/prices", params={"kind": "tool", "model": "web_search"})
    await until_costs(person, 0.0)


async def test_a_model_of_the_same_name_as_a_tool_keeps_its_price(service: Service) -> None:
    person = await service.sign_up()
    await person.data("PUT", "/models/prices", json=OLD)
    await person.data("PUT", "/models/prices", json={"kind": "tool", "model": MODEL, "perCall": 9})
    await send(person, *calls(CHANGE))
    assert await costs(person) == [1.0]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "tool", "model": "t"}, "perCall"),
        ({"kind": "tool", "model": "t", "perCall": 1, "inputPerMillion": 1}, "inputPerMillion"),
        ({**OLD, "perCall": -1}, "perCall"),
        ({**OLD, "kind": "agent"}, "kind"),
        ({**OLD, "effectiveFrom": "1969-01-01T00:00:00Z"}, "effectiveFrom"),
        ({**OLD, "effectiveFrom": "soon"}, "effectiveFrom"),
    ],
)
async def test_an_invalid_price_is_refused_with_the_field(
    service: Service, body: dict[str, Any], field: str
) -> None:
    person = await service.sign_up()
    assert_error(await person.call("PUT", "/models/prices", json=body), 400, field)
