"""`Cache-Control: max-age` limits the age of a response."""

import pytest
from starlette.requests import Request

from spanwise.api.freshness import requested_freshness
from spanwise.model.freshness import LATEST, Freshness


def request_with(header: str | None) -> Request:
    headers = [] if header is None else [(b"cache-control", header.encode())]
    return Request({"type": "http", "headers": headers})


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("max-age=5", Freshness(5)),
        ("private, Max-Age=30", Freshness(30)),
        ("max-age=0", LATEST),
        ("max-age=3600", Freshness(60)),
        (None, LATEST),
        ("no-cache", LATEST),
        ("s-max-age=5", LATEST),
        ("max-age=5x", LATEST),
        ("max-age=-5", LATEST),
        ("max-age=9999999999", LATEST),
    ],
)
async def test_max_age_is_parsed(header: str | None, expected: Freshness) -> None:
    assert await requested_freshness(request_with(header)) == expected
