"""A misspelled filter is an error, not another question.

`unit/api/requests/test_misnamed_parameters.py` tests which names are misspelled.
"""

import pytest

from support.service import Person, Service, assert_error


@pytest.mark.parametrize(
    ("path", "given", "meant"),
    [
        ("/spans/traces", "startTime", "startDate"),
        ("/spans/sessions", "offset", "skip"),
        ("/analytics/traces/list", "q", "search"),
        ("/analytics/traces/error-rate", "interval", "granularity"),
        ("/logs", "traceID", "traceId"),
        ("/signals", "since", "startDate"),
    ],
)
async def test_the_right_name_is_given(person: Person, path: str, given: str, meant: str) -> None:
    response = await person.call("GET", path, params={given: "2026-01-01"})
    assert_error(response, 400, given)
    message = response.json()["error"]["details"][0]["message"]
    assert message == f"is not a parameter; did you mean {meant}?"


async def test_credentials_are_checked_first(service: Service) -> None:
    assert_error(await service.call("GET", "/spans/traces", params={"start": "1"}), 401)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/spans/traces", "utm_source"),
        # These routes have no such parameter.
        ("/spans/filters", "agentId"),
        ("/analytics/metrics", "limit"),
        ("/users/profile", "start"),
    ],
)
async def test_other_parameters_are_ignored(person: Person, path: str, name: str) -> None:
    await person.data("GET", path, params={name: "1"})


async def test_every_read_of_analytics_takes_the_common_parameters(
    service: Service, person: Person
) -> None:
    document = (await service.call("GET", "/openapi.json")).json()
    reads = [
        path.removeprefix("/api")
        for path, item in document["paths"].items()
        if path.startswith(
            ("/api/analytics/traces", "/api/analytics/metrics", "/api/analytics/cost")
        )
        and "get" in item
    ]
    assert len(reads) == 11
    params = {"startDate": "2026-01-01", "endDate": "2026-01-02", "agentId": "a"}
    params |= {"granularity": "weekly", "limit": "1", "skip": "0"}
    for path in reads:
        response = await person.call("GET", path, params=params)
        assert response.status_code == 200, (path, response.text)
