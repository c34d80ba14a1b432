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


def replace_values(
    text: str,
    pattern: re.Pattern[str],
    find_end: Callable[[re.Match[str]], int | None],
    replacement: str,
) -> str:
    """Replace matches from their start to `find_end`, which returns None if one is no value."""
    parts = []
    done = at = 0
    while (match := pattern.search(text, at)) is not None:
        end = find_end(match)
        if end is None:
            # A value may start within a match that is none, as after a date.
            at = match.start() + 1
        else:
            parts += [text[done : match.start()], replacement]
            done = at = end
    return "".join([*parts, text[done:]]) if parts else text
