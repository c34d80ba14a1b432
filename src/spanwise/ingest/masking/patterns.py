"""Replaces what the patterns of a workspace match, with RE2."""

import time
from typing import Any

import re2

from spanwise.model.masking import Detector, MaskingPattern, re2_options

# Finding all matches may take quadratic time even with RE2, as of `a(.*b)?`.
MAX_SECONDS = 1.0


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
        parts = []
        done = 0
        deadline = time.monotonic() + MAX_SECONDS
        for match in self._regex.finditer(data):
            start, end = match.span()
            if time.monotonic() > deadline:
                parts += [data[done:start], self._replacement]
                done = len(data)
                break
            if start == end or self._placeholder.fullmatch(data, start, end):
                continue
            parts += [data[done:start], self._replacement]
            done = end
        if not parts:
            return text
        return b"".join([*parts, data[done:]]).decode("utf-8", "surrogatepass")


def compile_patterns(patterns: list[MaskingPattern]) -> list[OwnPattern]:
    names = [*Detector, *(pattern.name for pattern in patterns)]
    placeholders = rf"\[(?:{'|'.join(re2.escape(name) for name in names)})\]"
    return [OwnPattern(pattern, placeholders) for pattern in patterns]
