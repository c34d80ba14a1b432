"""Written spans become traces, the same on both engines."""

import re
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from spanwise.analysis.prices import find_list_prices
from spanwise.ingest.records.versions import next_version
from spanwise.model.analytics import Question
from spanwise.model.errors import Unavailable
from spanwise.model.page import Listing, PageRequest
from spanwise.model.telemetry.filters import (
    Operator,
    Order,
    RowFilter,
    TraceFilter,
    TraceSort,
    compare,
    equal,
)
from spanwise.model.telemetry.prices import PriceKey, PricePeriod, Rates
from spanwise.model.telemetry.spans import Trace
from spanwise.model.times import Granularity, TimeRange
from spanwise.storage.telemetry.engine.conditions import WORDS
from spanwise.storage.telemetry.engine.query import Rows, query_rows
from spanwise.storage.telemetry.prices.price_dictionary import find_known_prices, put_prices
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.rows.batch_rows import BatchRows
from spanwise.storage.telemetry.rows.locations import TraceLocation, find_location
from spanwise.storage.telemetry.signals.signal_queries import find_signals
from spanwise.storage.telemetry.spans.span_queries import find_span, read_spans, to_spans
from spanwise.storage.telemetry.traces.filter_values import filter_values
from spanwise.storage.telemetry.traces.trace_queries import find_trace, find_traces
from spanwise.storage.telemetry.write.aggregates import TraceAggregation
from spanwise.storage.telemetry.write.deletion import TraceDeletion
from spanwise.storage.telemetry.write.repricing import (
    find_months_to_reprice,
    reprice_hours,
    split_month,
)
from spanwise.storage.telemetry.write.writer import Batch, DataRefused, TelemetryWriter
from support.ids import new_trace_id
from support.slices import TracesOnly
from support.spans import llm_call, span
from support.store import WorkspaceStore

# Tests of both engines are in one worker, which starts the server once.
pytestmark = pytest.mark.xdist_group("telemetry server")

NOW = datetime.now(UTC) - timedelta(minutes=5)


async def listed(
    store: WorkspaceStore,
    sort: TraceSort = TraceSort.START_TIME,
    limit: int = 50,
    skip: int = 0,
    period: TimeRange | None = None,
    search: str | None = None,
    min_cost: float | None = None,
    **wanted: str,
) -> Listing[Trace]:
    conditions = equal(**wanted) + compare("cost", Operator.GTE, min_cost)
    filters = TraceFilter(period or TimeRange(), conditions, search)
    page = PageRequest(limit, skip)
    return await find_traces(store.engine, store.workspace, filters, page, {}, sort, Order.DESC)


async def location_of(store: WorkspaceStore, trace_id: str) -> TraceLocation:
    location = await find_location(store.engine, store.workspace, trace_id)
    assert location is not None
    return location


@pytest.mark.both_engines
async def test_a_trace_aggregates_its_spans(store: WorkspaceStore) -> None:
    trace_id = new_trace_id()
    root = span(trace_id, name="answer", kind="agent", agentName="helper", start=NOW)
    call = llm_call("gpt-4o", "openai", {"input": 1000, "output": 10}, start=NOW)
    call |= {"traceId": trace_id, "parentSpanId": root["spanId"]}
    tool = span(trace_id, root["spanId"], kind="tool", toolName="search", status="error")
    (seen,) = store.writer.write(store.batch(root, call, tool))
    assert (seen.workspace_id, seen.name) == (store.workspace, "helper")
    (trace,) = (await listed(store)).items
    assert (trace.name, trace.agent_name, trace.span_count, trace.error_count) == (
        *("answer", "helper"),
        *(3, 1),
    )
    assert (trace.models, trace.tools, trace.input_tokens) == (["gpt-4o"], ["search"], 1000)
    assert trace.cost == pytest.approx(0.0026)
    location = await location_of(store, trace_id)
    assert await find_trace(store.engine, location, {}) == trace
    spans = await to_spans(await read_spans(store.engine, location), trace_id, {}, {})
    assert [s["name"] for s in spans] == ["answer", "step", "step"]


@pytest.mark.both_engines
async def test_lists_filter_sort_and_page(store: WorkspaceStore) -> None:
    store.send(
        *(
            llm_call(
                *("gpt-4o", "openai", {"input": 1}),
                start=NOW - timedelta(minutes=minutes),
                cost=cost,
                environment=f"e{cost}",
            )
            for minutes, cost in ((3, 1.0), (2, 3.0), (1, 2.0))
        )
    )
    assert [t.cost for t in (await listed(store)).items] == [2.0, 3.0, 1.0]
    assert [t.cost for t in (await listed(store, TraceSort.COST)).items] == [3.0, 2.0, 1.0]
    assert [t.cost for t in (await listed(store, min_cost=2.0)).items] == [2.0, 3.0]
    assert [t.cost for t in (await listed(store, environment="e3.0")).items] == [3.0]
    assert (await listed(store, model="gpt-4o", limit=1)).total == 3
    assert (await listed(store, model="other")).total == 0
    period = TimeRange(NOW - timedelta(minutes=2, seconds=1), NOW - timedelta(minutes=1))
    assert [t.cost for t in (await listed(store, period=period)).items] == [3.0]


ALL_PAGES = ((1, 0), (20, 0), (20, 20), (100, 0), (10, 0), (10, 10), (10, 40))


@pytest.mark.parametrize(
    ("spread", "count", "outdated", "pages"),
    [
        (timedelta(hours=2), 40, 11, ((1, 0), (10, 10))),
        pytest.param(timedelta(hours=2), 60, 15, ALL_PAGES, marks=pytest.mark.long),
        pytest.param(timedelta(seconds=1), 60, 11, ALL_PAGES, marks=pytest.mark.long),
    ],
)
async def test_latest_pages_have_each_trace_once_in_its_newest_version(
    store: WorkspaceStore,
    spread: timedelta,
    count: int,
    outdated: int,
    pages: Sequence[tuple[int, int]],
) -> None:
    """With any number of outdated rows, within the last day or before it."""
    roots = [
        span(new_trace_id(), name=f"run {n}", status="error", start=NOW - n * spread)
        for n in range(count)
    ]
    store.send(*roots)
    # More outdated keys than spare ones: these traces lost their error or were deleted.
    store.send(*(root | {"status": "ok"} for root in roots[:outdated]), *roots[outdated:])
    version = next_version()
    last = 2 * outdated
    gone = [TraceDeletion(store.workspace, r["traceId"], version) for r in roots[outdated:last]]
    store.writer.write(Batch(BatchRows(version, version), deletions=gone))
    left = [*roots[:outdated], *roots[last:]]
    for limit, skip in pages:
        listing = await listed(store, limit=limit, skip=skip)
        names = [trace.name for trace in listing.items]
        assert names == [root["name"] for root in left[skip : skip + limit]]
        assert listing.total == len(left)
        failed = await listed(store, limit=limit, skip=skip, status="error", search="run")
        names = [trace.name for trace in failed.items]
        assert names == [root["name"] for root in roots[last + skip : last + skip + limit]]
        assert failed.total == len(roots) - last


async def test_search_finds_words_of_names_inputs_and_outputs(store: WorkspaceStore) -> None:
    store.send(
        span(name="plan the journey", input="ZÜRICH to Genève", output="by train"),
        span(name="other", input="nothing"),
    )
    for words, count in (
        ("JOURNEY train", 1),
        ("zürich GENÈVE", 1),
        ("journey plane", 0),
        ("'); --", 0),
    ):
        assert (await listed(store, search=words)).total == count, words


async def test_a_root_resent_with_another_start_is_one_trace(store: WorkspaceStore) -> None:
    start = NOW - timedelta(days=1)
    shifts = {"second": timedelta(seconds=1), "hours": timedelta(hours=2)}
    shifts["days"] = timedelta(days=-40)
    roots = {name: span(new_trace_id(), name="run", start=start) for name in shifts}
    moved = {
        name: span(root["traceId"], name=name, start=start + shifts[name])
        | {"spanId": root["spanId"]}
        for name, root in roots.items()
    }
    for sent, names in ((roots, ["run"] * 3), (moved, sorted(shifts))):
        children = [span(r["traceId"], r["spanId"], start=start) for r in roots.values()]
        store.send(*sent.values(), *children)
        listing = await listed(store)
        assert (listing.total, sorted(trace.name for trace in listing.items)) == (3, names)
    for name, root in roots.items():
        location = await location_of(store, root["traceId"])
        trace = await find_trace(store.engine, location, {})
        assert trace is not None
        assert trace.name == name


async def test_a_root_with_a_changed_start_is_one_trace_after_replay(
    store: WorkspaceStore,
) -> None:
    root = span(new_trace_id(), name="run", start=NOW - timedelta(days=1))
    start = NOW - timedelta(hours=3)
    moved = span(root["traceId"], name="moved", start=start) | {"spanId": root["spanId"]}
    first, second = store.batch(root), store.batch(moved)
    store.writer.write(first)
    # The process ends here; the next one replays both in one batch.
    next_writer = TelemetryWriter(store.engine, find_list_prices)
    # Their hours are not in the journal.
    versions = BatchRows(first.rows.first_version, second.rows.last_version)
    both = Batch(versions, spans=[*first.spans, *second.spans])
    next_writer.write(both)
    next_writer.close()
    listing = await listed(store)
    assert (listing.total, [trace.name for trace in listing.items]) == (1, ["moved"])


async def test_traces_with_spans_years_apart_are_aggregated_in_bounded_memory(
    store: WorkspaceStore,
) -> None:
    """With each of their hours listed, these took 1.7 GB; five times as many would never fit."""
    long_ago = datetime(2001, 2, 3, tzinfo=UTC)
    roots = [span(new_trace_id(), name="old", start=long_ago) for _ in range(2000)]
    day = span(new_trace_id(), name="new", start=NOW)
    store.send(*roots, day)
    children = [span(root["traceId"], root["spanId"], start=NOW) for root in (*roots, day)]
    store.writer._client.set_client_setting("max_memory_usage", 500_000_000)
    try:
        store.send(*children)
    finally:
        store.writer._client.set_client_setting("max_memory_usage", 0)
    with store.engine.client() as client:
        counts = query_rows(
            client,
            """SELECT span_count, count() AS traces FROM traces FINAL
            WHERE workspace = {workspace:String} GROUP BY span_count""",
            {"workspace": store.workspace},
        )
    assert counts == [{"span_count": 2, "traces": 2001}]


@pytest.mark.both_engines
async def test_the_rollup_matches_the_traces(store: WorkspaceStore) -> None:
    spans = []
    for days, agent in enumerate(("planner", "critic", "planner")):
        at = NOW - timedelta(days=40 * days)
        root = span(new_trace_id(), name="run", agentName=agent, environment="live", start=at)
        call = llm_call("gpt-4o", "openai", {"input": 10, "output": 1}, start=at)
        spans += [root, call | {"traceId": root["traceId"], "parentSpanId": root["spanId"]}]
    store.send(*spans)
    rollup = Rollup(store.engine, quiet_seconds=0)
    await rollup.maintenance.update()
    period = TimeRange()
    question = Question(period.or_all(), TraceFilter(period), Granularity.MONTHLY)
    assert not (await rollup.choose_source(store.workspace, question)).is_traces_only
    values = await rollup.answer(store.workspace, question, filter_values({}))
    traces = TracesOnly(store.engine)
    assert values == await traces.answer(store.workspace, question, filter_values({}))
    assert [agent.name for agent in values.agents] == ["critic", "planner"]
    assert (values.models, values.environments) == (["gpt-4o"], ["live"])


async def test_another_workspace_sees_nothing(
    store: WorkspaceStore, writer: TelemetryWriter
) -> None:
    sent = span(name="secret")
    store.send(sent)
    other = WorkspaceStore(store.engine, writer)
    assert (await listed(other)).total == 0
    assert (await listed(other, search="secret")).total == 0
    assert await find_location(store.engine, other.workspace, sent["traceId"]) is None
    # Not even with a known location.
    location = replace(await location_of(store, sent["traceId"]), workspace=other.workspace)
    assert await find_trace(store.engine, location, {}) is None
    assert not await read_spans(store.engine, location)
    assert await find_span(store.engine, location, sent["spanId"], {}) is None


@pytest.mark.both_engines
async def test_special_characters_are_stored_unchanged(store: WorkspaceStore) -> None:
    text = "quote ' backslash \\ tab \t newline \n brace {x:String} percent %s é 漢 😀"
    sent = span(name=text, input=text, attributes={"key'": text, "list": [1, text]}, userId=text)
    store.send(sent)
    location = await location_of(store, sent["traceId"])
    found = await find_span(store.engine, location, sent["spanId"], {})
    assert found is not None
    assert (found.name, found.input, found.user_id) == (text, text, text)
    assert found.attributes == {"key'": text, "list": [1, text]}
    assert (await listed(store, user_id=text)).total == 1


@pytest.mark.both_engines
async def test_unparsable_data_is_refused_and_nothing_is_stored(
    store: WorkspaceStore,
) -> None:
    good = store.batch(span())
    bad = Batch(good.rows, spans=[good.spans[0] + b"\x09garbage!!"])
    with pytest.raises(DataRefused):
        store.writer.write(bad)
    assert (await listed(store)).total == 0
    store.writer.write(good)
    assert (await listed(store)).total == 1


@pytest.mark.both_engines
async def test_a_query_over_its_limits_raises_unavailable(
    store: WorkspaceStore,
) -> None:
    def run(select: str, limits: str) -> None:
        with store.engine.client() as client:
            query_rows(client, f"SELECT {select} SETTINGS {limits}", {})

    with pytest.raises(Unavailable):
        run("sum(sleepEachRow(0.1)) FROM numbers(50)", "max_execution_time = 1, max_block_size = 1")
    with pytest.raises(Unavailable):
        run("groupArray(toString(number)) FROM numbers(1000000)", "max_memory_usage = 1000000")


@pytest.mark.both_engines
async def test_a_new_price_reprices_only_spans_of_its_workspace(
    store: WorkspaceStore, writer: TelemetryWriter
) -> None:
    other = WorkspaceStore(store.engine, writer)
    for each in (store, other):
        each.send(llm_call("acme/x", "acme", {"input": 1_000_000}, start=NOW))
    key = PriceKey(store.workspace, "", "acme/x")
    period = PricePeriod(datetime(1970, 1, 1, tzinfo=UTC), Rates(2.0, 2.0, 2.0, 0.0, 0.0))

    def reprice(periods: Sequence[PricePeriod]) -> None:
        with store.engine.client() as client:
            put_prices(client, {key: periods}, next_version())
            assert find_known_prices(client).get(key, []) == list(periods)
            for month in find_months_to_reprice(client, key):
                for hours in split_month(client, key, month):
                    reprice_hours(client, key, hours)

    reprice([period])
    assert [t.cost for t in (await listed(store)).items] == [2.0]
    reprice([])
    assert [t.cost for t in (await listed(store)).items] == [0.0]
    assert [t.cost for t in (await listed(other)).items] == [0.0]


async def test_costs_are_right_whenever_the_engine_merges(
    store: WorkspaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first spans of a model are corrected after pricing: a merge keeps the correction."""

    read, run = TraceAggregation._query, TraceAggregation.run_batch

    def merge_first(self: TraceAggregation, *of: Any) -> Rows:
        self._client.command("OPTIMIZE TABLE spans FINAL")
        return read(self, *of)

    def merge_last(self: TraceAggregation, rows: BatchRows) -> None:
        run(self, rows)
        self._client.command("OPTIMIZE TABLE traces FINAL")

    monkeypatch.setattr(TraceAggregation, "_query", merge_first)
    monkeypatch.setattr(TraceAggregation, "run_batch", merge_last)
    period = PricePeriod(datetime(1970, 1, 1, tzinfo=UTC), Rates(2.0, 2.0, 2.0, 0.0, 0.0))
    writer = TelemetryWriter(store.engine, lambda provider, model: [period])
    batch = store.batch(
        *(
            llm_call(f"{model} of {store.workspace}", "acme", {"input": n}, agentName="helper")
            for model, n in (("small", 1_000_000), ("large", 3_000_000))
        )
    )
    assert [seen.name for seen in writer.write(batch)] == ["helper"]
    assert sorted(t.cost for t in (await listed(store)).items) == [2.0, 6.0]
    # Finishing the batch again gives the same result.
    again = writer.finish(batch.rows)
    assert [seen.name for seen in again] == ["helper"]
    assert sorted(t.cost for t in (await listed(store)).items) == [2.0, 6.0]


async def test_two_writers_on_one_server_give_exact_aggregates(
    server_store: WorkspaceStore,
) -> None:
    """Two writers store spans of the same traces concurrently, like two replicas."""
    store = server_store
    second = TelemetryWriter(store.engine, find_list_prices)
    roots = [span(new_trace_id(), name="root", start=NOW) for _ in range(5)]
    batches = [
        store.batch(*(span(root["traceId"], root["spanId"], start=NOW) for root in roots))
        for _ in range(3)
    ]
    batches.insert(2, store.batch(*roots))
    halves = ((store.writer, batches[::2]), (second, batches[1::2]))

    def write(half: tuple[TelemetryWriter, list[Batch]]) -> None:
        for batch in half[1]:
            half[0].write(batch)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, halves))
    for writer in (store.writer, second):
        writer.reaggregate_settled(0)
    assert [t.span_count for t in (await listed(store)).items] == [4] * 5


@pytest.mark.both_engines
@pytest.mark.parametrize("rounds", [8, pytest.param(200, marks=pytest.mark.long)])
def test_parameters_are_never_mixed_up_between_threads(store: WorkspaceStore, rounds: int) -> None:
    """Many queries by six threads: a parameter in the wrong query would be a leak."""
    sql = "SELECT {text:String} AS text, {number:UInt64} AS number"
    wrong: list[object] = []
    barrier = threading.Barrier(6)

    def query(thread: int) -> None:
        barrier.wait()
        for turn in range(rounds):
            mine = {"text": f"{thread}/{turn} 'x'", "number": thread * 10**9 + turn}
            with store.engine.client() as client:
                (row,) = query_rows(client, sql, mine)
            if row != mine:
                wrong.append((mine, row))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(query, range(6)))
    assert wrong == []


@pytest.mark.parametrize(
    ("table", "words", "rows"),
    [
        (
            "spans",
            WORDS,
            "hour, trace_id, span_id, version, input) SELECT {workspace:String}, now(), "
            "MD5(toString(number)), toFixedString('12345678', 8), 1,",
        ),
        (
            "logs",
            "lowerUTF8(message)",
            "time, id, version, message) SELECT {workspace:String}, now64(9), number, 1,",
        ),
    ],
)
async def test_a_search_uses_the_text_index(
    store: WorkspaceStore, table: str, words: str, rows: str
) -> None:
    insert = f"INSERT INTO {table} (workspace, {rows} concat('word', toString(number)) "
    with store.engine.client() as client:
        mine = {"workspace": store.workspace}
        client.command(f"{insert} FROM numbers(50000)", parameters=mine)
        plan = query_rows(
            client,
            f"SELECT * FROM (EXPLAIN indexes = 1 SELECT count() FROM {table} "
            f"WHERE workspace = {{workspace:String}} AND hasAllTokens({words}, ['word777']))",
            mine,
        )
    lines = [row["explain"].strip() for row in plan]
    (read, whole) = (
        next(line for line in lines[lines.index("Name: words") :] if line.startswith("Granules"))
        .removeprefix("Granules: ")
        .split("/")
    )
    assert int(read) < int(whole)


async def test_a_trace_id_of_wrong_length_breaks_no_query(
    store: WorkspaceStore,
) -> None:
    trace_id = new_trace_id()
    store.send(span(trace_id, agentName="helper"))
    with store.engine.client() as client:
        client.command(
            """INSERT INTO signals (workspace, id, name, time, metadata, trace_id)
            SELECT {workspace:String}, trace_id, 'rating', now64(9), '{}', trace_id
            FROM (SELECT arrayJoin({ids:Array(String)}) AS trace_id)""",
            parameters={"workspace": store.workspace, "ids": [trace_id, trace_id + "ff", "ab"]},
        )
    wanted = RowFilter(conditions=equal(agent="helper"))
    found = await find_signals(store.engine, store.workspace, wanted, PageRequest(), {})
    assert [signal.id for signal in found.items] == [trace_id]
    found = await find_signals(store.engine, store.workspace, RowFilter(), PageRequest(), {})
    assert found.total == 3


async def test_traces_of_several_months_are_deleted_from_all_of_them(
    store: WorkspaceStore,
) -> None:
    start = datetime(2025, 12, 31, 23, 30, tzinfo=UTC)
    roots = [span(new_trace_id(), name="long", start=start) for _ in range(2)]
    late = [
        span(root["traceId"], root["spanId"], start=start + months * timedelta(days=31))
        for root, months in zip(roots, (1, 6), strict=True)
    ]
    store.send(*roots, *late)
    version = next_version()
    gone = [TraceDeletion(store.workspace, root["traceId"], version) for root in roots]
    store.writer.write(Batch(BatchRows(version, version), deletions=gone))
    assert (await listed(store)).total == 0
    left = await store.engine.fetch(
        "SELECT count() AS spans FROM spans WHERE workspace = {workspace:String}",
        {"workspace": store.workspace},
    )
    assert left == [{"spans": 0}]


class RecordingClient:
    """Passes everything to a client and keeps the statements."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.statements: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def command(self, sql: str, **options: Any) -> Any:
        self.statements.append(sql)
        return self._client.command(sql, **options)

    def query(self, sql: str, **options: Any) -> Any:
        self.statements.append(sql)
        return self._client.query(sql, **options)

    def insert(self, table: str, rows: Any, **options: Any) -> Any:
        self.statements.append(f"INSERT INTO {table}")
        return self._client.insert(table, rows, **options)


async def test_every_statement_of_a_batch_is_bound_to_its_workspaces_and_hours(
    store: WorkspaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch is read once, and again only for traces with earlier spans; then it is written."""
    root = span(new_trace_id(), name="run", start=NOW - timedelta(hours=3))
    call = llm_call("gpt-4o", "openai", {"input": 1000}, start=NOW)
    store.send(root, call)
    client = RecordingClient(store.writer._client)
    monkeypatch.setattr(store.writer, "_client", client)
    store.send(call | {"traceId": new_trace_id()})
    assert len(client.statements) == 2
    store.send(call | {"traceId": root["traceId"], "parentSpanId": root["spanId"]}, span())
    assert len(client.statements) == 2 + 3
    for sql in client.statements:
        reads = len(re.findall(r"\b(?:FROM|IN) (?:spans|traces)\b", sql))
        by_batch = sql.count("workspace IN {workspaces:Array(String)}")
        by_key = sql.count("(workspace, hour, trace_id) IN")
        by_key += sql.count("(workspace, toStartOfHour(start), trace_id) IN")
        assert by_batch + by_key >= reads, sql
        assert by_batch == len(re.findall(r"\bIN {hours:Array", sql)), sql


async def test_a_late_span_of_another_hour_changes_the_slice_of_its_root(
    store: WorkspaceStore,
) -> None:
    start = NOW - timedelta(hours=5)
    root = span(new_trace_id(), name="run", agentName="helper", start=start)
    store.send(root)
    changes = store.writer.changes
    count = changes.count if changes else 0
    late = span(root["traceId"], root["spanId"], start=NOW)
    assert [agent.name for agent in store.writer.write(store.batch(late))] == ["helper"]
    assert [trace.span_count for trace in (await listed(store)).items] == [2]
    if changes is not None:
        (changed,) = changes.find_since(count, store.workspace) or set()
        assert changed <= start < changed + timedelta(seconds=10)
