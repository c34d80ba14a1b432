"""Durations in the texts of alerts read as on the dashboard."""

from datetime import UTC, datetime
from typing import Any

import pytest

from spanwise.model.alerts import AlertRule
from spanwise.services.notifications.alert_texts import (
    format_duration,
    format_minutes,
    write_description,
    write_title,
)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
        (0.04, "0.04 ms"),
        (0.4, "0.4 ms"),
        (9.96, "10 ms"),
        (812, "812 ms"),
        (999.4, "999 ms"),
        (999.6, "1 s"),
        (3_569, "3.57 s"),
        (4_540, "4.54 s"),
        (12_400, "12.4 s"),
        (59_960, "1m"),
        (123_000, "2m 03s"),
        (3_900_000, "1h 05m"),
        (7_200_000, "2h"),
        (172_740_000, "47h 59m"),
        (180_000_000, "2d 02h"),
        (259_200_000, "3d"),
    ],
)
def test_a_duration_has_the_unit_that_fits(ms: float, text: str) -> None:
    assert format_duration(ms) == text


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(5, "5 min"), (90, "90 min"), (360, "6 h"), (1440, "1 day"), (10_080, "7 days")],
)
def test_a_window_is_named_in_its_largest_whole_unit(minutes: int, text: str) -> None:
    assert format_minutes(minutes) == text


@pytest.mark.parametrize(
    ("rule", "value", "title"),
    [
        (
            {"metric": "p95Latency", "threshold": 1000},
            1003,
            "p95 latency 1.003 s is above 1 s",
        ),
        (
            {"metric": "p95Latency", "threshold": 7_200_000},
            7_200_400,
            "p95 latency 7,200.4 s is above 7,200 s",
        ),
        (
            {"metric": "p95Latency", "threshold": 999.6},
            999.7,
            "p95 latency 999.7 ms is above 999.6 ms",
        ),
        ({"metric": "errorRate", "threshold": 0.05}, 0.0501, "error rate 5.01% is above 5.00%"),
        ({"metric": "cost", "threshold": 10}, 10.001, "cost $10.001 is above $10.000"),
        ({"metric": "totalTokens", "threshold": 1000}, 1000.25, "tokens 1,000.2 is above 1,000.0"),
        (
            {"metric": "query", "measure": "signal:score", "threshold": 0.1},
            0.10000001,
            "mean score of traces 0.10000001 is above 0.1",
        ),
    ],
)
def test_a_title_tells_the_value_from_the_threshold(
    rule: dict[str, Any], value: float, title: str
) -> None:
    parsed = AlertRule.model_validate({"condition": "above", **rule})
    assert write_title("planner", parsed, value, None) == f"planner: {title}"


def test_a_title_tells_an_anomaly_from_its_baseline() -> None:
    rule = AlertRule.model_validate({"metric": "avgLatency", "condition": "anomaly"})
    title = write_title(None, rule, 2001, 2000)
    assert title == "All agents: mean latency is unusual at 2.001 s (usually 2 s)"


@pytest.mark.parametrize(
    ("rule", "value", "samples", "description"),
    [
        (
            {"metric": "errorRate", "threshold": 0.1, "windowMinutes": 360},
            0.2,
            15,
            "3 of 15 traces failed between 00:45 and 06:45 UTC on 2026-11-19.",
        ),
        (
            {"metric": "query", "measure": "errorRate", "of": "spans", "threshold": 0.1},
            1,
            1,
            "1 of 1 span failed between 06:40 and 06:45 UTC on 2026-11-19.",
        ),
        (
            {"metric": "p95Latency", "threshold": 1000, "windowMinutes": 1440, "name": "Slow"},
            2000,
            1200,
            "Rule “Slow”. Measured in 1,200 traces between 2026-11-18 06:45 and 2026-11-19 06:45"
            " UTC.",
        ),
        (
            {"metric": "newFailureGroup", "threshold": 0, "windowMinutes": 60},
            1,
            15,
            "Failures that are new or came back between 05:45 and 06:45 UTC on 2026-11-19.",
        ),
    ],
)
def test_a_description_says_what_was_measured_when(
    rule: dict[str, Any], value: float, samples: int, description: str
) -> None:
    parsed = AlertRule.model_validate({"condition": "above", "windowMinutes": 5, **rule})
    end = datetime(2026, 11, 19, 6, 45, 8, tzinfo=UTC)
    assert write_description(parsed, value, samples, end) == description
