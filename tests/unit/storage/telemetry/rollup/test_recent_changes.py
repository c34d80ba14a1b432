"""The log of recent changes returns all changes, or that they are unknown."""

from datetime import UTC, datetime, timedelta

from spanwise.storage.telemetry.rollup.recent_changes import MAX_CHANGED_SLICES, RecentChanges

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=10)


def test_changes_of_a_workspace_are_joined() -> None:
    changes = RecentChanges()
    changes.record({"mine": {NOON}})
    seen = changes.count
    changes.record({"mine": {LATER}, "theirs": {NOON}})
    changes.record({})
    assert changes.find_since(0, "mine") == {NOON, LATER}
    assert changes.find_since(seen, "mine") == {LATER}
    assert changes.find_since(seen, "theirs") == {NOON}
    assert changes.find_since(changes.count, "mine") == set()


def test_an_unknown_change_hides_earlier_ones() -> None:
    changes = RecentChanges()
    changes.record({"mine": {NOON}})
    changes.record(None)
    after = changes.count
    changes.record({"mine": {LATER}})
    assert changes.find_since(0, "mine") is None
    assert changes.find_since(after, "mine") == {LATER}


def test_a_change_of_too_many_slices_counts_as_unknown() -> None:
    changes = RecentChanges()
    many = [NOON + timedelta(seconds=10 * n) for n in range(MAX_CHANGED_SLICES + 1)]
    changes.record({"mine": set(many)})
    assert changes.find_since(0, "mine") is None


def test_old_changes_are_dropped() -> None:
    changes = RecentChanges()
    for _ in range(1000):
        changes.record({"mine": {NOON}})
    assert changes.find_since(0, "mine") is None
    assert changes.find_since(changes.count - 1, "mine") == {NOON}
