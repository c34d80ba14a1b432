"""A clock that a test advances."""

from datetime import UTC, datetime, timedelta


class Clock:
    def __init__(self, start: datetime | None = None) -> None:
        self.now = start or datetime.now(UTC)

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> datetime:
        self.now += timedelta(**by)
        return self.now
