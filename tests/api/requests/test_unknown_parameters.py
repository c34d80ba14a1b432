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


async def test_all_unknown_parameters_are_named(service: Service) -> None:
    person = await service.sign_up()
    response = await person.call("GET", "/spans/filters", params={"x": "1", "startDate": "no"})
    assert_error(response, 400, "x")
    assert (
        response.json()["error"]["message"] == "x: is not a parameter; there are endDate, startDate"
    )
    params = {"x": "1", "colour": "red"}
    assert_error(await person.call("GET", "/spans/traces", params=params), 400, "x", "colour")


async def test_credentials_are_checked_first(service: Service) -> None:
    assert_error(await service.call("GET", "/spans/traces", params={"x": "1"}), 401)


async def test_other_routes_ignore_them(service: Service) -> None:
    person = await service.sign_up()
    await person.data("GET", "/users/profile", params={"x": "1"})
