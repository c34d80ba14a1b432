"""Aggregations of random data points are those of a plain computation, on both engines."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from google.protobuf.message import Message
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)

from spanwise.ingest.otlp.prepare_metrics import prepare_metrics
from spanwise.ingest.records.versions import next_version, with_version
from spanwise.model.telemetry.metrics import Aggregation, MetricQuery, MetricQueryResult
from spanwise.model.times import BoundedRange, Granularity
from spanwise.services.telemetry.metrics import Metrics
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.retention.expired_rows import count_expired, remove_expired
from spanwise.storage.telemetry.rows.batch_rows import BatchRows
from spanwise.storage.telemetry.write.writer import Batch, TelemetryWriter
from support.metrics import (
    CUMULATIVE,
    DELTA,
    Point,
    aggregate_numbers,
    group_points,
    interpolate,
    make_request,
    random_points,
    with_increases,
)
from support.otlp import SECOND
from support.store import WorkspaceStore

# Tests of both engines are in one worker, which starts the server once.
pytestmark = pytest.mark.xdist_group("telemetry server")

FIRST = datetime(2026, 3, 2, tzinfo=UTC)
FIRST_NANO = int(FIRST.timestamp()) * SECOND
HOUR = 3600 * SECOND


def send(store: WorkspaceStore, request: Message) -> None:
    assert isinstance(request, ExportMetricsServiceRequest)
    [prepared] = prepare_metrics(request, store.workspace).records
    record = with_version(prepared, next_version())
    rows = BatchRows(record.version, record.version)
    store.writer.insert(Batch(rows, metrics=bytes(record.payload)))


def send_in_parts(
    store: WorkspaceStore, points: Sequence[Point], kind: str, temporality: int, monotonic: bool
) -> None:
    size = max(1, len(points) // 2)
    for at in range(0, len(points), size):
        part = points[at : at + size]
        send(store, make_request("m", part, kind, temporality, is_monotonic=monotonic))


async def ask(
    store: WorkspaceStore,
    aggregation: str,
    first: int,
    last: int,
    *,
    keys: Sequence[str] = (),
    granularity: Granularity | None = None,
) -> MetricQueryResult:
    period = BoundedRange(
        datetime.fromtimestamp(first // SECOND, UTC), datetime.fromtimestamp(last // SECOND, UTC)
    )
    query = MetricQuery(
        "m", Aggregation(aggregation), period, tuple(keys), granularity=granularity, limit=100
    )
    return await Metrics(store.engine).query(store.workspace, query)


def by_group(result: MetricQueryResult) -> dict[tuple[str, ...], float | None]:
    return {tuple(row.group.values()): row.value for row in result.rows}


# `make test-all` tries more.
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))]
NUMBERS = [
    ("sum", DELTA, True),
    ("sum", CUMULATIVE, True),
    ("sum", CUMULATIVE, False),
    ("gauge", 0, False),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kind", "temporality", "monotonic"), NUMBERS)
async def test_numbers_are_aggregated_as_in_plain_python(
    store: WorkspaceStore, kind: str, temporality: int, monotonic: bool, seed: int
) -> None:
    chance = random.Random(f"{kind} {temporality} {monotonic} {seed}")
    points = random_points(
        chance, FIRST_NANO, kind=kind, temporality=temporality, is_monotonic=monotonic
    )
    send_in_parts(store, points, kind, temporality, monotonic)
    first = FIRST_NANO + chance.randrange(60) * HOUR
    last = first + chance.randrange(1, 90) * HOUR
    plain = with_increases(points, temporality or DELTA, is_monotonic=monotonic)
    raw = with_increases(points, DELTA)
    keys = chance.choice([(), ("host",), ("host", "ok"), ("try", "missing")])
    wanted = ["avg", "min", "max", "last", "count", "p50", "p95", "p99"]
    for aggregation in wanted if kind == "gauge" else ["sum", *wanted]:
        used = raw if aggregation == "last" else plain
        groups = group_points(used, keys, first, last)
        expected = {key: aggregate_numbers(found, aggregation) for key, found in groups.items()}
        result = await ask(store, aggregation, first, last, keys=keys)
        assert by_group(result) == pytest.approx(expected, abs=1e-6), aggregation
        assert result.total == len(expected)
        assert not result.is_estimate


@pytest.mark.parametrize("temporality", [DELTA, CUMULATIVE])
@pytest.mark.parametrize("seed", SEEDS)
async def test_histograms_are_aggregated_as_in_plain_python(
    store: WorkspaceStore, temporality: int, seed: int
) -> None:
    chance = random.Random(f"histogram {temporality} {seed}")
    points = random_points(
        chance, FIRST_NANO, kind="histogram", temporality=temporality, is_monotonic=True
    )
    send_in_parts(store, points, "histogram", temporality, True)
    first = FIRST_NANO + chance.randrange(60) * HOUR
    last = max(first, *(point.time for point in points)) + chance.randrange(-9, 9) * HOUR
    first = min(first, last - 24 * HOUR)
    groups = group_points(with_increases(points, temporality), ("host",), first, last)
    counts = {
        key: [sum(column) for column in zip(*(p.counts for p in found), strict=True)]
        for key, found in groups.items()
    }
    bounds = points[0].bounds
    sums = {key: sum(point.sum for point in found) for key, found in groups.items()}
    assert by_group(await ask(store, "sum", first, last, keys=["host"])) == pytest.approx(sums)
    result = await ask(store, "count", first, last, keys=["host"])
    assert by_group(result) == {key: sum(found) for key, found in counts.items()}
    for aggregation, quantile in {"p50": 0.5, "p95": 0.95, "p99": 0.99}.items():
        found = await ask(store, aggregation, first, last, keys=["host"])
        expected = {key: interpolate(bounds, c, quantile) for key, c in counts.items() if sum(c)}
        assert by_group(found) == pytest.approx(expected)
        assert found.is_estimate


async def test_buckets_of_a_series_add_up_to_its_total(store: WorkspaceStore) -> None:
    points = random_points(
        random.Random(7), FIRST_NANO, kind="sum", temporality=CUMULATIVE, is_monotonic=True
    )
    send_in_parts(store, points, "sum", CUMULATIVE, True)
    last = FIRST_NANO + 10 * 24 * HOUR
    found = await ask(store, "sum", FIRST_NANO, last, keys=["host"], granularity=Granularity.DAILY)
    plain = with_increases(points, CUMULATIVE)
    for row in found.rows:
        assert row.points is not None
        assert len(row.points) == 10
        for index, point in enumerate(row.points):
            start = FIRST_NANO + index * 24 * HOUR
            groups = group_points(plain, ("host",), start, start + 24 * HOUR)
            expected = sum(p.value for p in groups[(row.group["host"],)])
            assert point.value == pytest.approx(expected), point.date
        assert row.value == pytest.approx(sum(point.value or 0 for point in row.points))


async def test_a_point_that_is_sent_again_counts_once(store: WorkspaceStore) -> None:
    request = make_request("m", [Point(FIRST_NANO + HOUR, 5)])
    for _ in range(3):
        send(store, request)
    found = await ask(store, "sum", FIRST_NANO, FIRST_NANO + 2 * HOUR)
    assert by_group(found) == {(): 5}


async def test_a_period_continues_what_was_counted_before_it(store: WorkspaceStore) -> None:
    points = [Point(FIRST_NANO + n * HOUR, 10.0 * n, FIRST_NANO) for n in (1, 2, 50)]
    send(store, make_request("m", points, temporality=CUMULATIVE))
    found = await ask(store, "sum", FIRST_NANO + 40 * HOUR, FIRST_NANO + 60 * HOUR)
    assert by_group(found) == {(): 480}


async def test_an_exponential_histogram_that_halves_its_resolution_keeps_its_counts(
    store: WorkspaceStore,
) -> None:
    request = ExportMetricsServiceRequest()
    metric = request.resource_metrics.add().scope_metrics.add().metrics.add(name="m")
    data = metric.exponential_histogram
    data.aggregation_temporality = CUMULATIVE
    for hour, scale, offset, counts in (
        (1, 1, 0, [1, 2, 3, 4]),
        (2, 0, 0, [5, 9, 1]),
    ):
        point = data.data_points.add(
            time_unix_nano=FIRST_NANO + hour * HOUR,
            start_time_unix_nano=FIRST_NANO,
            count=sum(counts) + 1,
            sum=10.0 * hour,
            scale=scale,
            zero_count=1,
        )
        point.positive.offset = offset
        point.positive.bucket_counts.extend(counts)
    send(store, request)
    first, last = FIRST_NANO + HOUR + SECOND, FIRST_NANO + 3 * HOUR
    # Of the new values, two lie between 1 and 2, two between 2 and 4, one between 4 and 8.
    assert by_group(await ask(store, "count", first, last)) == {(): 5}
    assert by_group(await ask(store, "p50", first, last)) == pytest.approx({(): 2.5})
    assert by_group(await ask(store, "min", first, last)) == {(): 1}
    assert by_group(await ask(store, "max", first, last)) == {(): 8}
    assert (await ask(store, "max", first, last)).is_estimate


async def test_expired_points_are_removed_with_those_of_their_workspace_only(
    store: WorkspaceStore, engine: Engine, writer: TelemetryWriter
) -> None:
    other = WorkspaceStore(engine, writer)
    for each in (store, other):
        send(each, make_request("m", [Point(FIRST_NANO + n * 48 * HOUR, 1) for n in (1, 2)]))
    limit = FIRST + timedelta(days=3)
    expired = count_expired(writer._client, limit, store.workspace)
    assert expired["metrics"] == 1
    remove_expired(writer._client, limit, store.workspace)
    last = FIRST_NANO + 300 * HOUR
    assert by_group(await ask(store, "count", FIRST_NANO, last)) == {(): 1}
    assert by_group(await ask(other, "count", FIRST_NANO, last)) == {(): 2}


async def test_a_rate_is_per_second_of_the_period(store: WorkspaceStore) -> None:
    send(store, make_request("m", [Point(FIRST_NANO + HOUR // 2, 7200)]))
    found = await ask(
        store, "rate", FIRST_NANO, FIRST_NANO + 2 * HOUR, granularity=Granularity.HOURLY
    )
    [row] = found.rows
    assert row.value == 1
    assert [point.value for point in row.points or []] == [2, 0]


@pytest.mark.both_engines
async def test_groups_beyond_the_limit_are_counted(store: WorkspaceStore) -> None:
    points = [Point(FIRST_NANO + HOUR, n, attributes={"n": n}) for n in range(1, 6)]
    send(store, make_request("m", points))
    period = BoundedRange(FIRST, FIRST + timedelta(days=1))
    query = MetricQuery("m", Aggregation.SUM, period, ("n",), limit=2)
    found = await Metrics(store.engine).query(store.workspace, query)
    assert [row.group for row in found.rows] == [{"n": "5"}, {"n": "4"}]
    assert (found.total, found.truncated) == (5, True)
