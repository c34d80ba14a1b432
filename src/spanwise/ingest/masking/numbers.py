"""Finds card numbers, IBANs and IP addresses, which can be checked."""

import re
import socket
import string

from spanwise.ingest.masking.boundaries import END, START, compile_candidates, replace_values

# --- cards --------------------------------------------------------------------------------------

CARD_HINT = r"[0-9](?:[ -]?[0-9]){11}"

_CARD_CANDIDATES = compile_candidates("[2-6]")
_CARD = re.compile(
    rf"""{START} (?<![0-9]\.) (?:
    3[47][0-9]{{2}} (?P<amex> [ -]? ) [0-9]{{6}} (?P=amex) [0-9]{{5}}
    | 3[0689][0-9]{{2}} (?P<diners> [ -]? ) [0-9]{{6}} (?P=diners) [0-9]{{4}}
    | [2-6][0-9]{{3}} (?P<other> [ -]? ) [0-9]{{4}} (?P=other) [0-9]{{4}} (?P=other)
        [0-9]{{4}} (?P<rest> (?P=other) [0-9]{{1,3}} )?
    | [56][0-9]{{11,14}}
    ) {END} (?! \.[0-9] )""",
    re.VERBOSE,
)
# Prefix and number of digits of the issuers. Without it, every tenth id would pass the check digit.
_ISSUED = re.compile(
    r"4[0-9]{15}|5[1-5][0-9]{14}|2(?:2[2-9]|[3-6][0-9]|7[01])[0-9]{13}|2720[0-9]{12}"
    r"|3[47][0-9]{13}|3(?:0[0-59]|[689][0-9])[0-9]{11}|35(?:2[89]|[3-8][0-9])[0-9]{12}"
    r"|6(?:011|4[4-9][0-9]|5[0-9]{2})[0-9]{12}|62[0-9]{14,17}"
    r"|(?:5018|5020|5038|5893|6304|6759|676[1-3])[0-9]{8,15}"
)
_DOUBLED = str.maketrans("0123456789", "0246813579")


def mask_cards(text: str) -> str:
    return replace_values(text, _CARD_CANDIDATES, _CARD, "[creditCard]", _find_card_end)


def _find_card_end(match: re.Match[str]) -> int | None:
    if _is_card(match[0]):
        return match.end()
    # A short number after a card number.
    shorter = match["other"] and match["rest"] and match[0].removesuffix(match["rest"])
    return match.start("rest") if shorter and _is_card(shorter) else None


def _is_card(text: str) -> bool:
    digits = text.replace(" ", "").replace("-", "")
    return _ISSUED.fullmatch(digits) is not None and _passes_luhn(digits)


def _passes_luhn(digits: str) -> bool:
    doubled = digits[-2::-2].translate(_DOUBLED)
    return sum(map(int, digits[-1::-2] + doubled)) % 10 == 0


# --- IBANs --------------------------------------------------------------------------------------

IBAN_HINT = r"[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11}"

# The first check digit, because text has more letters than digits.
_IBAN_CANDIDATES = re.compile("[0-9](?<=[A-Za-z][A-Za-z].)")
_IBAN_START = re.compile(rf"{START}[A-Za-z]{{2}}[0-9]{{2}}(?=[ -]?[A-Za-z0-9])")
_IBAN_LENGTHS = {
    country: int(length)
    for country, length in re.findall(
        "([A-Z]{2})([0-9]{2})",
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 "
        "DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 "
        "IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 "
        "MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 "
        "SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30",
    )
}
_IBAN_REST = {
    length: re.compile(rf"(?:[ -]?[A-Za-z0-9]){{{length}}}{END}")
    for length in set(_IBAN_LENGTHS.values())
}
_LETTER_VALUES = str.maketrans({c: str(int(c, 36)) for c in string.ascii_uppercase})


def mask_ibans(text: str) -> str:
    return replace_values(
        text, _IBAN_CANDIDATES, _IBAN_START, "[iban]", _find_iban_end, characters_before=2
    )


def _find_iban_end(match: re.Match[str]) -> int | None:
    length = _IBAN_LENGTHS.get(match[0][:2].upper())
    rest = _IBAN_REST[length].match(match.string, match.start()) if length else None
    return rest.end() if rest and _passes_mod97(rest[0]) else None


def _passes_mod97(iban: str) -> bool:
    iban = iban.replace(" ", "").replace("-", "").upper()
    return int((iban[4:] + iban[:4]).translate(_LETTER_VALUES)) % 97 == 1


# --- IP addresses -------------------------------------------------------------------------------

IPV4_HINT = r"[0-9]\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]"
IPV6_HINT = r"[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:[0-9A-Fa-f.]{0,4}"

_IPV4_CANDIDATES = compile_candidates("[0-9]")
# Not after `Chrome/`: versions of browsers have four parts.
_IPV4 = re.compile(
    rf"{START}(?<![0-9]\.)(?<![A-Za-z]/)(?<![vV]\.)[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}}{END}"
    r"(?!\.[0-9])"
)
_IPV6_CANDIDATES = re.compile(
    r"[0-9A-Fa-f:](?=[0-9A-Fa-f]{0,3}:)(?:(?<![0-9A-Za-z:.].)|(?<=\\[nrtbf].))"
)
_IPV6 = re.compile(
    rf"{START}(?<![:.])(?:[0-9A-Fa-f]{{1,4}}:|::?)(?:[0-9A-Fa-f]{{0,4}}:){{1,7}}"
    r"(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9A-Fa-f]{1,4})?(?![0-9A-Za-z:])"
)
_MIN_IPV6_CHARACTERS = 3
_DIGIT = re.compile("[0-9]")


def mask_ipv4(text: str) -> str:
    return replace_values(text, _IPV4_CANDIDATES, _IPV4, "[ipAddress]", _find_ipv4_end)


def mask_ipv6(text: str) -> str:
    return replace_values(text, _IPV6_CANDIDATES, _IPV6, "[ipAddress]", _find_ipv6_end)


def _find_ipv4_end(match: re.Match[str]) -> int | None:
    return match.end() if _is_address(socket.AF_INET, match[0]) else None


def _find_ipv6_end(match: re.Match[str]) -> int | None:
    address = match[0]
    # `a::b` is the name of a function more often than an address.
    if len(address) < _MIN_IPV6_CHARACTERS or _DIGIT.search(address) is None:
        return None
    return match.end() if _is_address(socket.AF_INET6, address) else None


def _is_address(family: socket.AddressFamily, text: str) -> bool:
    # `ipaddress` takes ten times as long.
    try:
        socket.inet_pton(family, text)
    except OSError:
        return False
    return True
