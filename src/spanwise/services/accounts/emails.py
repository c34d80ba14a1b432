"""E-mail addresses: validation, and the form in which they are stored and compared."""

from string import ascii_lowercase, ascii_uppercase

from email_validator import SPECIAL_USE_DOMAIN_NAMES, EmailNotValidError, validate_email

# Private installations use addresses such as me@corp.local and me@localhost. The library rejects
# these "special use" domains unless its list is cleared.
SPECIAL_USE_DOMAIN_NAMES.clear()

_TO_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def parse_email(text: str) -> str:
    """Return a valid address; raises ValueError with what is wrong."""
    try:
        return validate_email(
            text, check_deliverability=False, globally_deliverable=False
        ).normalized
    except EmailNotValidError as error:
        raise ValueError(str(error)) from None


def normalize_email(email: str) -> str:
    """Lower-case an address; addresses are stored and compared this way.

    Only A to Z: Unicode has other characters whose lower case is an ASCII letter, such as the
    Kelvin sign, and two people could get the same address.
    """
    return email.strip().translate(_TO_LOWER)
