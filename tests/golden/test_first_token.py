"""The time to the first token, in the exports of real clients and in queries."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from golden.test_goldens import WITH_SPANS, Golden, Traces, golden_id
from support.service import Person, Service, assert_error

pytestmark = pytest.mark.xdist_group("goldens")

FOLDER = Path(__file__).parent
GOLDENS = {golden_id(golden): golden for golden in WITH_SPANS}
# The export, the name of its streamed span, and the milliseconds that the client reports.
CLIENTS = {
    "anthropic-sdk/messages": ("anthropic.messages.create", 77.333258),
    "otel-genai/genai-openai-chat": ("chat gpt-4o-mini", 50.37652399983017),
    "vercel/v7-genai": ("chat gpt-4o-mini", 23.373800000000073),
    "vercel/v5-experimental-telemetry": ("ai.streamText.doStream", 31.42832999999996),
    "recorded/openlit": ("chat gpt-4o-mini", 41.94450378417969),
    "recorded/strands": ("chat", 1349),
    "clients/claude-code": ("claude_code.llm_request", 19),
    "clients/langfuse": ("OpenAI-generation", 31.656272),
    "snippets/mastra-typescript": ("chat gpt-5-mini", 74),
    "openinference/openai": ("ChatCompletion", 50.448777),
}
PERIOD = {"startDate": "2026-11-01", "endDate": "2026-12-01"}


async def send(person: Person, export: str) -> None:
    body = (FOLDER / f"{export}.traces.json").read_bytes()
    headers = {"Content-Type": "application/json"}
    response = await person.call("POST", "/otlp/v1/traces", content=body, headers=headers)
    assert response.status_code == 200, response.text


@pytest.mark.parametrize("export", CLIENTS)
async def test_it_is_read_from_what_clients_send(
    golden_senders: dict[str, Person],
    read_golden: Callable[[Golden], Awaitable[Traces]],
    export: str,
) -> None:
    name, expected = CLIENTS[export]
    person = golden_senders[f"{export}.json"]
    traces = await read_golden(GOLDENS[f"{export}.json"])
    all_spans = [span for trace in traces.values() for span in trace["spans"]]
    spans = [span for span in all_spans if span["timeToFirstTokenMs"] is not None]
    found = {span["timeToFirstTokenMs"] for span in spans if span["name"] == name}
    assert any(value == pytest.approx(expected, rel=1e-9, abs=1e-6) for value in found), found
    assert all(span["timeToFirstTokenMs"] <= span["durationMs"] for span in spans)
    [first] = [s for s in spans if s["timeToFirstTokenMs"] == max(found)][:1]
    path = f"/spans/traces/{first['traceId']}/spans/{first['spanId']}"
    assert (await person.data("GET", path))["timeToFirstTokenMs"] == first["timeToFirstTokenMs"]


async def find_spans(person: Person) -> list[dict[str, Any]]:
    traces = await person.data("GET", "/spans/traces", params={"limit": 100})
    paths = [f"/spans/traces/{trace['traceId']}" for trace in traces]
    return [span for path in paths for span in (await person.data("GET", path))["spans"]]


async def test_queries_measure_it_over_spans(service: Service) -> None:
    person = await service.sign_up()
    exports = ("recorded/openlit", "recorded/strands", "clients/langfuse")
    await asyncio.gather(*(send(person, export) for export in exports))
    spans = await find_spans(person)
    by_model: dict[str, list[float]] = {}
    for span in spans:
        if span["timeToFirstTokenMs"] is not None:
            by_model.setdefault(span["model"], []).append(span["timeToFirstTokenMs"])
    measures = ["avgTimeToFirstToken", "p50TimeToFirstToken", "p95TimeToFirstToken"]
    query = {**PERIOD, "of": "spans", "measures": measures, "groupBy": ["model"]}
    answer = await person.data("POST", "/analytics/query", json=query)
    found = {row["model"]: row for row in answer["rows"]}
    assert by_model
    for model, values in by_model.items():
        assert found[model]["avgTimeToFirstToken"] == pytest.approx(sum(values) / len(values))
        assert min(values) <= found[model]["p50TimeToFirstToken"] <= max(values)
        assert found[model]["p50TimeToFirstToken"] <= found[model]["p95TimeToFirstToken"]
    assert found[None]["avgTimeToFirstToken"] is None
    assert found[None]["p95TimeToFirstToken"] is None


async def test_the_percentiles_are_exact_and_traces_have_none(service: Service) -> None:
    person = await service.sign_up()
    key = "gen_ai.response.time_to_first_chunk"
    spans = [
        {
            "traceId": f"{n:032x}",
            "spanId": f"{n:016x}",
            "name": "chat",
            "kind": "llm",
            "startTime": f"2026-11-10T10:00:{n:02}Z",
            "durationMs": 9000,
            "attributes": {key: n / 10} if n <= 11 else {"ttft_ms": "soon", key: -1},
        }
        for n in range(1, 14)
    ]
    await person.data("POST", "/spans", json={"spans": spans})
    measures = ["p50TimeToFirstToken", "p95TimeToFirstToken", "avgTimeToFirstToken", "count"]
    query = {**PERIOD, "of": "spans", "measures": measures, "granularity": "daily"}
    answer = await person.data("POST", "/analytics/query", json=query)
    [row] = [row for row in answer["rows"] if row["count"]]
    assert row["p50TimeToFirstToken"] == pytest.approx(600)
    assert row["p95TimeToFirstToken"] == pytest.approx(1050)
    assert row["avgTimeToFirstToken"] == pytest.approx(600)
    assert answer["rows"][0]["avgTimeToFirstToken"] is None
    query = {**PERIOD, "measures": ["p50TimeToFirstToken"]}
    response = await person.call("POST", "/analytics/query", json=query)
    assert_error(response, 400, "body")
    assert "measure of spans" in response.text
