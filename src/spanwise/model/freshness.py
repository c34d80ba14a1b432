"""How old the data in a response may be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Freshness:
    """A response includes everything acknowledged more than `max_age_seconds` ago."""

    max_age_seconds: float = 0


LATEST = Freshness()
