"""Session starts over the demo's month."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from random import Random

from spanwise.demo.fleet import FLEET
from spanwise.demo.timeline import Timeline, session_starts

TIMELINE = Timeline.ending(datetime(2026, 11, 15, 12, tzinfo=UTC))
SUPPORT = FLEET[0]


def starts(scale: float = 1.0, seed: int = 1) -> list[datetime]:
    return list(session_starts(SUPPORT, TIMELINE.start, TIMELINE.end, scale, Random(seed)))


def test_sessions_are_ordered_and_within_the_month() -> None:
    found = starts()
    assert found == sorted(found)
    assert TIMELINE.start <= found[0] < TIMELINE.start + timedelta(hours=6)
    assert TIMELINE.end - timedelta(hours=6) < found[-1] < TIMELINE.end


def test_scale_multiplies_the_traffic() -> None:
    assert 0.15 < len(starts(0.2)) / len(starts()) < 0.25


def test_workdays_and_office_hours_are_busier() -> None:
    days = Counter(at.weekday() for at in starts())
    assert days[1] > 1.3 * days[5]
    hours = Counter(at.hour for at in starts())
    assert hours[9] > 5 * hours[2]


def test_the_incident_is_on_a_workday_within_the_last_two_weeks() -> None:
    for day in range(7):
        timeline = Timeline.ending(TIMELINE.end + timedelta(days=day))
        assert timeline.incident_start.weekday() < 5
        assert (
            timeline.end - timedelta(days=14)
            < timeline.incident_start
            < timeline.end - timedelta(days=5)
        )


def test_a_release_changes_the_version_the_models_and_the_speed_of_a_tool() -> None:
    reviewer = next(agent for agent in FLEET if agent.release is not None)
    before = TIMELINE.version_at(reviewer, TIMELINE.released_at - timedelta(seconds=1))
    after = TIMELINE.version_at(reviewer, TIMELINE.released_at)
    assert before is reviewer
    assert (before.version, after.version) == ("3.1.0", "3.2.0")
    assert after.tools["run_tests"].latency_ms > 1.5 * before.tools["run_tests"].latency_ms
    assert after.tools["read_file"] == before.tools["read_file"]
    assert TIMELINE.version_at(SUPPORT, TIMELINE.end) is SUPPORT
