"""Durations in the texts of alerts read as on the dashboard."""

import pytest

from spanwise.services.alerts.alert_texts import format_duration, format_minutes


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0 ms"),
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
