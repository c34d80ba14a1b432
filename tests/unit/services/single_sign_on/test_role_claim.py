"""The forms of the role claim."""

import pytest

from spanwise.services.single_sign_on.role_claim import MAX_ENTRIES, read_roles


@pytest.mark.parametrize(
    "value",
    [
        ["wsp_a:viewer", "wsp_b:owner"],
        {"wsp_a": "viewer", "wsp_b": "owner"},
        "wsp_a:viewer wsp_b:owner",
        "wsp_a:viewer, wsp_b:owner",
        ["staff", "wsp_a:viewer", "wsp_b:owner", "wsp_c:king", ":viewer", "", 7, None],
    ],
)
def test_lists_maps_and_text_are_read(value: object) -> None:
    assert read_roles(value) == {"wsp_a": "viewer", "wsp_b": "owner"}


@pytest.mark.parametrize("value", [None, 7, True, [], {}, "", "staff", [["wsp_a", "viewer"]]])
def test_anything_else_gives_no_roles(value: object) -> None:
    assert read_roles(value) == {}


def test_the_higher_of_two_roles_counts() -> None:
    for value in (["wsp_a:admin", "wsp_a:viewer"], ["wsp_a:viewer", "wsp_a:admin"]):
        assert read_roles(value) == {"wsp_a": "admin"}


def test_the_number_of_entries_is_limited() -> None:
    assert len(read_roles([f"wsp_{n}:viewer" for n in range(MAX_ENTRIES + 5)])) == MAX_ENTRIES
