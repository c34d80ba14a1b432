"""Recorded exports keep their usage, costs and names under masking rules."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from golden.test_goldens import COPIED, WITH_SPANS, Golden, Traces, golden_id, read_traces, send_all
from support.service import Person, Service

pytestmark = pytest.mark.xdist_group("goldens")

METADATA_ONLY = {"mode": "metadataOnly"}
# One for each form in which contents are sent: attributes, events, log records and JSON in them.
REPRESENTATIVE = {
    "clients/claude-code.json",
    "clients/gemini-cli.json",
    "langfuse/observe.json",
    "langsmith/traceable.json",
    "openinference/langchain-agent.json",
    "otel-genai/new-names-event-content.json",
    "otel-genai/old-names-content.json",
    "pydantic-ai/logfire-agent.pb",
    "traceloop/openai-workflow.json",
    "vercel/v7-genai.json",
}


async def sign_up_with(service: Service, rules: dict[str, Any]) -> Person:
    person = await service.sign_up()
    path = f"/workspaces/{person.user['defaultWorkspaceId']}/masking"
    await person.data("PUT", path, json=rules)
    return person


def kept_fields(span: dict[str, Any]) -> dict[str, Any]:
    fields = (*COPIED, "name", "startTime", "cost", "durationMs")
    return {name: span[name] for name in fields}


@pytest.fixture(scope="module")
async def masked_senders(
    request: pytest.FixtureRequest, shared_service: Service
) -> dict[str, Person]:
    """The user with masking rules who sent an export, by its id; only those that are tested."""
    tested = {item.name for item in request.session.items if item.path == request.path}
    goldens = [g for g in WITH_SPANS if any(f"[{golden_id(g)}]" in name for name in tested)]
    people = [await sign_up_with(shared_service, METADATA_ONLY) for _ in range(2)]
    return await send_all(goldens, people)


@pytest.mark.parametrize(
    "golden",
    [
        pytest.param(golden, marks=[] if golden_id(golden) in REPRESENTATIVE else pytest.mark.long)
        for golden in WITH_SPANS
    ],
    ids=golden_id,
)
async def test_metadata_only_removes_nothing_but_contents(
    read_golden: Callable[[Golden], Awaitable[Traces]],
    masked_senders: dict[str, Person],
    golden: Golden,
) -> None:
    plain = await read_golden(golden)
    masked = await read_traces(masked_senders[golden_id(golden)], golden)
    # A prompt of a coding agent is nothing but its text. Ids of spans that are derived from log
    # records differ, because they are hashes of the records.
    expected = [s for t in plain.values() for s in t["spans"] if s["name"] != "user prompt"]
    got = [span for trace in masked.values() for span in trace["spans"]]
    assert got
    assert sorted(map(str, map(kept_fields, got))) == sorted(map(str, map(kept_fields, expected)))
    assert {(span["input"], span["output"]) for span in got} <= {(None, None)}


def test_the_representative_exports_exist() -> None:
    assert {golden_id(golden) for golden in WITH_SPANS} >= REPRESENTATIVE
