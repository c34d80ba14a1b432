"""Rejects misnamed query parameters of reads over a period, such as `startTime`.

Ignoring one would answer another question, such as one about all time. Parameters that resemble
none of the route are ignored: clients and proxies add their own.
"""

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from spanwise.model.errors import FieldProblem, Invalid

# What other APIs call them, in lower case.
_ALIASES = {
    **dict.fromkeys(("start", "starttime", "from", "since", "after", "begin"), "startDate"),
    **dict.fromkeys(("end", "endtime", "to", "until", "before"), "endDate"),
    **dict.fromkeys(("size", "pagesize", "perpage"), "limit"),
    "offset": "skip",
    "orderby": "sort",
    "interval": "granularity",
    **dict.fromkeys(("q", "query", "text"), "search"),
}
# Share of equal characters from which a name is a misspelled other one.
_MIN_SIMILARITY = 0.8


def reject_misnamed(given: Mapping[str, str], known: Collection[str]) -> None:
    """Raise Invalid with each parameter that is not known but resembles a known one."""
    meant = {name: _find_meant(name, known) for name in given if name not in known}
    problems = [
        FieldProblem(field=name, message=f"is not a parameter; did you mean {likely}?")
        for name, likely in meant.items()
        if likely is not None
    ]
    if problems:
        raise Invalid(f"{problems[0].field}: {problems[0].message}", problems)


def _find_meant(name: str, known: Collection[str]) -> str | None:
    plain = name.lower().replace("_", "").replace("-", "")
    if _ALIASES.get(plain) in known:
        return _ALIASES[plain]
    by_plain = {one.lower(): one for one in known}
    return next(
        (by_plain[match] for match in get_close_matches(plain, by_plain, 1, _MIN_SIMILARITY)), None
    )
