"""The rows of a batch are found by workspace, hour and version."""

from spanwise.storage.telemetry.rows.batch_rows import BatchRows

NOON = 496_404


def test_a_batch_is_bound_to_its_workspaces_and_hours() -> None:
    rows = BatchRows(1, 9, frozenset({"b", "a"}), frozenset({NOON, NOON + 2}))
    assert rows.parameters == {
        "first": 1,
        "last": 9,
        "workspaces": ["a", "b"],
        "hours": ["2026-08-18 12:00:00", "2026-08-18 14:00:00"],
    }
    assert "workspace IN" in rows.condition()
    assert "hour IN" in rows.condition()


def test_many_hours_become_a_range() -> None:
    rows = BatchRows(1, 9, frozenset({"a"}), frozenset(range(NOON, NOON + 501)))
    assert rows.parameters["first_hour"] == "2026-08-18 12:00:00"
    assert rows.parameters["last_hour"] == "2026-09-08 08:00:00"
    assert "hour BETWEEN" in rows.condition()


def test_a_batch_without_known_hours_is_found_by_version() -> None:
    rows = BatchRows(1, 9)
    assert rows.parameters == {"first": 1, "last": 9}
    assert rows.condition() == "version BETWEEN {first:UInt64} AND {last:UInt64}"


def test_joined_batches_cover_both() -> None:
    one = BatchRows(1, 5, frozenset({"a"}), frozenset({NOON}))
    two = BatchRows(4, 9, frozenset({"b"}), frozenset({NOON + 1}))
    assert one.join(two) == BatchRows(1, 9, frozenset({"a", "b"}), frozenset({NOON, NOON + 1}))
    assert one.join(BatchRows(7, 8)).workspaces is None
