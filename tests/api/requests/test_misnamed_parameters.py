"""A misspelled filter is an error, not another question."""

import pytest

from support.service import Service, assert_error


@pytest.mark.parametrize(
    ("path", "given", "meant"),
    [
        ("/spans/traces", "startTime", "startDate"),
        ("/spans/traces", "end_date", "endDate"),
        ("/spans/traces", "agent", "agentId"),
        ("/spans/sessions", "offset", "skip"),
        ("/analytics/metrics", "from", "startDate"),
        ("/analytics/costs", "to", "endDate"),
        ("/analytics/traces/list", "q", "search"),
        ("/analytics/traces/error-rate", "interval", "granularity"),
        ("/logs", "traceID", "traceId"),
        ("/signals", "since", "startDate"),
    ],
)
async def test_the_right_name_is_given(service: Service, path: str, given: str, meant: str) -> None:
    person = await service.sign_up()
    response = await person.call("GET", path, params={given: "2026-01-01"})
    assert_error(response, 400, given)
    message = response.json()["error"]["details"][0]["message"]
    assert message == f"is not a parameter; did you mean {meant}?"


async def test_all_misnamed_parameters_are_named(service: Service) -> None:
    person = await service.sign_up()
    params = {"starttime": "2026-01-01", "until": "2026-01-02", "colour": "red"}
    response = await person.call("GET", "/spans/filters", params=params)
    assert_error(response, 400, "starttime", "until")


async def test_credentials_are_checked_first(service: Service) -> None:
    assert_error(await service.call("GET", "/spans/traces", params={"start": "1"}), 401)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/spans/traces", "utm_source"),
        ("/spans/traces", "_"),
        # These routes have no such parameter.
        ("/spans/filters", "agentId"),
        ("/analytics/metrics", "limit"),
        ("/users/profile", "start"),
    ],
)
async def test_other_parameters_are_ignored(service: Service, path: str, name: str) -> None:
    person = await service.sign_up()
    await person.data("GET", path, params={name: "1"})


async def test_every_read_of_analytics_takes_the_common_parameters(service: Service) -> None:
    person = await service.sign_up()
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
    for path in reads:
        for granularity in ("hourly", "daily", "weekly", "monthly"):
            response = await person.call(
                "GET", path, params={**params, "granularity": granularity, "limit": 1, "skip": 0}
            )
            assert response.status_code == 200, (path, response.text)
