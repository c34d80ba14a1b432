"""Which days a sweep computes at once."""

from datetime import UTC, datetime, timedelta

from spanwise.storage.telemetry.rollup.rollup import _STRETCH_TRACES, _stretches

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return FIRST + timedelta(days=number)


def test_days_with_few_traces_are_one_stretch_up_to_a_month() -> None:
    days = {day(number): 10 for number in range(40)}
    assert list(_stretches(days)) == [(day(0), day(31)), (day(32), day(39))]


def test_a_stretch_ends_before_it_has_too_many_traces() -> None:
    days = {day(0): _STRETCH_TRACES - 1, day(1): 1, day(2): 1, day(9): 3 * _STRETCH_TRACES}
    assert list(_stretches(days)) == [(day(0), day(1)), (day(2), day(2)), (day(9), day(9))]


def test_nothing_new_is_no_stretch() -> None:
    assert list(_stretches({})) == []
