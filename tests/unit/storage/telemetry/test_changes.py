"""What readers are told of the latest changes: all of it, or that nobody knows."""

from datetime import UTC, datetime, timedelta

from spanwise.storage.telemetry.changes import MAX_MOMENTS, Changes

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=10)


def test_changes_of_a_workspace_add_up() -> None:
    changes = Changes()
    changes.note({"mine": {NOON}})
    seen = changes.number
    changes.note({"mine": {LATER}, "theirs": {NOON}})
    changes.note({})
    assert changes.since(0, "mine") == {NOON, LATER}
    assert changes.since(seen, "mine") == {LATER}
    assert changes.since(seen, "theirs") == {NOON}
    assert changes.since(changes.number, "mine") == set()


def test_an_unknown_change_makes_all_before_it_useless() -> None:
    changes = Changes()
    changes.note({"mine": {NOON}})
    changes.note(None)
    after = changes.number
    changes.note({"mine": {LATER}})
    assert changes.since(0, "mine") is None
    assert changes.since(after, "mine") == {LATER}


def test_a_change_of_too_much_counts_as_unknown() -> None:
    changes = Changes()
    changes.note({"mine": {NOON + timedelta(seconds=10 * n) for n in range(MAX_MOMENTS + 1)}})
    assert changes.since(0, "mine") is None


def test_what_is_long_ago_is_forgotten() -> None:
    changes = Changes()
    for _ in range(1000):
        changes.note({"mine": {NOON}})
    assert changes.since(0, "mine") is None
    assert changes.since(changes.number - 1, "mine") == {NOON}
