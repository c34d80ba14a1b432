"""Export and import of a workspace: exact, repeatable, safe with corrupt files."""

import asyncio
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format

from spanwise.analysis.prices import find_list_prices
from spanwise.model.errors import Invalid, NotFound
from spanwise.services.telemetry.transfer import Transfer
from spanwise.storage.telemetry.export import transfer as stored
from spanwise.storage.telemetry.write.writer import TelemetryWriter
from support.ids import new_trace_id
from support.metrics import Point, make_request
from support.service import Person, Service
from support.spans import llm_call, span

NOW = datetime.now(UTC) - timedelta(hours=1)


@pytest.fixture
def transfer(service: Service) -> Transfer:
    writer = TelemetryWriter(service.services.engine, find_list_prices)
    return Transfer(service.services.catalog, writer)


async def fill(person: Person) -> None:
    """Send telemetry of every kind, in three months."""
    text = "quote ' tab \t newline \n é 漢 😀"
    sending: list[Awaitable[Any]] = []
    for days in (0, 35, 70):
        at = NOW - timedelta(days=days)
        trace_id = new_trace_id()
        root = span(
            trace_id,
            name=text,
            kind="agent",
            agentName=f"agent {days}",
            sessionId="s1",
            input={"messages": [text]},
            attributes={"list": [1, "two", None], "map": {"a": 1.5}, "flag": True, "text": text},
            events=[{"name": "event", "time": at.isoformat(), "attributes": {"x": 1}}],
            start=at,
        )
        call = llm_call("gpt-4o", "openai", {"input": 1234, "cached": 34, "output": 56}, start=at)
        call |= {"traceId": trace_id, "parentSpanId": root["spanId"], "status": "error"}
        log = {"message": text, "traceId": trace_id, "timestamp": at.isoformat(), "level": "warn"}
        signal = {"signalName": "score", "value": 0.25, "traceId": trace_id, "comment": text}
        point = Point(int(at.timestamp()) * 10**9, 2.5, attributes={"text": text, "n": 1})
        body = json_format.MessageToDict(make_request("spent", [point]))
        sending += [
            person.data("POST", "/spans", json={"spans": [root, call]}),
            person.data("POST", "/logs", json=log),
            person.data("POST", "/signals", json={**signal, "timestamp": at.isoformat()}),
            person.call("POST", "/otlp/v1/metrics", json=body),
        ]
    answers = await asyncio.gather(*sending)
    assert [answer.json() for answer in answers[3::4]] == [{}] * 3


async def everything(person: Person) -> Any:
    """Read everything from the API, except ids that differ between workspaces."""
    traces = await person.data("GET", "/spans/traces", params={"limit": 100})
    return _without_ids(
        {
            "traces": traces,
            "details": [
                await person.data("GET", f"/spans/traces/{trace['traceId']}") for trace in traces
            ],
            "logs": await person.data("GET", "/logs"),
            "signals": await person.data("GET", "/signals"),
            "metrics": await person.data("GET", "/metrics/names"),
            "points": await person.data(
                "POST",
                "/metrics/query",
                json={
                    "name": "spent",
                    "aggregation": "sum",
                    "groupBy": ["text", "n"],
                    "granularity": "monthly",
                    "startDate": (NOW - timedelta(days=100)).isoformat(),
                },
            ),
        }
    )


def _without_ids(value: Any) -> Any:
    match value:
        case dict():
            return {k: _without_ids(v) for k, v in value.items() if k != "agentId"}
        case list():
            return [_without_ids(item) for item in value]
        case _:
            return value


async def test_an_imported_export_is_equal_also_when_imported_twice(
    service: Service, transfer: Transfer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "FILE_ROWS", 3)
    ann, bob = await service.sign_up(), await service.sign_up()
    await fill(ann)
    expected = await everything(ann)
    theirs = await transfer.find_workspace(bob.email)
    # An export contains only one workspace.
    nothing = await transfer.export(theirs, tmp_path / "empty", lambda *_: None)
    assert set(nothing.values()) == {0}
    assert [path.name for path in (tmp_path / "empty").iterdir()] == ["manifest.json"]
    assert len(expected["traces"]) == len(expected["logs"]) == len(expected["signals"]) == 3
    steps: list[tuple[int, int]] = []
    mine = await transfer.find_workspace(ann.email)
    rows = await transfer.export(mine, tmp_path / "out", lambda *step: steps.append(step))
    assert rows == {"spans": 6, "logs": 3, "signals": 3, "metric_points": 3}
    assert steps[-1] == (15, 15)
    assert len(list((tmp_path / "out").glob("spans-*.parquet"))) == 3
    for _ in range(2):
        imported = await transfer.import_folder(theirs, tmp_path / "out", lambda *_: None)
        assert imported == rows
        assert await everything(bob) == expected
    assert await everything(ann) == expected
    names = {agent["name"] for agent in await bob.data("GET", "/agents")}
    assert names == {"agent 0", "agent 35", "agent 70"}


async def test_an_invalid_export_is_refused(
    service: Service, transfer: Transfer, tmp_path: Path
) -> None:
    person = await service.sign_up()
    mine = await transfer.find_workspace(person.email)
    with pytest.raises(Invalid, match="not a complete export"):
        await transfer.import_folder(mine, tmp_path, lambda *_: None)
    (tmp_path / "manifest.json").write_text('{"rows": {"spans": 1}}')
    (tmp_path / "spans-000001.parquet").write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(Invalid, match=r"spans-000001\.parquet cannot be read"):
        await transfer.import_folder(mine, tmp_path, lambda *_: None)
    with pytest.raises(Invalid, match="is not empty"):
        await transfer.export(mine, tmp_path, lambda *_: None)
    with pytest.raises(NotFound):
        await transfer.find_workspace("nobody@example.com")


async def test_a_workspace_is_chosen_among_those_of_the_account(
    service: Service, transfer: Transfer
) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    other = await ann.data("POST", "/workspaces", json={"name": "other"})
    assert await transfer.find_workspace(ann.email) == ann.user["defaultWorkspaceId"]
    assert await transfer.find_workspace(ann.email, other["id"]) == other["id"]
    with pytest.raises(NotFound):
        await transfer.find_workspace(bob.email, other["id"])
