"""Ids of failures."""

import pytest

from spanwise.model.telemetry.failures import failure_id, parse_failure_id


@pytest.mark.parametrize("group", [0, 15, 2**64 - 1])
def test_an_id_is_parsed_to_its_group(group: int) -> None:
    assert parse_failure_id(failure_id(group)) == group


@pytest.mark.parametrize(
    "text",
    [
        "",
        "flr_",
        "flr_-00000000000000f",
        "flr_+00000000000000f",
        "flr_0x0000000000000f",
        "flr_0_0000000000000f",
        "flr_ 00000000000000f",
        "flr_00000000000000F0",
        "flr_000000000000000f\n",
        "fla_000000000000000f",
    ],
)
def test_other_text_is_no_id(text: str) -> None:
    assert parse_failure_id(text) is None
