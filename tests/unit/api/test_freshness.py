"""`Cache-Control` says which writes a response may lack."""

import pytest

from spanwise.api.freshness import parse_freshness
from spanwise.model.accounts import Principal
from spanwise.model.freshness import Freshness
from spanwise.model.workspaces import WorkspaceRole

ANN = Principal("usr_ann", "wsp_1", WorkspaceRole.OWNER)
OWN = Freshness("wsp_1", "usr_ann")
EVERYTHING = Freshness("wsp_1")


def own(max_age_seconds: float) -> Freshness:
    return Freshness("wsp_1", "usr_ann", max_age_seconds)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("max-age=5", own(5)),
        ("private, Max-Age=30", own(30)),
        ("max-age=0", OWN),
        ("max-age=3600", own(60)),
        ("", OWN),
        ("no-cache", EVERYTHING),
        ("no-store, No-Cache", EVERYTHING),
        ("no-cache, max-age=5", EVERYTHING),
        ("no-cacheable", OWN),
        ("s-max-age=5", OWN),
        ("max-age=5x", OWN),
        ("max-age=-5", OWN),
        ("max-age=9999999999", OWN),
    ],
)
def test_cache_control_is_parsed(header: str, expected: Freshness) -> None:
    assert parse_freshness(ANN, header) == expected


def test_a_key_is_a_caller_of_its_own() -> None:
    key = Principal("usr_ann", "wsp_1", WorkspaceRole.OWNER, key_id="key_1")
    assert parse_freshness(key, "") == Freshness("wsp_1", "key_1")
