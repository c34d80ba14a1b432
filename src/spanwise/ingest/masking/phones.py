"""Finds phone numbers in international and common national notations.

A number needs a sign that it is one: a plus, an exit code, a trunk zero or the separators of its
country. Bare digits are ids and times far more often.
"""

import re

from spanwise.ingest.masking.boundaries import (
    START,
    STRICT_START,
    compile_candidates,
    replace_values,
)

# Seven digits with at most three other characters between two of them.
HINT = r"[0-9](?:[^0-9A-Za-z]{0,3}[0-9]){6}"

_SPACE = "\u00a0\u202f "
_DASH = "\\-\u2010\u2011\u2012\u2013"
_ANY = f"[{_SPACE}{_DASH}./()]{{0,3}}"
_CANDIDATES = compile_candidates("[+(0-9]")
_PHONE = re.compile(
    rf"""(?:
    {START} (?P<international> \+ [1-9] (?: {_ANY} [0-9] ){{8,14}} )
    | {STRICT_START} (?<![0-9]:) (?:
        (?P<exit_code> 00 [1-9] [0-9]{{0,2}}
            (?: [{_SPACE}{_DASH}./()]{{1,3}} [0-9]{{1,9}} ){{1,6}} )
        | 00 [34] [0-9]{{10,12}}
        | (?P<trunk> (?: 0 [1-9] [0-9]{{0,4}} | \( 0 [1-9] [0-9]{{0,4}} \) )
            (?: [{_SPACE}{_DASH}./]{{1,3}} [0-9]{{2,8}} ){{1,5}} )
        | 0 (?: 1[5-7][0-9]{{8,9}} | 7[0-9]{{9}} | [67][0-9]{{8}} )
        | \([2-9][0-9]{{2}}\) [{_SPACE}]? [0-9]{{3}} [{_SPACE}{_DASH}.] [0-9]{{4}}
        | (?: 1 [{_SPACE}{_DASH}.] )? [2-9][0-9]{{2}}
            (?P<same> [{_DASH}.] ) [2-9][0-9]{{2}} (?P=same) [0-9]{{4}}
        | \([1-9][0-9]\) [{_SPACE}]? 9?[0-9]{{4}} [{_DASH}] [0-9]{{4}}
    ))
    (?! [0-9A-Za-z_] | [{_DASH}./:][0-9] )""",
    re.VERBOSE,
)
_DATE = re.compile(
    r"\+?(?:(?:19|20)[0-9]{2}[-/.][01]?[0-9][-/.][0-3]?[0-9]"
    r"|[0-3]?[0-9][-/.][0-3]?[0-9][-/.](?:[0-9]{4}|[0-9]{2}))(?![0-9]|[-/.][0-9])"
)
_DECIMAL = re.compile(r"\+[0-9]+\.[0-9]+")
_GROUP = re.compile(r"[0-9]+")
_TRUNK_DIGITS = range(9, 13)
_EXIT_DIGITS = range(11, 18)
_MIN_INTERNATIONAL_DIGITS = 10


def mask_phones(text: str) -> str:
    return replace_values(text, _CANDIDATES, _PHONE, "[phone]", _find_end)


def _find_end(match: re.Match[str]) -> int | None:
    """Return where the number ends; None if the match is not a number."""
    number = match[0]
    if _DATE.match(number) or _DECIMAL.fullmatch(number):
        return None
    if match["international"]:
        is_short = number[1:].isdigit() and len(number) <= _MIN_INTERNATIONAL_DIGITS
        return None if is_short else match.end()
    if match["trunk"]:
        return _find_last_group(match, _TRUNK_DIGITS)
    return _find_last_group(match, _EXIT_DIGITS) if match["exit_code"] else match.end()


def _find_last_group(match: re.Match[str], allowed: range) -> int | None:
    """Return the end of the last group of digits that belongs to one number."""
    digits, end = 0, None
    for group in _GROUP.finditer(match.string, *match.span()):
        digits += len(group[0])
        if digits in allowed:
            end = group.end()
    return end
