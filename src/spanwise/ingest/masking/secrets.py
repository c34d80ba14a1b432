"""Finds API keys, tokens, private keys and passwords."""

import re
from collections.abc import Callable

from spanwise.ingest.masking.boundaries import START

_MASKED = "[secret]"

# --- keys with a known prefix -------------------------------------------------------------------

# Keys that must contain a digit, because words may look like them.
_LOOSE = r"sk-[A-Za-z0-9_-]{20,}+"
_KEYS = (
    r"[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}+|whsec_[A-Za-z0-9+/=]{16,}+",  # Stripe
    r"AIza[A-Za-z0-9_-]{30,}+|ya29\.[A-Za-z0-9_-]{20,}+|GOCSPX-[A-Za-z0-9_-]{20,}+",  # Google
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",  # AWS
    r"gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_[A-Za-z0-9_]{22,}+|glpat-[A-Za-z0-9_-]{20,}+",
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}+|xapp-[A-Za-z0-9-]{10,}+",  # Slack
    r"hf_[A-Za-z0-9]{30,}+|gsk_[A-Za-z0-9]{30,}+|xai-[A-Za-z0-9]{30,}+|r8_[A-Za-z0-9]{30,}+",
    r"pplx-[A-Za-z0-9]{30,}+|nvapi-[A-Za-z0-9_-]{30,}+|fw_[A-Za-z0-9]{20,}+|tvly-[A-Za-z0-9-]{20,}+",
    r"pcsk_[A-Za-z0-9_]{30,}+|lsv2_(?:pt|sk)_[A-Za-z0-9_]{30,}+|dapi[0-9a-f]{32}|npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}+|dop_v1_[0-9a-f]{64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+|sw_[A-Za-z0-9]{20,}+",
)
# The characters after a prefix are part of the hint, because many texts contain `task-` alone.
KEY_HINT = (
    r"(?:sk-|[rsp]k_(?:live|test)_|whsec_|AIza|ya29\.|GOCSPX-|AKIA|ASIA|ABIA|ACCA|gh[pousr]_"
    r"|github_pat_|glpat-|xox[abeoprs]-|xapp-|hf_|gsk_|xai-|r8_|pplx-|nvapi-|fw_|tvly-|pcsk_"
    r"|lsv2_|dapi|npm_|pypi-|dop_v1_|shp(?:at|ca|pa|ss)_|SG\.|sw_)[A-Za-z0-9_+/=-]{10}"
)
_KEY = re.compile(rf"{START}(?:(?P<loose>{_LOOSE})|{'|'.join(_KEYS)})")


def mask_keys(text: str) -> str:
    return _KEY.sub(lambda match: match[0] if _is_word(match["loose"]) else _MASKED, text)


def _is_word(text: str | None) -> bool:
    return text is not None and not _has_digit(text)


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


# --- tokens, private keys -----------------------------------------------------------------------

JWT_HINT = r"eyJ[A-Za-z0-9_-]{8}"
# A start within a token is excluded: the search would take quadratic time.
_JWT = re.compile(
    r"eyJ(?:(?<![A-Za-z0-9_-]eyJ)|(?<=\\[nrt]eyJ))[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){1,3}",
    re.ASCII,
)


def mask_jwts(text: str) -> str:
    return _JWT.sub(_MASKED, text)


PRIVATE_KEY_HINT = "PRIVATE KEY"
# A key without an end was cut: all that may belong to it is masked.
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[A-Za-z0-9+/=\s\\:,]|-(?!----))*+(?:-----END [A-Z0-9 ]{1,50}-----)?"
)


def mask_private_keys(text: str) -> str:
    return _PRIVATE_KEY.sub(_MASKED, text)


# --- values after a name ------------------------------------------------------------------------

_ASSIGNED = r"[\"'\\]{0,4}\s{0,4}[:=]\s{0,4}[\"'\\]{0,4}"
_VALUE = r"[^\s\"'\\,;&<>(){}\[\]]"

AUTHORIZATION_HINT = r"(?i)authorization|bearer"
_AUTHORIZATION = re.compile(
    rf"(?i)(?P<name>authorization{_ASSIGNED}(?P<scheme>(?:bearer|basic|token|digest)\s{{1,4}})?"
    rf"|(?<![a-z0-9])bearer\s{{1,4}})(?P<value>{_VALUE}{{8,}}+)"
)


def mask_authorization(text: str) -> str:
    return _AUTHORIZATION.sub(_mask_credentials, text)


def _mask_credentials(match: re.Match[str]) -> str:
    # `bearer responsibility`, `authorization: required`
    is_prose = match["scheme"] is None and not _has_digit(match["value"])
    return match[0] if is_prose else match["name"] + _MASKED


_PASSWORD_NAME = rf"passw(?:or)?d{_ASSIGNED}"
_OTHER_NAME = (
    r"(?:api[_-]?key|(?:access|secret)[_-]?(?:access[_-]?)?key|client[_-]?secret"
    rf"|(?:access|refresh|auth)[_-]?token){_ASSIGNED}"
)
PASSWORD_HINT = rf"(?i)(?:{_PASSWORD_NAME}|{_OTHER_NAME}){_VALUE}{{8}}"
_PASSWORD = re.compile(
    rf"(?i)(?P<name>{_PASSWORD_NAME})(?P<password>{_VALUE}{{8,}}+)"
    rf"|(?P<other>{_OTHER_NAME})(?P<value>{_VALUE}{{8,}}+)"
)


def mask_passwords(text: str) -> str:
    return _PASSWORD.sub(_mask_password, text)


def _mask_password(match: re.Match[str]) -> str:
    if match["password"]:
        return match["name"] + _MASKED
    return match["other"] + _MASKED if _has_digit(match["value"]) else match[0]


URL_HINT = r"://[^\s:/@]{0,64}:[^\s/@]{1,128}@"
_URL = re.compile(r"(://[^\s:/@\"'\\]{0,64}:)[^\s/@\"'\\]{1,128}(?=@)")


def mask_url_passwords(text: str) -> str:
    return _URL.sub(rf"\1{_MASKED}", text)


# In this order: a private key or a token may contain what looks like something else.
FINDERS: tuple[tuple[str, Callable[[str], str]], ...] = (
    (PRIVATE_KEY_HINT, mask_private_keys),
    (JWT_HINT, mask_jwts),
    (KEY_HINT, mask_keys),
    (AUTHORIZATION_HINT, mask_authorization),
    (PASSWORD_HINT, mask_passwords),
    (URL_HINT, mask_url_passwords),
)
