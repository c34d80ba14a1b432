"""Records what was sent, and what the service acknowledged and must keep."""

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
class Request:
    """An HTTP request that can be resent unchanged."""

    path: str
    body: bytes
    headers: tuple[tuple[str, str], ...]
    spans: tuple[SentSpan, ...] = ()
    signal_ids: tuple[str, ...] = ()
    log_messages: tuple[str, ...] = ()
    is_good: bool = True


@dataclass
class Expectation:
    """The spans that a trace must have, and those that it may have."""

    kept: dict[str, SentSpan] = field(default_factory=dict)
    possible: dict[str, SentSpan] = field(default_factory=dict)


@dataclass
class Ledger:
    """Thread-safe record of requests by outcome."""

    kept: list[Request] = field(default_factory=list)
    unknown: list[Request] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def record(self, request: Request, outcome: Outcome) -> None:
        with self._lock:
            self.counts[outcome.value] = self.counts.get(outcome.value, 0) + 1
            if outcome is Outcome.KEPT and request.is_good:
                self.kept.append(request)
            elif outcome is Outcome.UNKNOWN and request.is_good:
                self.unknown.append(request)

    def take_unknown(self) -> list[Request]:
        """Take the requests without a response, to resend them like an exporter."""
        with self._lock:
            requests, self.unknown = self.unknown, []
            return requests

    def some_kept(self, index: int) -> Request | None:
        with self._lock:
            return self.kept[index % len(self.kept)] if self.kept else None

    def traces(self) -> dict[str, Expectation]:
        found: dict[str, Expectation] = {}
        for requests, is_kept in ((self.kept, True), (self.unknown, False)):
            for span in (span for request in requests for span in request.spans):
                trace = found.setdefault(span.trace_id, Expectation())
                trace.possible[span.span_id] = span
                if is_kept:
                    trace.kept[span.span_id] = span
        return found

    def signal_ids(self) -> tuple[set[str], set[str]]:
        """Return the ids that must be stored, and those that may be."""
        return _bounds(self, lambda request: request.signal_ids)

    def log_messages(self) -> tuple[set[str], set[str]]:
        return _bounds(self, lambda request: request.log_messages)


def _bounds(ledger: Ledger, pick: Callable[[Request], Iterable[str]]) -> tuple[set[str], set[str]]:
    kept = {item for request in ledger.kept for item in pick(request)}
    return kept, kept | {item for request in ledger.unknown for item in pick(request)}
