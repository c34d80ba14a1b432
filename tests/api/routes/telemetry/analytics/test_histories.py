"""Random histories with late, resent, changed, deleted and repriced spans: reads of traces and of
the rollup match a computation in plain Python, whichever part has been aggregated."""

import asyncio
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from spanwise.jobs.retention import Retention
from spanwise.model.analytics import ExportFormat, Question
from spanwise.model.page import PageRequest
from spanwise.model.telemetry.filters import Order, TraceSort
from spanwise.model.times import Granularity
from spanwise.services.telemetry.analytics import Analytics
from spanwise.services.telemetry.traces import Traces
from spanwise.storage.telemetry.rollup.rollup import Rollup
from support.histories import (
    Answer,
    History,
    OracleTrace,
    Step,
    all_time,
    answers,
    label,
    make_history,
    p95,
    percentiles,
    random_limit,
)
from support.polling import until
from support.service import Person, Service, start_service
from support.slices import TracesOnly, slice_everything

FIRST_SEED = int(os.environ.get("SPANWISE_TEST_SEED", "0"))
# Histories at a time, in `make test` and in `make test-all`.
FEW, HISTORIES = 2, 8
# A history of months has too many minutes for one series.
COARSE = [granularity for granularity in Granularity if not granularity.is_below_hour]
# The further seeds of the long version, for `make test-all`.
MANY = pytest.mark.long, pytest.mark.timeout(1200)
SEEDS = [
    (FIRST_SEED, FEW),
    *(pytest.param(FIRST_SEED + n, HISTORIES, marks=MANY) for n in range(0, 320, HISTORIES)),
]
SEEDS_OF_RETENTION = [
    (FIRST_SEED, 1),
    *(pytest.param(FIRST_SEED + n, 2, marks=MANY) for n in range(40)),
]


@pytest.mark.parametrize(("first", "count"), SEEDS)
async def test_every_response_matches_plain_python(
    service: Service, first: int, count: int
) -> None:
    seeds = range(first, first + count)
    people = {seed: await service.sign_up() for seed in seeds}
    histories = {seed: make_history(seed) for seed in seeds}
    rollup = await slice_everything(service, service.services.telemetry.prices._price_sync._writer)
    dice = random.Random(first)
    for number in range(4):
        steps = {seed: histories[seed].steps[number] for seed in seeds}
        await asyncio.gather(*(_take(service, people[seed], steps[seed]) for seed in seeds))
        if dice.random() < 0.7:
            await service.services.ingest.pipeline.wait_until_visible()
            await rollup.maintenance.update()
        if dice.random() < 0.5:
            await service.services.ingest.pipeline.wait_until_visible()
            await rollup.maintenance.update_slices()
        if dice.random() < 0.5:
            # Dirty ranges are cached from here on.
            for seed in seeds:
                workspace = await _workspace(service, people[seed])
                await rollup.choose_source(workspace, histories[seed].question)
    for seed in seeds:
        for way in (TracesOnly(service.services.engine), rollup):
            await _check(service, people[seed], histories[seed], way, seed)
    # Now from slices that have just been updated.
    await service.services.ingest.pipeline.wait_until_visible()
    await rollup.maintenance.update_slices()
    for seed in seeds:
        await _check(service, people[seed], histories[seed], rollup, seed)


@pytest.mark.parametrize(("seed", "count"), SEEDS_OF_RETENTION)
async def test_granularities_lists_and_exports_agree_after_retention(
    tmp_path: Path, seed: int, count: int
) -> None:
    dice = random.Random(seed)
    histories = [make_history(100 * seed + number) for number in range(count)]
    emails: list[str] = []
    for numbers in ((0, 1), (2, 3), ()):
        # Each round starts on the data of the one before.
        async with start_service(tmp_path) as service:
            if not emails:
                emails += [(await service.sign_up()).email for _ in histories]
            people = [await service.log_in(email) for email in emails]
            writer = service.services.telemetry.prices._price_sync._writer
            rollup = Rollup(service.services.engine, 0, writer.visible_until, writer.changes)
            for number in numbers:
                limit = random_limit(dice)
                for person, history in zip(people, histories, strict=True):
                    history.steps[number].removed_before = limit
                    await _take(service, person, history.steps[number])
                await service.services.ingest.pipeline.wait_until_visible()
                if dice.random() < 0.8:
                    await rollup.maintenance.update()
                # Results cached now must not be returned later.
                for person in people:
                    await _count(service, person, rollup)
                await _removing(service, rollup).remove_before(limit)
                done = range(number + 1)
                for person, history in zip(people, histories, strict=True):
                    left = History([history.steps[n] for n in done], history.question).traces()
                    assert await _count(service, person, rollup) == _counts(left), (seed, number)
            for _ in range(0 if numbers else 2):
                await rollup.maintenance.rebuild()
                await _removing(service, rollup).remove_before(limit)
                for person, history in zip(people, histories, strict=True):
                    assert await _count(service, person, rollup) == _counts(history.traces()), seed


def _removing(service: Service, rollup: Rollup) -> Retention:
    use = service.services
    return Retention(use.engine, use.telemetry.prices._price_sync._writer, rollup, use.catalog, 0)


async def _count(service: Service, person: Person, rollup: Rollup) -> Answer:
    """Count traces and costs over time, from every endpoint that returns them."""
    await service.services.ingest.pipeline.wait_until_visible()
    workspace, use = await _workspace(service, person), service.services
    analytics = Analytics(use.engine, rollup, use.telemetry.analytics._agents, use.catalog)
    traces = Traces(use.engine, use.ingest.pipeline, use.telemetry.analytics._agents, rollup)
    question = all_time(Granularity.MONTHLY)
    page, newest_first = PageRequest(100), (TraceSort.START_TIME, Order.DESC)
    listing = await traces.find(workspace, question.filters, page, *newest_first)
    export = await analytics.export(workspace, question.filters, ExportFormat.JSONL)
    rows = [orjson.loads(line) async for piece in export for line in piece.splitlines()]
    metrics = await analytics.metrics(workspace, question, compare=False)
    series = {
        str(granularity): {
            point.date: point.total
            for point in await analytics.requests(workspace, all_time(granularity))
            if point.total
        }
        for granularity in COARSE
    }
    cost = round(metrics.estimated_cost, 6)
    return {
        **series,
        "metrics": (metrics.total_traces, cost),
        "list": (listing.total, [trace.trace_id for trace in listing.items]),
        "export": [row["traceId"] for row in rows],
    }


def _counts(traces: list[OracleTrace]) -> Answer:
    newest_first = sorted(traces, key=lambda t: (t.start, t.trace_id), reverse=True)
    ids = [trace.trace_id for trace in newest_first]
    cost = round(sum(trace.cost for trace in traces), 6)
    return {
        **{str(g): dict(Counter(label(t.start, g) for t in traces)) for g in COARSE},
        "metrics": (len(traces), cost),
        "list": (len(traces), ids),
        "export": ids,
    }


async def _take(service: Service, person: Person, step: Step) -> None:
    sender = (await service.services.identity.access.by_token(person.token)).sender
    if step.spans:
        # Split into one to three requests.
        cut = max(1, len(step.spans) // 3)
        for place in range(0, len(step.spans), cut):
            body = orjson.dumps({"spans": step.spans[place : place + cut]})
            await service.services.ingest.receiver.receive_spans(sender, body)
    for model, (inward, outward) in step.prices.items():
        price = {"model": model, "inputPerMillion": inward, "outputPerMillion": outward}
        await person.data("PUT", "/models/prices", json=price)
        await until(lambda: _is_repriced(person), 60)
    for trace_id in step.deleted:
        # Missing if it was not sent yet, or was removed by retention.
        deleted = await person.call("DELETE", f"/spans/traces/{trace_id}")
        assert deleted.is_success or deleted.status_code == 404, deleted.text


async def _is_repriced(person: Person) -> bool:
    return all(t["state"] == "done" for t in await person.data("GET", "/models/repricing"))


async def _workspace(service: Service, person: Person) -> str:
    return (await service.services.identity.access.by_token(person.token)).workspace_id


async def _check(
    service: Service,
    person: Person,
    history: History,
    way: Rollup,
    seed: int,
) -> None:
    workspace = await _workspace(service, person)
    use = service.services
    await use.ingest.pipeline.wait_until_visible()
    traces = history.traces()
    analytics = Analytics(use.engine, way, use.telemetry.analytics._agents, use.catalog)
    tolerance = 1e-9 if isinstance(way, TracesOnly) else 0.005
    question = history.question
    where = f"seed {seed}, {type(way).__name__}, {question}"
    found = await _query(analytics, workspace, question)
    latency = found["metrics"].pop("p95Latency")
    assert latency == pytest.approx(p95(traces, question), rel=tolerance), where
    for name, expected in answers(traces, question).items():
        assert _same(found[name], expected), (where, name, found[name], expected)
    await _check_percentiles(analytics, workspace, question, traces, tolerance)


async def _check_percentiles(
    analytics: Analytics,
    workspace: str,
    question: Question,
    traces: list[OracleTrace],
    tolerance: float,
) -> None:
    found = await analytics.percentiles(workspace, question)
    for point, expected in zip(found, percentiles(traces, question), strict=True):
        assert _same(point.model_dump(by_alias=True), expected, tolerance), (point, expected)


async def _query(analytics: Analytics, workspace: str, question: Question) -> Answer:
    metrics = await analytics.metrics(workspace, question, compare=False)
    outcomes = await analytics.outcomes(workspace, question)
    errors = await analytics.errors(workspace, question)
    return {
        "metrics": metrics.model_dump(by_alias=True, exclude={"previous"}),
        "outcomes": outcomes.model_dump(by_alias=True, exclude={"success_rate", "failure_rate"}),
        "requests": _plain(await analytics.requests(workspace, question)),
        "latencies": [bucket.count for bucket in await analytics.latencies(workspace, question)],
        "tokens": _plain(await analytics.tokens(workspace, question)),
        "costs": (await analytics.costs(workspace, question)).model_dump(by_alias=True),
        "errors": {error.type: error.count for error in errors.errors},
        "error_rate": _plain(await analytics.error_rate(workspace, question)),
        "tools": (await analytics.tools(workspace, question)).heatmap,
    }


def _plain(points: list[Any]) -> list[Answer]:
    return [point.model_dump(by_alias=True) for point in points]


def _same(found: Any, expected: Any, tolerance: float = 1e-9) -> bool:
    """Compare values; floats may differ by rounding."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            _same(found[key], expected[key], tolerance) for key in expected
        )
    if isinstance(expected, list):
        pairs = zip(found, expected, strict=False)
        return len(found) == len(expected) and all(_same(*pair, tolerance) for pair in pairs)
    if isinstance(expected, float):
        return bool(found == pytest.approx(expected, rel=tolerance, abs=1e-9))
    return bool(found == expected)
