"""The ledger: what was sent, and what the service has promised to keep."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum


class Outcome(Enum):
    KEPT = "acknowledged"
    UNKNOWN = "no answer"
    REFUSED = "refused"


@dataclass(frozen=True)
class SentSpan:
    trace_id: str
    span_id: str
    is_root: bool
    input_tokens: int


@dataclass(frozen=True)
class Parcel:
    """One request, which can be sent again as it is."""

    path: str
    body: bytes
    headers: tuple[tuple[str, str], ...]
    spans: tuple[SentSpan, ...] = ()
    signal_ids: tuple[str, ...] = ()
    log_messages: tuple[str, ...] = ()
    is_good: bool = True


@dataclass
class Expectation:
    """What a trace must at least have, and what it may have at most."""

    kept: dict[str, SentSpan] = field(default_factory=dict)
    possible: dict[str, SentSpan] = field(default_factory=dict)


@dataclass
class Ledger:
    """Safe to use from many threads."""

    kept: list[Parcel] = field(default_factory=list)
    unknown: list[Parcel] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, parcel: Parcel, outcome: Outcome) -> None:
        with self._lock:
            self.counts[outcome.value] = self.counts.get(outcome.value, 0) + 1
            if outcome is Outcome.KEPT and parcel.is_good:
                self.kept.append(parcel)
            elif outcome is Outcome.UNKNOWN and parcel.is_good:
                self.unknown.append(parcel)

    def take_unknown(self) -> list[Parcel]:
        """Take what had no answer, to send it again, as an exporter would."""
        with self._lock:
            taken, self.unknown = self.unknown, []
            return taken

    def some_kept(self, index: int) -> Parcel | None:
        with self._lock:
            return self.kept[index % len(self.kept)] if self.kept else None

    def traces(self) -> dict[str, Expectation]:
        found: dict[str, Expectation] = {}
        for parcels, is_kept in ((self.kept, True), (self.unknown, False)):
            for span in (span for parcel in parcels for span in parcel.spans):
                trace = found.setdefault(span.trace_id, Expectation())
                trace.possible[span.span_id] = span
                if is_kept:
                    trace.kept[span.span_id] = span
        return found

    def signal_ids(self) -> tuple[set[str], set[str]]:
        """Those that must be there, and all that may be."""
        return _bounds(self, lambda parcel: parcel.signal_ids)

    def log_messages(self) -> tuple[set[str], set[str]]:
        return _bounds(self, lambda parcel: parcel.log_messages)


def _bounds(ledger: Ledger, pick: Callable[[Parcel], Iterable[str]]) -> tuple[set[str], set[str]]:
    kept = {item for parcel in ledger.kept for item in pick(parcel)}
    return kept, kept | {item for parcel in ledger.unknown for item in pick(parcel)}
