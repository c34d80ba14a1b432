"""Rows of a batch that cannot be stored are reported, and the others are stored.

`unit/ingest/test_rest_bodies.py` tests which rows those are.
"""

from typing import Any

from support.service import Service, assert_error
from support.spans import span

TOO_OLD = "1999-12-31T23:59:59Z"


async def test_spans_that_are_too_old_are_reported_and_the_others_stored(service: Service) -> None:
    ann = await service.sign_up()
    batch = [span(startTime=TOO_OLD) if n % 5 else span() for n in range(250)]
    answer = await ann.call("POST", "/spans", json={"spans": batch})
    assert answer.status_code == 201
    data = answer.json()["data"]
    assert (data["accepted"], data["rejected"]) == (50, 200)
    assert [row["index"] for row in data["details"]] == [n for n in range(250) if n % 5][:100]
    reason = "startTime: must lie after 1999 and at most two days ahead"
    assert {row["reason"] for row in data["details"]} == {reason}
    # Without rejections there is only the accepted count.
    assert await ann.data("POST", "/spans", json={"spans": [span()]}) == {"accepted": 1}
    listed = await ann.call("GET", "/spans/traces")
    assert listed.json()["pagination"]["total"] == 51


async def test_a_refused_request_stores_nothing(service: Service) -> None:
    ann = await service.sign_up()
    too_old = [span(startTime=TOO_OLD) for _ in range(150)]
    every = [f"spans[{n}].startTime" for n in range(100)]
    refused: list[tuple[Any, list[str]]] = [
        ({"spans": too_old}, every),
        ({"spans": [span(), span(cost="0.1"), too_old[0]]}, ["spans[1].cost"]),
        (too_old[0], ["startTime"]),
    ]
    for body, fields in refused:
        assert_error(await ann.call("POST", "/spans", json=body), 400, *fields)
    assert await ann.data("GET", "/spans/traces") == []
