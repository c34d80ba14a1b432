"""The log of recent changes returns all changes, or that they are unknown."""

from datetime import UTC, datetime, timedelta

from spanwise.storage.telemetry.rollup.recent_changes import MAX_CHANGED_SLICES, RecentChanges

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=10)


def test_changes_of_a_workspace_are_joined() -> None:
    changes = RecentChanges()
    changes.record({"mine": {"a": {NOON: 1}}})
    seen = changes.count
    changes.record({"mine": {"a": {LATER: 1}}, "theirs": {"a": {NOON: 1}}})
    changes.record({})
    assert changes.find_since(0, "mine") == {NOON, LATER}
    assert changes.find_since(seen, "mine") == {LATER}
    assert changes.find_since(seen, "theirs") == {NOON}
    assert changes.find_since(changes.count, "mine") == set()


def test_an_unknown_change_hides_earlier_ones() -> None:
    changes = RecentChanges()
    changes.record({"mine": {"a": {NOON: 1}}})
    changes.record(None)
    after = changes.count
    changes.record({"mine": {"a": {LATER: 1}}})
    assert changes.find_since(0, "mine") is None
    assert changes.find_since(after, "mine") == {LATER}


def test_a_change_of_too_many_slices_counts_as_unknown() -> None:
    changes = RecentChanges()
    many = [NOON + timedelta(seconds=10 * n) for n in range(MAX_CHANGED_SLICES + 1)]
    changes.record({"mine": {"a": dict.fromkeys(many, 1)}})
    assert changes.find_since(0, "mine") is None


def test_old_changes_are_dropped() -> None:
    changes = RecentChanges()
    for _ in range(1000):
        changes.record({"mine": {"a": {NOON: 1}}})
    assert changes.find_since(0, "mine") is None
    assert changes.find_since(changes.count - 1, "mine") == {NOON}


def test_a_page_start_counts_the_latest_changes() -> None:
    changes = RecentChanges()
    changes.record({"mine": {"a": {NOON: 30, LATER: 5}}, "theirs": {"a": {LATER: 100}}})
    changes.record(None)
    changes.record({"mine": {"a": {LATER: 5}, "b": {LATER: 10}}})
    assert changes.estimate_page_start("mine", None, 20, None) == LATER
    assert changes.estimate_page_start("mine", None, 21, None) == NOON
    assert changes.estimate_page_start("mine", None, 20, LATER) == NOON
    assert changes.estimate_page_start("mine", None, 51, None) is None
    assert changes.estimate_page_start("mine", "a", 20, None) == NOON
    assert changes.estimate_page_start("mine", "b", 11, None) is None
    assert changes.estimate_page_start("nobody's", None, 1, None) is None
