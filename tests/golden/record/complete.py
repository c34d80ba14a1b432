"""Fills in what expectations leave open, with what the service shows of the export.

Fields that are there stay as they are: they were written by hand. What this adds has to be
reviewed; `test_clients.py` compares it with what the model server returned.

    PYTHONPATH=src:tests python tests/golden/record/complete.py [GOLDEN ...]
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from golden.recorded_clients import find_omitted
from golden.test_goldens import FOLDER, TOKENS, Golden, describe, send
from spanwise.model.telemetry.conventions import USAGE_KINDS
from support.service import Person, start_service

Json = dict[str, Any]
SPAN_FIELDS = (
    *("kind", "parentSpanId", "agentName", "provider", "model", "toolName", "sessionId"),
    *("userId", "status", "errorType", "environment"),
)
TRACE_FIELDS = (
    *("status", "errorType", "agentName", "sessionId", "userId", "spanCount", "errorCount", "cost"),
)
EXCERPT = 40


def find_cases() -> list[str]:
    exports = sorted(FOLDER.glob("*/*.traces.json"))
    return [str(path.relative_to(FOLDER)).removesuffix(".traces.json") for path in exports]


def complete_span(wanted: Json, got: Json) -> Json:
    filled = {**wanted, **{f: got[f] for f in SPAN_FIELDS if f not in wanted}}
    if filled["kind"] in USAGE_KINDS:
        filled |= {f: got[f] for f in (*TOKENS, "cost", "countedIn") if f not in wanted}
    for side in ("input", "output"):
        messages = describe(got["messages"][side])
        if f"{side}Messages" in wanted or (f"{side}Contains" in wanted and not messages):
            continue
        if messages:
            filled[f"{side}Messages"] = messages
        elif got[side] is not None:
            filled[f"{side}Contains"] = json.dumps(got[side], ensure_ascii=False)[1 : EXCERPT + 1]
    return filled


def complete_trace(wanted: Json, got: Json) -> Json:
    counted = {
        "countedInputTokens": got["inputTokens"],
        "countedOutputTokens": got["outputTokens"],
    }
    filled = {f: got[f] for f in TRACE_FIELDS} | counted
    return {**wanted, **{f: v for f, v in filled.items() if f not in wanted}}


async def complete(person: Person, name: str) -> None:
    traces = FOLDER / f"{name}.traces.json"
    golden = Golden(name, traces)
    await send(person, golden)
    path = FOLDER / f"{name}.expected.json"
    expected: Json = json.loads(path.read_text()) if path.exists() else {"spans": [], "traces": []}
    listed = await person.data("GET", "/spans/traces", params={"limit": 100})
    sent = {s["traceId"] for s in exported_spans(traces)}
    # Log records of coding agents become spans in traces of their own.
    sent |= {trace["traceId"] for trace in expected["traces"]}
    details = [await person.data("GET", f"/spans/traces/{trace_id}") for trace_id in sorted(sent)]
    details.sort(key=lambda trace: trace["startTime"])
    shown = {span["spanId"]: span for trace in details for span in trace["spans"]}
    if not expected["spans"]:
        expected["listedTraces"] = len(listed)
        expected["spans"] = [
            {"traceId": s["traceId"], "spanId": s["spanId"], "name": s["name"], "index": index}
            for index, s in enumerate(shown.values())
        ]
        expected["traces"] = [{"traceId": t["traceId"], "name": t["name"]} for t in details]
    expected["spans"] = [complete_span(s, shown[s["spanId"]]) for s in expected["spans"]]
    by_id = {trace["traceId"]: trace for trace in details}
    expected["traces"] = [complete_trace(t, by_id[t["traceId"]]) for t in expected["traces"]]
    for span_id, omitted in find_omitted(name, expected).items():
        [span] = [s for s in expected["spans"] if s["spanId"] == span_id]
        span["omittedBySdk"] = omitted
    path.write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


def exported_spans(path: Path) -> list[Json]:
    return [
        span
        for resource in json.loads(path.read_text())["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]


async def main() -> None:
    chosen = [c for c in find_cases() if not sys.argv[1:] or c.startswith(tuple(sys.argv[1:]))]
    with tempfile.TemporaryDirectory() as folder:
        async with start_service(Path(folder)) as service:
            for name in chosen:
                await complete(await service.sign_up(), name)
                print(name)


if __name__ == "__main__":
    asyncio.run(main())
