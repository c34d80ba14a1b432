"""The status of an API key."""

from datetime import UTC, datetime, timedelta

import pytest

from spanwise.model.keys import KeyStatus, status_at

NOW = datetime(2026, 1, 31, tzinfo=UTC)
BEFORE, AFTER = NOW - timedelta(seconds=1), NOW + timedelta(seconds=1)


@pytest.mark.parametrize(
    ("revoked_at", "expires_at", "status"),
    [
        (None, None, KeyStatus.ACTIVE),
        (None, AFTER, KeyStatus.ACTIVE),
        (None, NOW, KeyStatus.EXPIRED),
        (None, BEFORE, KeyStatus.EXPIRED),
        (BEFORE, None, KeyStatus.REVOKED),
        (BEFORE, BEFORE, KeyStatus.REVOKED),
    ],
)
def test_a_key_is_active_until_it_is_revoked_or_expires(
    revoked_at: datetime | None, expires_at: datetime | None, status: KeyStatus
) -> None:
    assert status_at(NOW, revoked_at, expires_at) is status
