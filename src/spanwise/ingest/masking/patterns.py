"""Replaces what the patterns of a workspace match, with RE2."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import re2

from spanwise.model.masking import Detector, MaskingPattern, re2_options

# Finding all matches may take quadratic time even with RE2, as of `a(.*b)?`. In processor time of a
# text, and of all texts of a request.
MAX_SECONDS = 1.0
REQUEST_SECONDS = 2.0
# Shorter texts take next to no time, and what becomes of them is cached.
SHORT_CHARACTERS = 80


class _Budget:
    """The processor time that is left for the patterns of a request."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


_budget: ContextVar[_Budget | None] = ContextVar("masking_budget", default=None)


@contextmanager
def limit_time() -> Iterator[None]:
    """Limit the time of all patterns within the block; texts that are left are replaced whole."""
    token = _budget.set(_Budget(REQUEST_SECONDS))
    try:
        yield
    finally:
        _budget.reset(token)


class OwnPattern:
    def __init__(self, pattern: MaskingPattern, placeholders: str) -> None:
        self.regex = pattern.regex
        # Placeholders come first, so that a match within one of them is not replaced again.
        self._regex: Any = re2.compile(f"(?:{placeholders})|(?:{pattern.regex})", re2_options())
        self._placeholder: Any = re2.compile(placeholders, re2_options())
        self._replacement = f"[{pattern.name}]".encode()

    def mask(self, text: str) -> str:
        # Bytes, because RE2 would encode a text and count its characters for each match.
        data = text.encode("utf-8", "surrogatepass")
        budget = _budget.get() or _Budget(MAX_SECONDS)
        if budget.seconds <= 0 and len(text) > SHORT_CHARACTERS:
            return self._replacement.decode()
        started = time.thread_time()
        masked = self._mask(data, started + min(MAX_SECONDS, budget.seconds))
        budget.seconds -= time.thread_time() - started
        return text if masked is None else masked.decode("utf-8", "surrogatepass")

    def _mask(self, data: bytes, deadline: float) -> bytes | None:
        """Return the masked text, None if nothing matches; what is left at the deadline is cut."""
        parts = []
        done = 0
        for match in self._regex.finditer(data):
            start, end = match.span()
            if time.thread_time() > deadline and len(data) > SHORT_CHARACTERS:
                parts += [data[done:start], self._replacement]
                done = len(data)
                break
            if start == end or self._placeholder.fullmatch(data, start, end):
                continue
            parts += [data[done:start], self._replacement]
            done = end
        return b"".join([*parts, data[done:]]) if parts else None


def compile_patterns(patterns: list[MaskingPattern]) -> list[OwnPattern]:
    names = [*Detector, *(pattern.name for pattern in patterns)]
    placeholders = rf"\[(?:{'|'.join(re2.escape(name) for name in names)})\]"
    return [OwnPattern(pattern, placeholders) for pattern in patterns]
