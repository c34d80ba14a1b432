"""Which acknowledged data a response must include."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Freshness:
    """A response includes what was acknowledged more than `max_age_seconds` ago.

    With a `workspace`, only what was sent to it; with a `caller` too, only what that key or person
    sent.
    """

    workspace: str | None = None
    caller: str | None = None
    max_age_seconds: float = 0


LATEST = Freshness()
