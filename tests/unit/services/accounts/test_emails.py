"""The form in which addresses are stored and compared."""

import pytest

from spanwise.services.accounts.emails import normalize_email


@pytest.mark.parametrize(
    ("email", "stored"),
    [
        (" Ann@Example.COM ", "ann@example.com"),
        # The Kelvin sign, whose lower case is the letter k.
        ("chec\u212a@example.com", "chec\u212a@example.com"),
        ("J\u0130M@example.com", "j\u0130m@example.com"),
    ],
)
def test_only_ascii_letters_are_folded(email: str, stored: str) -> None:
    assert normalize_email(email) == stored
