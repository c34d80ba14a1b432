"""Signal summaries."""

from datetime import UTC, datetime, timedelta
from statistics import fmean, pstdev
from typing import Any

import pytest

from support.service import Person, Service, assert_error

NOW = datetime.now(UTC)
RATINGS = [4.0, -1.5, 2.0, 10.0, 2.0]
# Values by time. In 2025 there are two names only.
VALUES: dict[str, dict[str, float]] = {
    "rating": {f"2025-03-1{n}T12:00:00Z": value for n, value in enumerate(RATINGS)},
    "other": {"2025-03-10T00:00:00Z": 7},
    "hourly": {"2026-03-10T01:30:00Z": 2, "2026-03-10T01:40:00Z": 4},
    "month": {f"2026-03-{day:02}T23:59:59Z": float(day) for day in range(1, 32)},
    "edges": {"1970-01-01T00:00:00Z": 1, "2199-12-31T23:59:59Z": 3},
    "recent": {
        (NOW - timedelta(days=29, hours=23)).isoformat(): 1,
        (NOW - timedelta(days=30, hours=1)).isoformat(): 5,
    },
    "large": {"2026-03-10T01:00:00Z": 1e15, "2026-03-10T02:00:00Z": 1e15},
    **{f"n{n}": {"2026-03-10T12:00:00Z": 1} for n in range(21)},
}


@pytest.fixture(scope="module")
async def ann(shared_service: Service) -> Person:
    person = await shared_service.sign_up()
    batch = [
        {"signalName": name, "value": value, "timestamp": at}
        for name, values in VALUES.items()
        for at, value in values.items()
    ]
    await person.data("POST", "/signals/batch", json=batch)
    return person


async def _summary(person: Person, name: str | None = None, **filters: Any) -> list[dict[str, Any]]:
    params = {**filters, **({} if name is None else {"signalName": name})}
    found: list[dict[str, Any]] = await person.data("GET", "/signals/summary", params=params)
    return found


async def test_signals_are_summarized_per_name(ann: Person) -> None:
    other, rating = await _summary(ann, startDate="2025-03-10", endDate="2025-03-14")
    trend = rating.pop("trend")
    assert rating == {
        "signalName": "rating",
        "count": 5,
        "avg": pytest.approx(fmean(RATINGS)),
        "min": -1.5,
        "max": 10,
        "sum": pytest.approx(16.5),
        "stddev": pytest.approx(pstdev(RATINGS)),
        "p50": 2,
        "p95": pytest.approx(8.8),
        "lastValue": 2,
        "lastAt": "2025-03-14T12:00:00Z",
    }
    assert [(t["date"], t["count"], t["avg"]) for t in trend] == [
        (f"2025-03-1{n}", 1, RATINGS[n]) for n in range(5)
    ]
    assert (other["signalName"], other["count"], other["stddev"]) == ("other", 1, 0)


async def test_empty_buckets_are_included_without_an_average(ann: Person) -> None:
    period = {"startDate": "2026-03-10T00:30:00Z", "endDate": "2026-03-10T03:00:00Z"}
    [summary] = await _summary(ann, "hourly", granularity="hourly", **period)
    assert summary["trend"] == [
        {"date": "2026-03-10T00:00:00Z", "count": 0, "avg": None},
        {"date": "2026-03-10T01:00:00Z", "count": 2, "avg": 3},
        {"date": "2026-03-10T02:00:00Z", "count": 0, "avg": None},
    ]


async def test_weeks_start_on_monday_and_months_on_the_first(ann: Person) -> None:
    period = {"startDate": "2026-02-27", "endDate": "2026-04-01"}
    [weekly] = await _summary(ann, "month", granularity="weekly", **period)
    # The first of March 2026 is a Sunday.
    assert [(t["date"], t["count"]) for t in weekly["trend"]] == [
        ("2026-02-23", 1),
        ("2026-03-02", 7),
        ("2026-03-09", 7),
        ("2026-03-16", 7),
        ("2026-03-23", 7),
        ("2026-03-30", 2),
    ]
    [monthly] = await _summary(ann, "month", granularity="monthly", **period)
    assert [(t["date"], t["count"], t["avg"]) for t in monthly["trend"]] == [
        ("2026-02-01", 0, None),
        ("2026-03-01", 31, 16),
        ("2026-04-01", 0, None),
    ]


async def test_the_earliest_and_latest_dates_have_buckets(ann: Person) -> None:
    period = {"startDate": "1970-01-01", "endDate": "2199-12-31"}
    [summary] = await _summary(ann, "edges", granularity="monthly", **period)
    assert summary["count"] == 2
    assert (summary["trend"][0]["count"], summary["trend"][-1]["count"]) == (1, 1)
    period["endDate"] = "1970-01-10"
    [early] = await _summary(ann, "edges", granularity="weekly", **period)
    assert early["trend"][0] == {"date": "1969-12-29", "count": 1, "avg": 1}


async def test_the_default_is_the_last_30_days_by_day(ann: Person) -> None:
    [summary] = await _summary(ann, "recent")
    assert (summary["count"], summary["lastValue"]) == (1, 1)
    assert len(summary["trend"]) in {31, 32}
    assert sum(t["count"] for t in summary["trend"]) == 1


async def test_the_largest_accepted_values_can_be_summed(ann: Person) -> None:
    [summary] = await _summary(ann, "large", startDate="2026-03-10", endDate="2026-03-10")
    assert summary["max"] == 1e15
    assert summary["sum"] == 2e15


async def test_invalid_ranges_are_refused(ann: Person) -> None:
    for field, query in (
        ("granularity", {"granularity": "yearly"}),
        ("startDate", {"startDate": "2026-03-11", "endDate": "2026-03-10"}),
        ("granularity", {"granularity": "hourly", "startDate": "2020-01-01"}),
        ("endDate", {"endDate": "x"}),
    ):
        assert_error(await ann.call("GET", "/signals/summary", params=query), 400, field)


async def test_too_many_names_over_too_many_buckets_are_refused(ann: Person) -> None:
    period = {"granularity": "hourly", "startDate": "2025-02-15", "endDate": "2026-03-31"}
    assert_error(await ann.call("GET", "/signals/summary", params=period), 400, "granularity")
    [one] = await _summary(ann, "n7", **period)
    assert one["count"] == 1
