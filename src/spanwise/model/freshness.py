"""How much of the acknowledged data an answer must include."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Freshness:
    """An answer includes everything acknowledged more than `max_age_seconds` ago."""

    max_age_seconds: float = 0


LATEST = Freshness()
