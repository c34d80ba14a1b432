"""Expectations agree with what the model server returned and with what the client sent."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

from golden.client_table import CLIENTS, PROPERTIES, describe_client
from golden.recorded_clients import (
    AGENT,
    FOLDER,
    NAMES,
    SESSION,
    TOKENS,
    USER,
    Export,
    is_same_model,
    price,
)
from spanwise.model.telemetry.conventions import USAGE_KINDS

T = TypeVar("T")
ROOT = FOLDER.parents[1]
EXPORTS = [
    Export(str(path.relative_to(FOLDER)).removesuffix(".expected.json"))
    for path in sorted(FOLDER.glob("*/*.expected.json"))
]
WITH_SPANS = [export for export in EXPORTS if export.sent]
RECORDED = [export for export in EXPORTS if export.recording]
MIN_CLIENTS = 30

PROVIDERS = {
    "anthropic.claude": "aws.bedrock",
    "claude": "anthropic",
    "gemini": "gcp.gemini",
    "gpt": "openai",
    "llama": "groq",
    "mistral": "mistral_ai",
    "text-embedding": "openai",
}


def _id(export: Export) -> str:
    return export.name


def _find(table: Mapping[str, T], model: str) -> T:
    return next(value for prefix, value in table.items() if model.startswith(prefix))


def test_there_are_recordings_of_thirty_clients() -> None:
    cases = Counter(case for client in CLIENTS for case in client.cases)
    assert cases == Counter(export.name for export in EXPORTS)
    by_script = [c for c in CLIENTS if not all(g.name.startswith("clients/") for g in c.goldens)]
    recorded = [c for c in by_script if not all(g.expected.get("handmade") for g in c.goldens)]
    assert len({(c.name, c.language, c.instrumentation) for c in recorded}) >= MIN_CLIENTS


def test_every_client_shows_a_model_and_a_kind() -> None:
    for client in CLIENTS:
        cells = describe_client(client)
        assert tuple(cells) == PROPERTIES
        assert cells["kinds"], client


@pytest.mark.parametrize("export", WITH_SPANS, ids=_id)
def test_every_property_of_every_span_is_expected(export: Export) -> None:
    properties = {"kind", "parentSpanId", "agentName", "model", "provider", "toolName"}
    properties |= {"sessionId", "userId", "status", "errorType"}
    of_calls = {*TOKENS, "cost", "countedIn"}
    missing = {
        span["spanId"]: sorted(lacking)
        for span in export.spans
        if (
            lacking := properties | (of_calls if span["kind"] in USAGE_KINDS else set()) - set(span)
        )
        - set(span)
    }
    assert missing == {}
    of_traces = {"agentName", "status", "errorType", "sessionId", "userId", "cost", "errorCount"}
    assert all(of_traces <= trace.keys() for trace in export.traces)


@pytest.mark.parametrize("export", RECORDED, ids=_id)
def test_every_call_of_the_server_is_expected_once(export: Export) -> None:
    spans = [s for s in export.calls if any(s[t] for t in TOKENS) or not export.has_usage]
    if not export.recording["calls"]:
        # The snippets for OpenTelemetry's SDK make up their numbers.
        assert "opentelemetry" in export.name
        return
    calls = list(export.recording["calls"])
    for span in spans:
        shown = {name: span[name] for name in TOKENS if name not in span.get("omittedBySdk", [])}
        call = next(c for c in calls if is_same_model(c["model"], span["model"]) and fits(shown, c))
        calls.remove(call)
        assert span["provider"] == _find(PROVIDERS, call["model"])
    assert calls == []


def fits(shown: Mapping[str, int], call: Mapping[str, Any]) -> bool:
    return all(call[name] == count for name, count in shown.items())


@pytest.mark.parametrize("export", WITH_SPANS, ids=_id)
def test_the_cost_is_that_of_the_list_price(export: Export) -> None:
    for span in export.calls:
        cost = price(span["model"], span)
        if cost is None:
            continue
        if any("cost" in name for name, _ in export.sent.get(span["spanId"], [])):
            # The client computes a cost itself, which counts.
            continue
        assert span["cost"] == pytest.approx(cost, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("export", WITH_SPANS, ids=_id)
def test_omitted_tokens_are_not_in_the_export(export: Export) -> None:
    omitted = {s["spanId"]: s["omittedBySdk"] for s in export.calls if s.get("omittedBySdk")}
    for span_id, names in export.find_omitted().items():
        assert set(names) == set(omitted.get(span_id, []))
    for span in export.calls:
        for name in span.get("omittedBySdk", []):
            count = export.find_fitting(span).get(name)
            sent = [
                (key, value)
                for key, value in export.sent[span["spanId"]]
                # The input may have the usage of earlier calls.
                if NAMES[name].search(key) and value == count and not key.startswith("input.")
            ]
            assert sent == [], f"{name} of {span['name']} is sent"


@pytest.mark.parametrize("export", WITH_SPANS, ids=_id)
def test_a_session_user_or_agent_that_is_sent_is_shown(export: Export) -> None:
    for field, name, value in (
        ("sessionId", "session", SESSION),
        ("sessionId", "thread", SESSION),
        ("sessionId", "conversation", SESSION),
        ("userId", "user", USER),
        ("agentName", "agent", AGENT),
    ):
        if export.has_sent(name, value):
            shown = {str(trace[field]) for trace in export.traces}
            shown |= {str(span[field]) for span in export.spans}
            assert any(value.fullmatch(text) for text in shown), field


@pytest.mark.parametrize("export", RECORDED, ids=_id)
def test_the_export_was_recorded_from_the_program_as_it_is(export: Export) -> None:
    program = ROOT / export.recording["program"]
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    assert digest == export.recording["sha256"], f"record {export.name} again"
    assert export.recording["packages"] == _pinned(export)


def _pinned(export: Export) -> dict[str, str]:
    """The packages that the recorder installs today."""
    record = FOLDER / "record"
    pins = [
        dict(line.split("==") for line in path.read_text().split())
        for path in record.glob("requirements/*.txt")
    ]
    pins += [
        json.loads(path.read_text())["dependencies"] for path in record.glob("node/*.package.json")
    ]
    return next((p for p in pins if p == export.recording["packages"]), {})


def test_no_recording_is_left_without_an_expectation() -> None:
    recordings = {path.name.split(".")[0] for path in Path(FOLDER).glob("*/*.recording.json")}
    assert recordings == {export.name.split("/")[1] for export in RECORDED}
