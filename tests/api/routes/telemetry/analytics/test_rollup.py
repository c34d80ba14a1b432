"""The rollup: responses equal those computed from traces, whichever part is up to date."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from spanwise.model.analytics import Question
from spanwise.model.telemetry.filters import TraceFilter, equal
from spanwise.model.times import TimeRange
from spanwise.storage.telemetry.rollup import queries
from spanwise.storage.telemetry.rollup.maintenance.runs import merge_quiet_month
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.rollup.source import Source
from spanwise.storage.telemetry.rollup.watermarks import to_engine_milliseconds
from spanwise.wiring import services as wiring
from support.service import Person, Service, start_service
from support.spans import child_of, new_span, send

DAY = datetime(2026, 3, 10, 12, tzinfo=UTC)
RANGE = {"startDate": "2026-03-08T06:30:00Z", "endDate": "2026-03-12T18:45:00Z"}


@asynccontextmanager
async def service_with(folders: pytest.TempPathFactory, **options: Any) -> AsyncIterator[Service]:
    """Start a service with these options of its rollup, which only tests update."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "start_rollup", lambda *_: None)
        patch.setattr(wiring, "Rollup", partial(Rollup, **options))
        async with start_service(folders.mktemp("service")) as running:
            patch.undo()
            yield running


@pytest.fixture(scope="module")
async def service(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None
) -> AsyncIterator[Service]:
    """A service whose rollup also aggregates hours with recent writes."""
    async with service_with(tmp_path_factory, quiet_seconds=0) as running:
        yield running


@pytest.fixture(scope="module")
async def slicing(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None
) -> AsyncIterator[Service]:
    """A service whose rollup keeps slices of any number of traces, of any time."""
    options = {"quiet_seconds": 0, "min_slice_traces": 1, "slice_lookback": timedelta(days=9000)}
    async with service_with(tmp_path_factory, **options) as running:
        # An earlier test may have left slices of the latest hours only.
        await running.services.telemetry.rollup.maintenance.rebuild()
        yield running


@pytest.fixture
async def ada(service: Service) -> Person:
    return await service.sign_up()


@pytest.fixture
async def bob(slicing: Service) -> Person:
    return await slicing.sign_up()


@pytest.fixture
def rollup(service: Service) -> Rollup:
    return service.services.telemetry.rollup


async def update(service: Service) -> int:
    """Update the rollup once everything that was sent is visible."""
    await service.services.ingest.pipeline.wait_until_visible()
    return await service.services.telemetry.rollup.maintenance.update()


async def get(person: Person, path: str, **parameters: Any) -> Any:
    return await person.data("GET", f"/analytics{path}", params={**RANGE, **parameters})


async def workspace_of(service: Service, person: Person) -> str:
    return (await service.services.identity.access.by_token(person.token)).workspace_id


def make_question(**filters: str) -> Question:
    period = TimeRange.parse(RANGE["startDate"], RANGE["endDate"])
    return Question(period.or_last_days(30, DAY), TraceFilter(period, equal(**filters)))


async def source_of(service: Service, person: Person, **filters: str) -> Source:
    """Return the source that is chosen for the range."""
    workspace = await workspace_of(service, person)
    return await service.services.telemetry.rollup.choose_source(
        workspace, make_question(**filters)
    )


async def test_metrics_are_the_same_after_an_update(service: Service, ada: Person) -> None:
    spans = []
    for hours in range(-80, 80, 7):
        root = new_span(DAY + timedelta(hours=hours), 100 + abs(hours), agentName="planner")
        spans += [root, child_of(root, kind="llm", model="m", inputTokens=hours + 100)]
    await send(ada, *spans)
    before = await get(ada, "/metrics"), await get(ada, "/traces/requests-over-time")
    assert await update(service) > 0
    after = await get(ada, "/metrics"), await get(ada, "/traces/requests-over-time")
    assert after[1] == before[1]
    assert after[0].pop("p95Latency") == pytest.approx(before[0].pop("p95Latency"), rel=0.005)
    assert after[0] == pytest.approx(before[0])


async def test_filter_values_are_the_same_before_and_after_an_update(
    service: Service, ada: Person
) -> None:
    failed = new_span(DAY, agentName="gone", status="error", errorType="timeout")
    spans = [failed]
    for number, agent in enumerate(("planner", "critic", "planner")):
        root = new_span(DAY - timedelta(days=40 * number), agentName=agent, environment="live")
        call = child_of(root, kind="llm", model=f"m{number}", provider="p", toolName="search")
        spans += [root, call]
    await send(ada, *spans)
    before = await ada.data("GET", "/spans/filters")
    assert await update(service) > 0
    assert await ada.data("GET", "/spans/filters") == before
    assert before["models"] == ["m0", "m1", "m2"]
    assert before["errorTypes"] == ["timeout"]
    assert before["statuses"] == ["error", "success"]
    await ada.data("DELETE", f"/spans/traces/{failed['traceId']}")
    for is_updated in (False, True):
        if is_updated:
            await update(service)
        after = await ada.data("GET", "/spans/filters")
        assert [agent["name"] for agent in after["agents"]] == ["critic", "planner"]
        assert after["errorTypes"] == []
        assert after["statuses"] == ["success"]


@pytest.fixture(scope="module")
async def carol(service: Service) -> Person:
    """A person with traces of which all whole hours are in the rollup."""
    person = await service.sign_up()
    await send(person, new_span(DAY, sessionId="s", agentName="planner", environment="test"))
    await update(service)
    return person


async def test_clean_hours_are_not_read_from_the_traces(service: Service, carol: Person) -> None:
    source = await source_of(service, carol)
    assert source.rollup is not None
    # Only the two partial hours of the range.
    hours = ["2026-03-08 06:00:00", "2026-03-12 18:00:00"]
    assert source.parameters["trace_hours"] == hours


async def test_filters_that_the_rollup_lacks_are_read_from_the_traces(
    service: Service, carol: Person
) -> None:
    assert not (await source_of(service, carol, agent="planner")).is_traces_only
    assert not (await source_of(service, carol, environment="test")).is_traces_only
    assert (await source_of(service, carol, session_id="s")).is_traces_only
    assert (await source_of(service, carol, model="m")).is_traces_only


async def test_a_dirty_hour_is_read_from_the_traces(service: Service, ada: Person) -> None:
    await send(ada, new_span(DAY), new_span(DAY - timedelta(hours=5)))
    await update(service)
    await send(ada, new_span(DAY))
    assert (await get(ada, "/metrics"))["totalTraces"] == 3
    source = await source_of(service, ada)
    assert "2026-03-10 12:00:00" in source.parameters["trace_hours"]
    assert source.parameters["excluded_days"] == ["2026-03-10 00:00:00"]
    assert "2026-03-10 07:00:00" in source.parameters["hours"]


async def test_a_deleted_trace_does_not_count_before_or_after_an_update(
    service: Service, ada: Person
) -> None:
    gone, stays = new_span(DAY, agentName="gone"), new_span(DAY, agentName="stays")
    await send(ada, gone, stays)
    await update(service)
    await ada.data("DELETE", f"/spans/traces/{gone['traceId']}")
    for is_updated in (False, True):
        if is_updated:
            await update(service)
        assert (await get(ada, "/traces/requests-over-time"))[2]["byAgent"] == {"stays": 1}
        assert (await get(ada, "/metrics"))["activeAgents"] == 1


async def test_monthly_rollups_follow_changes(service: Service, ada: Person) -> None:
    year = {"startDate": "2025-09-15", "endDate": "2026-03-20", "granularity": "monthly"}
    roots = [new_span(DAY - timedelta(days=5 * n), 100, agentName="planner") for n in range(30)]
    await send(ada, *roots)
    counts = [point["total"] for point in await get(ada, "/traces/requests-over-time", **year)]
    assert sum(counts) == 30
    await update(service)
    points = await get(ada, "/traces/requests-over-time", **year)
    assert [point["total"] for point in points] == counts
    await send(ada, new_span(datetime(2025, 12, 24, 12, tzinfo=UTC), 100))
    counts[3] += 1
    await ada.data("DELETE", f"/spans/traces/{roots[2]['traceId']}")
    counts[-2] -= 1
    for is_updated in (False, True):
        if is_updated:
            await update(service)
        points = await get(ada, "/traces/requests-over-time", **year)
        assert [point["total"] for point in points] == counts
        assert (await get(ada, "/metrics", **year))["totalTraces"] == sum(counts)
    stored = """SELECT sum(traces) AS traces FROM trace_rollup FINAL
        WHERE step = 'month' AND workspace = {workspace:String}"""
    workspace = await workspace_of(service, ada)
    (row,) = await service.services.engine.fetch(stored, {"workspace": workspace})
    assert row["traces"] == sum(counts)


async def test_traces_are_counted_by_status_from_the_rollup_which_can_be_rebuilt(
    service: Service, ada: Person, rollup: Rollup
) -> None:
    failed: dict[str, Any] = {"status": "error", "errorType": "timeout"}
    roots = [new_span(DAY + timedelta(days=n), agentName="planner", **failed) for n in range(3)]
    roots += [new_span(DAY, agentName="planner"), new_span(DAY, agentName="critic")]
    await send(ada, *roots)

    async def count(**filters: Any) -> int:
        response = await ada.call("GET", "/spans/traces", params={"limit": 1, **filters})
        total: int = response.json()["pagination"]["total"]
        return total

    for is_updated in (False, True):
        if is_updated:
            await update(service)
        assert await count(status="error") == 3
        assert await count(status="success") == 2
        assert await count(status="success", agentId="planner") == 1
        assert await count(status="error", errorType="timeout") == 3
        assert await count(filters='[{"field": "status", "op": "ne", "value": "error"}]') == 2
    # Only a count from the rollup can miss them.
    await service.services.engine.run(lambda client: client.command("TRUNCATE TABLE trace_rollup"))
    rollup.clear_cache()
    assert await count(status="error") == 0
    assert await count(status="error", errorType="timeout") == 3
    # A rebuild recomputes what was lost.
    assert await rollup.maintenance.rebuild() >= 3
    assert await count(status="error") == 3


async def test_a_busy_hour_is_not_aggregated_yet(service: Service, ada: Person) -> None:
    await send(ada, new_span(DAY))
    await service.services.ingest.pipeline.wait_until_visible()
    patient = Rollup(service.services.engine, quiet_seconds=600)
    assert await patient.maintenance.update() == 0
    assert (await get(ada, "/metrics"))["totalTraces"] == 1


async def test_clean_aggregates_are_cached_until_they_change(
    service: Service, ada: Person, rollup: Rollup
) -> None:
    async def count() -> int:
        return int((await get(ada, "/metrics"))["totalTraces"])

    await send(ada, new_span(DAY), new_span(DAY + timedelta(days=1)))
    await update(service)
    assert await count() == 2
    # From here on only the cache has the values.
    await service.services.engine.run(lambda client: client.command("TRUNCATE TABLE trace_rollup"))
    assert await count() == 2
    # The day of the change is read from the traces, and an update replaces its cached aggregates.
    await send(ada, new_span(DAY + timedelta(minutes=1)))
    await rollup.maintenance.rebuild()
    assert await count() == 3
    await send(ada, new_span(DAY + timedelta(minutes=2)))
    assert await count() == 4
    await update(service)
    assert await count() == 4


async def test_a_moved_and_deleted_trace_counts_in_neither_hour(
    service: Service, ada: Person
) -> None:
    late = new_span(DAY)
    await send(ada, late, new_span(DAY))
    await update(service)
    # The earlier root arrives later, and is deleted before an update sees it.
    await send(ada, new_span(DAY - timedelta(hours=1), traceId=late["traceId"]))
    await ada.data("DELETE", f"/spans/traces/{late['traceId']}")
    await update(service)
    assert (await get(ada, "/metrics"))["totalTraces"] == 1


async def test_an_interrupted_update_loses_nothing(service: Service, ada: Person) -> None:
    await send(ada, new_span(DAY))
    await service.services.ingest.pipeline.wait_until_visible()
    interrupted = Rollup(service.services.engine, quiet_seconds=0)
    interrupted.maintenance.interrupt()
    await interrupted.maintenance.update_and_merge()
    assert (await get(ada, "/metrics"))["totalTraces"] == 1
    assert await update(service) > 0
    assert (await get(ada, "/metrics"))["totalTraces"] == 1


async def test_a_trace_of_the_last_second_of_a_day_is_aggregated(
    service: Service, ada: Person, rollup: Rollup
) -> None:
    # Alone in its part, which the engine would skip if the day ended at a whole second.
    await send(ada, new_span(datetime(2026, 3, 9, 23, 59, 59, 500_000, tzinfo=UTC)))
    await update(service)
    assert (await get(ada, "/metrics"))["totalTraces"] == 1


async def test_slices_are_not_created_for_few_traces(
    service: Service, ada: Person, rollup: Rollup
) -> None:
    await update(service)
    await send(ada, new_span(datetime.now(UTC)))
    await service.services.ingest.pipeline.wait_until_visible()
    assert await rollup.maintenance.update_slices() == 0


async def test_traces_that_become_visible_after_an_update_are_not_lost(
    service: Service, ada: Person
) -> None:
    """The engine sets `written_at` when it starts to insert a row."""
    await send(ada, new_span(DAY, agentName="planner"))
    await service.services.ingest.pipeline.wait_until_visible()
    started = datetime.now(UTC)
    eager = Rollup(service.services.engine, 0, lambda: started - timedelta(milliseconds=1))
    assert await eager.maintenance.update() > 0
    _insert_copy(service, written_at=started)
    # As after a restart, when recent changes are no longer known.
    restarted = Rollup(service.services.engine)
    workspace = await workspace_of(service, ada)
    totals = await restarted.answer(workspace, make_question(), queries.TOTALS)
    assert totals.traces == 2


def _insert_copy(service: Service, written_at: datetime) -> None:
    """Insert a copy of the latest trace, as of a statement that started at that time."""
    with service.services.engine.client() as client:
        client.command(
            """INSERT INTO traces (workspace, start, trace_id, version, agent_name, written_at)
            SELECT workspace, start, MD5(trace_id), version, agent_name, {at:DateTime64(3, 'UTC')}
            FROM traces ORDER BY version DESC LIMIT 1""",
            parameters={"at": to_engine_milliseconds(written_at)},
            settings={"insert_allow_materialized_columns": 1},
        )


async def test_a_quiet_month_becomes_one_part(service: Service, ada: Person) -> None:
    start = datetime(2019, 7, 3, tzinfo=UTC)
    for day in range(3):
        await send(ada, new_span(start + timedelta(days=day)))
        # In several batches, because one batch is one part.
        await service.services.ingest.pipeline.wait_until_visible()
    engine = service.services.engine
    parts = """SELECT count() AS parts FROM system.parts
        WHERE active AND table = 'traces' AND partition_id = '201907'"""
    assert (await engine.fetch(parts, {}))[0]["parts"] > 1
    assert await engine.run(lambda client: merge_quiet_month(client, 3600)) is None
    for _ in range(500):
        if await engine.run(lambda client: merge_quiet_month(client, -1)) is None:
            break
    assert (await engine.fetch(parts, {}))[0]["parts"] == 1
    everything = {"startDate": "2019-07-01", "endDate": "2019-07-31"}
    metrics = await ada.data("GET", "/analytics/metrics", params=everything)
    assert metrics["totalTraces"] == 3


async def update_slices(service: Service) -> int:
    await service.services.ingest.pipeline.wait_until_visible()
    return await service.services.telemetry.rollup.maintenance.update_slices()


async def test_an_hour_with_recent_writes_is_read_from_slices(
    slicing: Service, bob: Person
) -> None:
    moments = [DAY + timedelta(seconds=seconds) for seconds in range(0, 100, 7)]
    await send(bob, *(new_span(moment, 100, agentName="planner") for moment in moments))
    before = await get(bob, "/metrics"), await get(bob, "/traces/requests-over-time")
    assert await update_slices(slicing) >= 15
    source = await source_of(slicing, bob)
    assert source.slices is not None
    bound = source.parameters
    sliced = [(bound[f"first_slices_{n}"], bound[f"end_slices_{n}"]) for n in range(2)]
    assert any(first <= "2026-03-10 12:00:00" < end for first, end in sliced)
    # Nothing has changed since, and the range consists of whole slices.
    assert "first_range_0" not in source.parameters
    after = await get(bob, "/metrics"), await get(bob, "/traces/requests-over-time")
    assert after[1] == before[1]
    assert after[0].pop("p95Latency") == pytest.approx(before[0].pop("p95Latency"), rel=0.005)
    assert after[0] == pytest.approx(before[0])


async def test_a_dirty_slice_is_read_from_the_traces(slicing: Service, bob: Person) -> None:
    gone, stays = new_span(DAY, agentName="gone"), new_span(DAY, agentName="stays")
    await send(bob, gone, stays)
    await update_slices(slicing)
    await send(bob, new_span(DAY, agentName="late"))
    await bob.data("DELETE", f"/spans/traces/{gone['traceId']}")
    for _ in range(2):
        points = await get(bob, "/traces/requests-over-time")
        assert points[2]["byAgent"] == {"stays": 1, "late": 1}
        await update_slices(slicing)


async def test_a_range_that_cuts_a_slice_is_exact(slicing: Service, bob: Person) -> None:
    await send(bob, *(new_span(DAY + timedelta(seconds=second), 100) for second in range(60)))
    await update_slices(slicing)
    for first, end in ((0, 60), (3, 57), (10, 20), (11, 19), (10, 15), (13, 20), (0, 31)):
        period = {
            "startDate": f"{DAY + timedelta(seconds=first):%Y-%m-%dT%H:%M:%SZ}",
            "endDate": f"{DAY + timedelta(seconds=end):%Y-%m-%dT%H:%M:%SZ}",
        }
        for granularity in ("hourly", "daily"):
            answer = await get(bob, "/traces/success-failure", **period, granularity=granularity)
            assert answer["total"] == end - first


async def test_traces_written_while_slices_are_updated_are_not_lost(
    slicing: Service, bob: Person
) -> None:
    """A row may follow in the millisecond up to which the writer reports everything visible."""
    today = {"startDate": "2026-01-01", "endDate": "2099-01-01", "granularity": "monthly"}
    sent = 0
    for _ in range(5):
        for _ in range(3):
            await send(bob, new_span(datetime.now(UTC) - timedelta(seconds=1)))
            sent += 1
        await slicing.services.telemetry.rollup.maintenance.update_slices()
        assert (await get(bob, "/metrics", **today))["totalTraces"] == sent


@pytest.mark.long
async def test_spans_of_many_months_are_stored_and_aggregated(
    slicing: Service, bob: Person
) -> None:
    # More than the hundred partitions to which the engine inserts at once by default.
    months = 110
    first = datetime(2003, 1, 31, 12, tzinfo=UTC)
    spans = [new_span(first + timedelta(days=31 * n)) for n in range(months)]
    # As many months as one request may hold; requests at the same time are one batch.
    await asyncio.gather(*(send(bob, *spans[n : n + 13]) for n in range(0, months, 13)))
    years = {"startDate": "2003-01-01", "endDate": "2017-01-01", "granularity": "monthly"}
    assert (await get(bob, "/metrics", **years))["totalTraces"] == months
    assert await update_slices(slicing) >= months
    assert await update(slicing) >= months
    assert (await get(bob, "/metrics", **years))["totalTraces"] == months


# Last, because it drops the slices of the tests above.
async def test_slices_are_dropped_when_hours_are_read_instead(
    service: Service, slicing: Service, bob: Person
) -> None:
    await send(bob, new_span(DAY))
    await update_slices(slicing)
    # Not today, when traces of other tests start.
    days = """SELECT uniqExact(toDate(moment)) AS days FROM trace_slices
        WHERE moment < '2026-06-01'"""
    engine = service.services.engine
    assert (await engine.fetch(days, {}))[0]["days"] > 0
    assert await update(service) > 0
    assert (await engine.fetch(days, {}))[0]["days"] == 0
    workspace = await workspace_of(slicing, bob)
    totals = await service.services.telemetry.rollup.answer(
        workspace, make_question(), queries.TOTALS
    )
    assert totals.traces == 1
