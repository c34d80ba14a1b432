"""Finds e-mail addresses."""

import re

from spanwise.ingest.masking.boundaries import escape_length

# In a URL the sign may be encoded, in JSON it may be escaped.
HINT = r"@|%40|\\u0040"

_MAX_LOCAL_CHARACTERS = 64
# Starts at the sign: a search that starts at the part before it would take quadratic time.
_AT_DOMAIN = re.compile(
    r"(?:@|%40|\\u0040)[\w-]{1,63}(?:\.[\w-]{1,63}){0,9}\.[^\W\d_]{2,24}(?![^\W_])"
)
_LOCAL_REVERSED = re.compile(r"[\w.!$%'*+^~-]{1,64}")


def mask_emails(text: str) -> str:
    parts = []
    done = 0
    for match in _AT_DOMAIN.finditer(text):
        start = _find_start(text, max(done, match.start() - _MAX_LOCAL_CHARACTERS), match.start())
        if start < match.start():
            parts += [text[done:start], "[email]"]
            done = match.end()
    return "".join([*parts, text[done:]]) if parts else text


def _find_start(text: str, first: int, sign: int) -> int:
    """Return where the address starts; at the sign if nothing precedes it."""
    local = _LOCAL_REVERSED.match(text[first:sign][::-1])
    if local is None:
        return sign
    start = sign - local.end()
    start = min(start + escape_length(text, start), sign)
    # Quotes and dots before the address are not part of it.
    return sign - len(text[start:sign].lstrip(".'*"))
