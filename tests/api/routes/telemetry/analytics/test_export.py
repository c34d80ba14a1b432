"""Trace downloads in three formats, with the same rows as the list."""

import asyncio
import csv
import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pyarrow.parquet
import pytest

from spanwise.storage.telemetry.export import trace_download as analytics_export
from support.service import Person, Service
from support.spans import Body, child_of, new_span, send

DAY = datetime(2026, 3, 10, 12, tzinfo=UTC)
RANGE = {"startDate": "2026-03-09", "endDate": "2026-03-11"}
FILTERED_DAY, FORMULA_DAY, BUSY_DAY = (DAY - timedelta(days=10 * number) for number in (1, 2, 3))


# Many traces at one time, and few in the hours around it.
CHUNKED = [
    *(new_span(BUSY_DAY) for _ in range(10)),
    *(new_span(BUSY_DAY + timedelta(hours=hour, seconds=5)) for hour in range(-9, 9)),
]
_BLANKS = ["", " ", "\n", "\r\n", "\t", "\0", "\x1f", "\x7f"]
_BLANKS += ["\u00a0", "\u2003", "\u200b", "\ufeff"]
_STARTERS = ["=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
FORMULAS = [
    f"{start}cmd|' /C calc'!A0"
    for start in (
        *(blank + starter for blank in _BLANKS for starter in ("=", "@")),
        *(blank + starter for blank in ("", " \n\t") for starter in _STARTERS),
        *("\t", "\r", "\n"),
    )
]


def make_spans() -> list[Body]:
    root = new_span(
        DAY.replace(microsecond=123_456), 1234.567, name="naïve «trace»", agentName="planner"
    )
    calls = [child_of(root, kind="llm", model=m, inputTokens=5, cost=0.5) for m in ("b", "a")]
    tool = child_of(root, kind="tool", toolName="search, then read")
    failed = new_span(
        DAY, 2000, status="error", sessionId="s", userId="u", environment="test", input="hello"
    )
    wanted = new_span(
        FILTERED_DAY,
        1000,
        name="wanted",
        agentName="planner",
        input="a zebra crossing",
        status="error",
    )
    filtered = [
        wanted,
        child_of(wanted, kind="llm", model="m", provider="p", cost=1),
        child_of(wanted, kind="tool", toolName="look_up"),
        new_span(FILTERED_DAY, 10, name="other"),
    ]
    formulas: list[Body] = []
    for text in FORMULAS:
        span = new_span(
            FORMULA_DAY, name=text, agentName=text, sessionId=text, userId=text, input=text
        )
        formulas += [span, child_of(span, kind="llm", model=text)]
    return [root, *calls, tool, failed, *filtered, *formulas, *CHUNKED]


@pytest.fixture(scope="module")
async def ada(shared_service: Service) -> Person:
    """A person with traces on four days, each for other tests."""
    person, bob = await shared_service.sign_up(), await shared_service.sign_up()
    elsewhere = new_span(FILTERED_DAY, name="of another workspace", agentName="planner")
    await asyncio.gather(send(person, *make_spans()), send(bob, elsewhere))
    return person


def on(day: datetime) -> dict[str, str]:
    return {"startDate": f"{day:%Y-%m-%d}", "endDate": f"{day:%Y-%m-%d}"}


async def download(person: Person, form: str, **parameters: Any) -> httpx.Response:
    response = await person.call(
        "GET", "/analytics/traces/list", params={**RANGE, "format": form, **parameters}
    )
    assert response.status_code == 200, response.text
    return response


async def listed(person: Person, **period: str) -> list[dict[str, Any]]:
    """Return the rows of the list without what only a list that asks for it has."""
    wanted = {**RANGE, "limit": 1000, **period}
    rows = await person.data("GET", "/analytics/traces/list", params=wanted)
    return [{name: row[name] for name in row if name != "errorName"} for row in rows]


def read_csv(response: httpx.Response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.text, newline="")))


async def test_jsonl_has_the_rows_of_the_list(ada: Person) -> None:
    response = await download(ada, "jsonl")
    assert [json.loads(line) for line in response.text.splitlines()] == await listed(ada)
    assert response.headers["content-type"] == "application/x-ndjson"
    assert (
        response.headers["content-disposition"]
        == 'attachment; filename="spanwise-traces-20260309-20260312.jsonl"'
    )


async def test_csv_has_the_fields_of_a_trace_as_columns(ada: Person) -> None:
    response = await download(ada, "csv")
    rows, traces = read_csv(response), await listed(ada)
    assert list(rows[0]) == list(traces[0])
    for row, trace in zip(rows, traces, strict=True):
        assert row["traceId"] == trace["traceId"]
        assert row["startTime"] == trace["startTime"]
        assert row["endTime"] == trace["endTime"]
        assert float(row["durationMs"]) == trace["durationMs"]
        assert row["models"] == "; ".join(trace["models"])
        assert row["tools"] == "; ".join(trace["tools"])
        assert row["sessionId"] == (trace["sessionId"] or "")
        assert row["name"] == trace["name"]
        assert row["agentId"] == (trace["agentId"] or "")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.headers["content-disposition"].endswith('.csv"')


async def test_csv_texts_cannot_be_formulas(ada: Person) -> None:
    rows = read_csv(await download(ada, "csv", **on(FORMULA_DAY)))
    assert sorted(row["name"] for row in rows) == sorted(f"'{text}" for text in FORMULAS)
    for row in rows:
        for field in ("agentName", "sessionId", "userId", "models"):
            assert row[field] == row["name"], field


async def test_parquet_has_typed_columns(ada: Person) -> None:
    response = await download(ada, "parquet")
    assert response.headers["content-type"] == "application/vnd.apache.parquet"
    table = pyarrow.parquet.read_table(io.BytesIO(response.content))
    rows = table.to_pylist()
    for row, trace in zip(rows, await listed(ada), strict=True):
        times = {name: datetime.fromisoformat(trace[name]) for name in ("startTime", "endTime")}
        assert row == {**trace, **times}


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
async def test_a_download_without_traces_has_no_rows(ada: Person, form: str) -> None:
    content = (await download(ada, form, **on(DAY - timedelta(days=300)))).content
    match form:
        case "csv":
            assert content.startswith(b"traceId,name,")
            assert content.count(b"\r\n") == 1
        case "jsonl":
            assert content == b""
        case "parquet":
            table = pyarrow.parquet.read_table(io.BytesIO(content))
            assert (table.num_rows, table.num_columns) == (0, 24)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
async def test_a_download_in_many_chunks_has_every_trace_once(
    ada: Person, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analytics_export, "CHUNK_TRACES", 3)
    content = (await download(ada, form, **on(BUSY_DAY))).content
    match form:
        case "csv":
            ids = [row["traceId"] for row in csv.DictReader(io.StringIO(content.decode()))]
        case "jsonl":
            ids = [json.loads(line)["traceId"] for line in content.splitlines()]
        case _:
            table = pyarrow.parquet.read_table(io.BytesIO(content))
            ids = [row["traceId"] for row in table.to_pylist()]
    assert ids == [trace["traceId"] for trace in await listed(ada, **on(BUSY_DAY))]
    assert sorted(ids) == sorted(span["traceId"] for span in CHUNKED)


@pytest.mark.parametrize(
    "wish",
    [
        {"search": "zebra"},
        {"tool": "look_up"},
        {"model": "m"},
        {"provider": "p"},
        {"minDuration": 900},
        {"minCost": 0.5},
        {"agentId": "planner", "status": "error"},
    ],
    ids=" and ".join,
)
async def test_a_download_supports_the_filters_of_the_trace_list(
    ada: Person, wish: dict[str, Any]
) -> None:
    rows = read_csv(await download(ada, "csv", **on(FILTERED_DAY), **wish))
    assert [row["name"] for row in rows] == ["wanted"]


async def test_every_format_is_filtered(ada: Person) -> None:
    wanted = {**on(FILTERED_DAY), "search": "zebra"}
    lines = (await download(ada, "jsonl", **wanted)).text.splitlines()
    assert [json.loads(line)["name"] for line in lines] == ["wanted"]
    parquet = io.BytesIO((await download(ada, "parquet", **wanted)).content)
    assert pyarrow.parquet.read_table(parquet).column("name").to_pylist() == ["wanted"]


async def test_the_list_allows_pages_of_a_thousand(ada: Person) -> None:
    path = "/analytics/traces/list"
    response = await ada.call("GET", path, params={**RANGE, "limit": 5000})
    assert response.json()["pagination"] == {
        "total": 2,
        "limit": 1000,
        "skip": 0,
        "hasMore": False,
    }
    page = await ada.call("GET", path, params={**RANGE, "limit": 1, "skip": 1})
    assert len(page.json()["data"]) == 1
    assert page.json()["pagination"]["hasMore"] is False
