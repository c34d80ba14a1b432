"""Which days a maintenance run recomputes in one statement."""

from datetime import UTC, datetime, timedelta

from spanwise.model.times import BoundedRange
from spanwise.storage.telemetry.rollup.maintenance.runs import MAX_BATCH_TRACES, batch_days

FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def day(number: int) -> datetime:
    return FIRST + timedelta(days=number)


def days(first: int, last: int) -> BoundedRange:
    return BoundedRange(day(first), day(last + 1))


def test_days_with_few_traces_are_one_batch_up_to_a_month() -> None:
    changed = {day(number): 10 for number in range(40)}
    assert list(batch_days(changed)) == [days(0, 31), days(32, 39)]


def test_a_batch_ends_before_it_has_too_many_traces() -> None:
    changed = {day(0): MAX_BATCH_TRACES - 1, day(1): 1, day(2): 1, day(9): 3 * MAX_BATCH_TRACES}
    assert list(batch_days(changed)) == [days(0, 1), days(2, 2), days(9, 9)]


def test_no_changes_need_no_batch() -> None:
    assert list(batch_days({})) == []
