"""Recorded exports of real instrumentations become the expected spans in the whole service."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.service import Person, Service

# All files with tests that read the recorded exports share one worker, which sends them once.
pytestmark = pytest.mark.xdist_group("goldens")

FOLDER = Path(__file__).parent
MEDIA_TYPES = {"json": "application/json", "pb": "application/x-protobuf"}
COPIED = (
    *("kind", "model", "provider", "agentName", "sessionId", "userId", "toolName", "environment"),
    *("status", "errorType", "inputTokens", "outputTokens", "cachedTokens", "reasoningTokens"),
    *("cacheWriteTokens", "parentSpanId", "countedIn"),
)
# What the server returned to the clients, whose answers are known: input, output, cached, written
# to the cache, reasoning.
RETURNED = {
    "gpt-4o-mini": [(1200, 150, 1024, 0, 64)],
    "gpt-5-codex": [(1200, 150, 1024, 0, 64)],
    "claude-sonnet-4-5": [(1636, 150, 1024, 512, 0), (6536, 150, 1024, 512, 0)],
    "text-embedding-3-small": [(500, 0, 0, 0, 0)],
    "gemini-2.5-flash": [(1200, 150, 1024, 0, 64)],
}
# Traces as the API shows them, by their ids.
Traces = dict[str, dict[str, Any]]
TOKENS = ("inputTokens", "outputTokens", "cachedTokens", "cacheWriteTokens", "reasoningTokens")


@dataclass(frozen=True)
class Golden:
    """An export and its expected spans."""

    name: str
    traces: Path | None

    @property
    def expected(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self._file("expected.json").read_text())
        return loaded

    def files(self) -> Iterator[tuple[str, Path]]:
        """Return the requests: spans first, then the logs and metrics that refer to them."""
        if self.traces is not None:
            yield "traces", self.traces
        for kind in ("logs", "metrics"):
            path = self._file(f"{kind}.json")
            if path.exists():
                yield kind, path

    def _file(self, suffix: str) -> Path:
        return FOLDER / f"{self.name}.{suffix}"


def _goldens() -> Iterator[Golden]:
    for path in sorted(FOLDER.glob("*/*.expected.json")):
        name = str(path.relative_to(FOLDER)).removesuffix(".expected.json")
        found = sorted(FOLDER.glob(f"{name}.traces.*"))
        yield from [Golden(name, traces) for traces in found] or [Golden(name, None)]


GOLDENS = list(_goldens())
WITH_SPANS = [golden for golden in GOLDENS if golden.traces is not None]
OF_LOGS_ONLY = [golden for golden in GOLDENS if golden.traces is None]


def golden_id(golden: Golden) -> str:
    return golden.name if golden.traces is None else f"{golden.name}{golden.traces.suffix}"


def is_twin(golden: Golden) -> bool:
    """Return whether the same traces are there as JSON too; two of these are always tested."""
    is_protobuf = golden.traces is not None and golden.traces.suffix == ".pb"
    return is_protobuf and golden.name not in {"otel-plain/python-protobuf", "vercel/v7-genai"}


async def send(person: Person, golden: Golden) -> None:
    for kind, path in golden.files():
        response = await person.call(
            "POST",
            f"/otlp/v1/{kind}",
            content=path.read_bytes(),
            headers={"Content-Type": MEDIA_TYPES[path.suffix[1:]]},
        )
        assert response.status_code == 200, response.text
        assert response.content in {b"", b"{}"}, "something was rejected"


async def send_all(goldens: Collection[Golden], people: list[Person]) -> dict[str, Person]:
    """Send exports concurrently, the same traces in another format for the second person."""
    senders = {
        golden_id(g): people[g.traces is not None and g.traces.suffix == ".pb"] for g in goldens
    }
    await asyncio.gather(*(send(senders[golden_id(golden)], golden) for golden in goldens))
    return senders


async def read_traces(person: Person, golden: Golden) -> Traces:
    """Return the expected traces of an export by their ids."""
    ids = [trace["traceId"] for trace in golden.expected["traces"]]
    return {one: await person.data("GET", f"/spans/traces/{one}") for one in ids}


def differences(wanted: dict[str, Any], got: dict[str, Any]) -> list[str]:
    """Return every field that differs from the expectation."""
    found = [
        f"{field}: {got[field]!r}, not {wanted[field]!r}"
        for field in COPIED
        if field in wanted and got[field] != wanted[field]
    ]
    if "cost" in wanted and got["cost"] != pytest.approx(wanted["cost"]):
        found.append(f"cost: {got['cost']}, not {wanted['cost']}")
    flag = wanted.get("experiment")
    if flag and (got["experimentId"], got["variant"]) != (flag["key"], flag["variant"]):
        found.append(f"experiment: {got['experimentId']} {got['variant']}, not {flag}")
    for field in ("input", "output"):
        messages = wanted.get(f"{field}Messages")
        if messages is not None and describe(got["messages"][field]) != messages:
            found.append(f"{field}: {describe(got['messages'][field])}, not {messages}")
        text = wanted.get(f"{field}Contains")
        if text is not None and text not in json.dumps(got[field], ensure_ascii=False):
            found.append(f"{field}: {got[field]!r} without {text!r}")
    return [f"{wanted['name']} #{wanted['index']} {line}" for line in found]


def describe(messages: list[dict[str, Any]] | None) -> list[str]:
    """Return one line for each message."""
    return [
        f"{message['role']}: {', '.join(map(describe_part, message['parts']))}"
        for message in messages or []
    ]


def describe_part(part: dict[str, Any]) -> str:
    match part["type"]:
        case "text":
            return str(part["text"][:60])
        case "reasoning":
            return f"thinks {part['text'][:60]}"
        case "toolCall":
            return f"calls {part['name']}({json.dumps(part['arguments'], ensure_ascii=False)})"
        case "toolResult":
            result = json.dumps(part["result"], ensure_ascii=False)
            return f"{part['name']} returns {result}"[:80]
        case "media":
            return f"media {part['mediaType']}"
        case other:
            return str(other)


def trace_differences(wanted: dict[str, Any], got: dict[str, Any]) -> list[str]:
    fields = {
        "inputTokens": wanted["countedInputTokens"],
        "outputTokens": wanted["countedOutputTokens"],
        "spanCount": wanted["spanCount"],
    }
    # A trace without a root has no name.
    if name := wanted.get("traceName", wanted["name"]):
        fields["name"] = name
    for field in ("status", "errorType", "sessionId", "userId", "agentName", "errorCount"):
        if field in wanted:
            fields[field] = wanted[field]
    if "durationMs" in wanted:
        fields["durationMs"] = pytest.approx(wanted["durationMs"])
    found = [f"{f}: {got[f]!r}, not {value!r}" for f, value in fields.items() if got[f] != value]
    if "cost" in wanted and got["cost"] != pytest.approx(wanted["cost"]):
        found.append(f"cost: {got['cost']}, not {wanted['cost']}")
    flag = wanted.get("experiment")
    if flag and (got["experimentId"], got["variant"]) != (flag["key"], flag["variant"]):
        found.append(f"experiment: {got['experimentId']} {got['variant']}, not {flag}")
    return [f"trace {wanted['name']} {line}" for line in found]


@pytest.mark.parametrize(
    "golden",
    [
        pytest.param(golden, marks=pytest.mark.long if is_twin(golden) else [])
        for golden in WITH_SPANS
    ],
    ids=golden_id,
)
async def test_an_export_becomes_the_expected_spans(
    read_golden: Callable[[Golden], Awaitable[Traces]], golden: Golden
) -> None:
    traces = await read_golden(golden)
    expected = golden.expected
    spans: dict[str, dict[str, Any]] = {}
    found = []
    for trace in expected["traces"]:
        got = traces[trace["traceId"]]
        found += trace_differences(trace, got)
        spans |= {span["spanId"]: span for span in got["spans"]}
    for wanted in expected["spans"]:
        found += differences(wanted, spans[wanted["spanId"]])
    assert not found, "\n".join(found)


async def list_trace_ids(person: Person) -> list[str]:
    ids: list[str] = []
    while True:
        params = {"limit": 100, "skip": len(ids)}
        answer = (await person.call("GET", "/spans/traces", params=params)).json()
        ids += [trace["traceId"] for trace in answer["data"]]
        if not answer["pagination"]["hasMore"]:
            return ids


async def test_an_export_creates_no_other_traces(golden_senders: dict[str, Person]) -> None:
    listed = [
        trace_id
        for person in {id(person): person for person in golden_senders.values()}.values()
        for trace_id in await list_trace_ids(person)
    ]
    expected = {g.name: {trace["traceId"] for trace in g.expected["traces"]} for g in WITH_SPANS}
    assert {*listed} <= set().union(*expected.values())
    numbers = {
        g.name: g.expected["listedTraces"] for g in WITH_SPANS if "listedTraces" in g.expected
    }
    assert len(numbers) > 50
    assert {name: len(expected[name].intersection(listed)) for name in numbers} == numbers


@pytest.mark.parametrize(
    "golden", [g for g in GOLDENS if g.name.startswith("clients/")], ids=golden_id
)
def test_what_is_expected_of_a_client_is_what_the_server_returned(golden: Golden) -> None:
    for span in golden.expected["spans"]:
        if span["kind"] not in {"llm", "embedding"} or span["status"] == "error":
            continue
        omitted = span.get("omittedBySdk", [])
        shown = {name: span[name] for name in TOKENS if name not in omitted}
        returned = [
            {name: count for name, count in zip(TOKENS, counts, strict=True) if name in shown}
            for counts in RETURNED[span["model"]]
        ]
        assert shown in returned, span["spanId"]


@pytest.fixture(scope="module")
async def log_senders(shared_service: Service) -> dict[str, Person]:
    """One user per export of logs only, which is sent twice."""
    people = {golden_id(golden): await shared_service.sign_up() for golden in OF_LOGS_ONLY}
    for _ in range(2):
        await asyncio.gather(*(send(people[golden_id(golden)], golden) for golden in OF_LOGS_ONLY))
    return people


@pytest.mark.parametrize("golden", OF_LOGS_ONLY, ids=golden_id)
async def test_log_records_of_a_coding_agent_count_as_usage_and_cost_once(
    log_senders: dict[str, Person], golden: Golden
) -> None:
    person = log_senders[golden_id(golden)]
    expected = golden.expected
    calls = [
        {"name": "call", "index": number, **record}
        for number, record in enumerate(expected["logs"])
        if "kind" in record or "errorType" in record
    ]
    traces = await person.data("GET", "/spans/traces")
    details = [await person.data("GET", f"/spans/traces/{t['traceId']}") for t in traces]
    spans = sorted((s for t in details for s in t["spans"]), key=lambda span: span["endTime"])
    found = []
    for wanted, got in zip(calls, spans, strict=True):
        found += differences({"kind": "llm", **wanted}, got)
    assert not found, "\n".join(found)
    totals = expected["totals"]
    assert sum(t["inputTokens"] for t in traces) == totals["countedInputTokens"]
    assert sum(t["outputTokens"] for t in traces) == totals["countedOutputTokens"]
    if "cost" in totals:
        assert sum(t["cost"] for t in traces) == pytest.approx(totals["cost"])
