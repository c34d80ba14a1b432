"""Masking rules: bounds and the patterns that are refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from spanwise.model.masking import MaskingMode, MaskingRules


def problems(**rules: Any) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        MaskingRules.model_validate(rules)
    return [(".".join(map(str, p["loc"])), p["msg"]) for p in caught.value.errors()]


def test_rules_are_camel_case_in_json() -> None:
    body = {
        "mode": "metadataOnly",
        "detectors": ["email", "creditCard", "email"],
        "patterns": [{"name": "emp", "regex": r"EMP-\d+"}],
        "dropAttributes": ["http.request.header.*"],
    }
    assert MaskingRules.model_validate(body).model_dump(mode="json") == {
        **body,
        "detectors": ["email", "creditCard"],
    }
    assert MaskingRules().mode is MaskingMode.OFF


@pytest.mark.parametrize(
    ("regex", "reason"),
    [
        (r"(a)\1", "back-references"),
        (r"(?=a)b", "look-around"),
        (r"(?<!a)b", "look-around"),
        (r"(a", "not a valid RE2 pattern"),
        (r"a{1001}", "not a valid RE2 pattern"),
        (r"(?:\w{1,100}x){9}", "too large"),
        (r"\pL{1,100}", "too large"),
        (r"a*", "empty text"),
        (r"^", "empty text"),
        ("a\x00", "NUL"),
        ("", "at least 1"),
        ("a" * 501, "at most 500"),
    ],
)
def test_a_pattern_that_may_be_slow_or_is_invalid_is_refused(regex: str, reason: str) -> None:
    patterns = [{"name": "good", "regex": "x"}, {"name": "bad", "regex": regex}]
    ((field, message),) = problems(mode="mask", patterns=patterns)
    assert field == "patterns.1.regex"
    assert reason in message


@pytest.mark.parametrize(
    ("rules", "field"),
    [
        ({"mode": "some"}, "mode"),
        ({"detectors": ["fax"]}, "detectors.0"),
        ({"patterns": [{"name": "a b", "regex": "x"}]}, "patterns.0.name"),
        ({"patterns": [{"name": "a" * 41, "regex": "x"}]}, "patterns.0.name"),
        ({"patterns": [{"name": "a\n", "regex": "x"}]}, "patterns.0.name"),
        ({"patterns": [{"name": "a", "regex": "x"}] * 2}, "patterns"),
        ({"patterns": [{"name": f"a{n}", "regex": "x"} for n in range(21)]}, "patterns"),
        ({"dropAttributes": ["x"] * 51}, "dropAttributes"),
        ({"dropAttributes": ["x" * 201]}, "dropAttributes.0"),
        ({"dropAttributes": [""]}, "dropAttributes.0"),
    ],
)
def test_rules_have_bounds(rules: dict[str, Any], field: str) -> None:
    assert [found for found, _ in problems(**rules)] == [field]
