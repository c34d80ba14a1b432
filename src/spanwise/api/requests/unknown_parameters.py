"""Rejects unknown query parameters of reads over a period.

Ignoring a misspelled filter would answer another question, such as one about all time.
"""

from collections.abc import Collection, Mapping
from difflib import get_close_matches

from spanwise.model.errors import FieldProblem, Invalid

# What other APIs call them, in lower case.
_ALIASES = {
    **dict.fromkeys(("start", "from", "since", "after", "begin"), "startDate"),
    **dict.fromkeys(("end", "to", "until", "before"), "endDate"),
    **dict.fromkeys(("size", "pagesize", "perpage"), "limit"),
    "offset": "skip",
    "orderby": "sort",
    "interval": "granularity",
    **dict.fromkeys(("q", "query", "text"), "search"),
}


def reject_unknown(given: Mapping[str, str], known: Collection[str]) -> None:
    """Raise Invalid with the parameters that are not known, and what may have been meant."""
    problems = [
        FieldProblem(field=name, message=_describe(name, known))
        for name in given
        if name not in known
    ]
    if problems:
        raise Invalid(f"{problems[0].field}: {problems[0].message}", problems)


def _describe(name: str, known: Collection[str]) -> str:
    plain = name.lower().replace("_", "").replace("-", "")
    lowered = {one.lower(): one for one in known}
    likely = [_ALIASES.get(plain), *map(lowered.get, get_close_matches(plain, lowered, 1))]
    meant = next((one for one in likely if one in known), None)
    if meant is not None:
        return f"is not a parameter; did you mean {meant}?"
    return f"is not a parameter; there are {', '.join(sorted(known))}"
