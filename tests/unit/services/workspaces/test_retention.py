"""The cutoff before which telemetry is removed."""

from datetime import UTC, datetime

from spanwise.services.workspaces.retention import retention_cutoff


def test_the_cutoff_keeps_whole_days() -> None:
    now = datetime(2026, 11, 15, 23, 59, 59, tzinfo=UTC)
    assert retention_cutoff(now, 30) == datetime(2026, 10, 16, tzinfo=UTC)
    assert retention_cutoff(now.replace(hour=0, minute=0, second=0), 1) == datetime(
        2026, 11, 14, tzinfo=UTC
    )
