"""Anomaly rules on synthetic traffic: quiet on seasons and noise, fast on real incidents."""

from typing import Any

import pytest

from spanwise.analysis.backtest import backtest_rule
from spanwise.model.alerts import AlertRule, BacktestPoint, Firing
from support.series import DAY_MINUTES, MINUTE, ORIGIN, Traffic, disturb, make_traffic

WINDOW = 5


def replay(traffic: Traffic, metric: str, first: int = 0, **fields: Any) -> list[Firing]:
    rule = AlertRule.model_validate(
        {"metric": metric, "condition": "anomaly", "windowMinutes": WINDOW, **fields}
    )
    windows, buckets = traffic.windows(WINDOW, first), traffic.buckets(WINDOW)
    return backtest_rule(rule, windows, buckets, ORIGIN).firings


def minutes_after(firing: Firing, minute: int) -> float:
    return (firing.start.timestamp() - ORIGIN) / MINUTE - minute


@pytest.mark.parametrize(
    ("metric", "per_minute"),
    [
        # A share, an amount and a count.
        *(("errorRate", 3), ("p95Latency", 300), ("requestCount", 300)),
        pytest.param("errorRate", 300, marks=pytest.mark.long),
        pytest.param("avgLatency", 300, marks=pytest.mark.long),
        pytest.param("avgLatency", 3, marks=pytest.mark.long),
        pytest.param("p95Latency", 3, marks=pytest.mark.long),
        pytest.param("requestCount", 3, marks=pytest.mark.long),
    ],
)
# A week has every season; `make test-all` also replays the weeks in which rules learn them.
@pytest.mark.parametrize(("days", "limit"), [(7, 0), pytest.param(30, 1, marks=pytest.mark.long)])
def test_seasons_and_noise_raise_no_alert_in_a_week(
    metric: str, per_minute: float, days: int, limit: int
) -> None:
    traffic = make_traffic(30, seed=11, per_minute=per_minute)
    assert len(replay(traffic, metric, first=(30 - days) * DAY_MINUTES)) <= limit


@pytest.mark.parametrize(
    "hour", [3, 15, *(pytest.param(hour, marks=pytest.mark.long) for hour in (9, 21))]
)
@pytest.mark.parametrize(("metric", "part"), [("errorRate", "errors"), ("avgLatency", "latency")])
def test_a_doubling_is_detected_within_ten_minutes_at_any_hour(
    metric: str, part: str, hour: int
) -> None:
    first = 28 * DAY_MINUTES + hour * 60
    calm = make_traffic(29, seed=5, per_minute=900, error_rate=0.05)
    traffic = disturb(calm, first, first + 90, **{part: 2.0})
    firings = replay(traffic, metric, first=first - 120)
    assert firings
    assert 0 < minutes_after(firings[0], first) <= 10
    ends = [firing.end for firing in firings]
    assert all(end is not None for end in ends)


def test_a_slow_tail_is_detected_within_ten_minutes() -> None:
    first = 28 * DAY_MINUTES + 600
    traffic = disturb(make_traffic(29, seed=6), first, first + 60, tail=2.0)
    [firing] = replay(traffic, "p95Latency", first=first - 60)
    assert 0 < minutes_after(firing, first) <= 10


def test_missing_traffic_in_busy_hours_is_detected() -> None:
    first = 28 * DAY_MINUTES + 720
    traffic = disturb(make_traffic(29, seed=7), first, first + 30, requests=0.0)
    [firing] = replay(traffic, "requestCount", first=first - 60)
    assert 0 < minutes_after(firing, first) <= 10
    assert firing.value < (firing.baseline or 0)


def test_better_than_usual_is_no_alert() -> None:
    first = 28 * DAY_MINUTES + 600
    calm = make_traffic(29, seed=8, per_minute=900, error_rate=0.05)
    better = disturb(calm, first, first + 120, latency=0.3, errors=0.0)
    for metric in ("avgLatency", "errorRate"):
        assert replay(better, metric, first=first - 60) == []


def test_a_spike_of_a_minute_is_no_alert() -> None:
    first = 28 * DAY_MINUTES + 600
    spiked = disturb(make_traffic(29, seed=9), first, first + 1, errors=4.0)
    assert replay(spiked, "errorRate", first=first - 60) == []


def test_a_lasting_shift_is_one_alert_and_then_the_new_normal() -> None:
    first = 21 * DAY_MINUTES + 600
    shifted = disturb(make_traffic(25, seed=10), first, None, latency=2.0)
    [firing] = replay(shifted, "avgLatency", first=first - 120)
    assert firing.end is not None
    lasted = (firing.end - firing.start).total_seconds() / 3600
    assert lasted == pytest.approx(24, abs=0.1)


def test_no_anomaly_fires_on_the_first_day() -> None:
    first = 1200
    traffic = disturb(make_traffic(1, seed=12), first, first + 60, latency=5.0)
    assert replay(traffic, "avgLatency") == []


def test_a_replay_is_the_same_each_time() -> None:
    first = 14 * DAY_MINUTES + 600
    traffic = disturb(make_traffic(15, seed=13), first, first + 60, latency=2.0)
    once = replay(traffic, "avgLatency", first=first - 60)
    assert once == replay(traffic, "avgLatency", first=first - 60)
    assert once


def test_a_higher_sensitivity_fires_earlier() -> None:
    first = 28 * DAY_MINUTES + 600
    traffic = disturb(make_traffic(29, seed=14), first, first + 30, latency=1.22)
    found = {
        level: len(replay(traffic, "avgLatency", first=first - 60, sensitivity=level))
        for level in ("low", "high")
    }
    assert found["low"] == 0
    assert found["high"] >= 1


def points_of(traffic: Traffic, first: int, **fields: Any) -> list[BacktestPoint]:
    rule = AlertRule.model_validate({"windowMinutes": WINDOW, **fields})
    windows, buckets = traffic.windows(WINDOW, first), traffic.buckets(WINDOW)
    return backtest_rule(rule, windows, buckets, ORIGIN).points


def test_points_show_the_most_extreme_value_of_each_hour() -> None:
    first = 28 * DAY_MINUTES
    calm = make_traffic(29, seed=5, per_minute=900)
    traffic = disturb(calm, first + 80, first + 90, latency=3.0)
    usual = points_of(calm, first, metric="avgLatency", condition="above", threshold=1e6)
    high = points_of(traffic, first, metric="avgLatency", condition="above", threshold=1e6)
    low = points_of(traffic, first, metric="avgLatency", condition="below", threshold=1)
    assert 24 <= len(high) <= 25
    assert len({point.at.hour for point in high}) == 24
    assert (high[1].value or 0) > 2 * (usual[1].value or 0)
    assert all((h.value or 0) >= (m.value or 0) for h, m in zip(high, low, strict=True))
    assert {(point.lower, point.upper) for point in high} == {(None, None)}


def test_points_have_the_baseline_of_an_anomaly_rule_only() -> None:
    traffic = make_traffic(29, seed=5, per_minute=900)
    first = 28 * DAY_MINUTES
    learned = points_of(traffic, first, metric="avgLatency", condition="anomaly")
    assert all(p.baseline and p.upper and p.baseline < p.upper for p in learned)
    fixed = points_of(traffic, first, metric="avgLatency", condition="above", threshold=1)
    assert {p.baseline for p in fixed} == {None}


def test_a_band_has_an_edge_where_an_anomaly_would_fire() -> None:
    traffic = make_traffic(29, seed=5, per_minute=900)
    first = 28 * DAY_MINUTES
    slow = points_of(traffic, first, metric="avgLatency", condition="anomaly")
    assert all(p.lower is None and p.upper and p.value and p.value < p.upper for p in slow)
    wide = points_of(traffic, first, metric="requestCount", condition="anomaly", sensitivity="low")
    narrow = points_of(
        traffic, first, metric="requestCount", condition="anomaly", sensitivity="high"
    )
    for w, n in zip(wide, narrow, strict=True):
        assert (w.lower or 0) < (n.lower or 0) < (n.upper or 0) < (w.upper or 0)


def test_a_point_shows_the_value_farthest_from_the_band_on_either_side() -> None:
    first = 28 * DAY_MINUTES
    calm = make_traffic(29, seed=5, per_minute=900)
    traffic = disturb(calm, first + 80, first + 90, requests=0.1)
    usual = points_of(calm, first, metric="requestCount", condition="anomaly")
    missing = points_of(traffic, first, metric="requestCount", condition="anomaly")
    assert (missing[1].value or 0) < 0.5 * (usual[1].value or 0)
