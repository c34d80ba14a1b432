"""Where a value may start within a text, and how it is replaced.

Most texts are JSON documents with escaped line breaks: the `n` of `\\n0171 ...` is not a letter of
the value, and the value must be replaced without its backslash.
"""

import re
from collections.abc import Callable

_AFTER_ESCAPE = r"(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})"

# Not within a word or a number.
START = rf"(?:(?<![A-Za-z0-9])|{_AFTER_ESCAPE})"
# Also not within a name such as `request-0171` or a decimal number.
STRICT_START = rf"(?:(?<![A-Za-z0-9_.,+\-/#])|{_AFTER_ESCAPE})"
END = r"(?![A-Za-z0-9])"


def escape_length(text: str, at: int) -> int:
    """Return how many characters from `at` on belong to a JSON escape that starts before it."""
    if at == 0 or text[at - 1] != "\\":
        return 0
    return 5 if text[at : at + 1] == "u" else 1


def compile_candidates(characters: str) -> re.Pattern[str]:
    """Compile a search for characters that a value may start with, not within a number.

    Python searches for a set of characters ten times as fast as for anything that begins with a
    look at what comes before.
    """
    return re.compile(rf"{characters}(?:(?<![0-9].)|(?<=\\u[0-9a-fA-F]{{4}}.))")


def replace_values(
    text: str,
    candidates: re.Pattern[str],
    pattern: re.Pattern[str],
    replacement: str,
    find_end: Callable[[re.Match[str]], int | None],
    characters_before: int = 0,
) -> str:
    """Replace values that match the pattern at a candidate, or so many characters before it.

    `find_end` returns where a value ends, or None if the match is none.
    """
    parts = []
    done = at = 0
    while (candidate := candidates.search(text, at)) is not None:
        start = candidate.start() - characters_before
        match = pattern.match(text, start) if start >= done else None
        end = find_end(match) if match is not None else None
        if end is None:
            at = candidate.start() + 1
        else:
            parts += [text[done:start], replacement]
            done = at = end
    return "".join([*parts, text[done:]]) if parts else text
