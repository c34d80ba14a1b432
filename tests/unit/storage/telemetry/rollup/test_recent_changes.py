"""What readers are told of the latest changes: all of it, or that nobody knows."""

from datetime import UTC, datetime, timedelta

from spanwise.storage.telemetry.rollup.recent_changes import MAX_MOMENTS, Changes

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
LATER = NOON + timedelta(seconds=10)


def test_changes_of_a_workspace_add_up() -> None:
    changes = Changes()
    changes.note({"mine": {"a": {NOON: 1}}})
    seen = changes.number
    changes.note({"mine": {"a": {LATER: 1}}, "theirs": {"a": {NOON: 1}}})
    changes.note({})
    assert changes.since(0, "mine") == {NOON, LATER}
    assert changes.since(seen, "mine") == {LATER}
    assert changes.since(seen, "theirs") == {NOON}
    assert changes.since(changes.number, "mine") == set()


def test_an_unknown_change_makes_all_before_it_useless() -> None:
    changes = Changes()
    changes.note({"mine": {"a": {NOON: 1}}})
    changes.note(None)
    after = changes.number
    changes.note({"mine": {"a": {LATER: 1}}})
    assert changes.since(0, "mine") is None
    assert changes.since(after, "mine") == {LATER}


def test_a_change_of_too_much_counts_as_unknown() -> None:
    changes = Changes()
    many = [NOON + timedelta(seconds=10 * n) for n in range(MAX_MOMENTS + 1)]
    changes.note({"mine": {"a": dict.fromkeys(many, 1)}})
    assert changes.since(0, "mine") is None


def test_what_is_long_ago_is_forgotten() -> None:
    changes = Changes()
    for _ in range(1000):
        changes.note({"mine": {"a": {NOON: 1}}})
    assert changes.since(0, "mine") is None
    assert changes.since(changes.number - 1, "mine") == {NOON}


def test_the_latest_changes_tell_since_when_it_is_busy() -> None:
    changes = Changes()
    changes.note({"mine": {"a": {NOON: 30, LATER: 5}}, "theirs": {"a": {LATER: 100}}})
    changes.note(None)
    changes.note({"mine": {"a": {LATER: 5}, "b": {LATER: 10}}})
    assert changes.busy_since("mine", None, 20, None) == LATER
    assert changes.busy_since("mine", None, 21, None) == NOON
    assert changes.busy_since("mine", None, 20, LATER) == NOON
    assert changes.busy_since("mine", None, 51, None) is None
    assert changes.busy_since("mine", "a", 20, None) == NOON
    assert changes.busy_since("mine", "b", 11, None) is None
    assert changes.busy_since("nobody's", None, 1, None) is None
