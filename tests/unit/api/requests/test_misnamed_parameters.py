"""Parameters that resemble another one are refused, with the name that is meant."""

import pytest

from spanwise.api.requests.misnamed_parameters import reject_misnamed
from spanwise.model.errors import Invalid

LIST = ("startDate", "endDate", "agentId", "traceId", "limit", "skip", "sort", "search")
SERIES = ("startDate", "endDate", "granularity")


@pytest.mark.parametrize(
    ("known", "given", "meant"),
    [
        (LIST, "startTime", "startDate"),
        (LIST, "end_date", "endDate"),
        (LIST, "agent", "agentId"),
        (LIST, "traceID", "traceId"),
        (LIST, "offset", "skip"),
        (LIST, "pageSize", "limit"),
        (LIST, "orderBy", "sort"),
        (LIST, "q", "search"),
        (SERIES, "from", "startDate"),
        (SERIES, "since", "startDate"),
        (SERIES, "to", "endDate"),
        (SERIES, "interval", "granularity"),
    ],
)
def test_the_right_name_is_given(known: tuple[str, ...], given: str, meant: str) -> None:
    with pytest.raises(Invalid) as raised:
        reject_misnamed({given: "2026-01-01"}, known)
    [problem] = raised.value.details
    assert (problem.field, problem.message) == (
        given,
        f"is not a parameter; did you mean {meant}?",
    )


def test_all_misnamed_parameters_are_named() -> None:
    given = {"starttime": "2026-01-01", "until": "2026-01-02", "colour": "red"}
    with pytest.raises(Invalid) as raised:
        reject_misnamed(given, LIST)
    assert [problem.field for problem in raised.value.details] == ["starttime", "until"]


@pytest.mark.parametrize("name", ["startDate", "utm_source", "_", "agentId", "limit"])
def test_other_parameters_are_ignored(name: str) -> None:
    reject_misnamed({name: "1"}, SERIES)
