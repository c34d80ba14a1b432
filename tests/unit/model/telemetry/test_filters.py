"""Conditions: which values fit which operators and fields."""

from typing import Any

import orjson
import pytest

from spanwise.model.errors import Invalid
from spanwise.model.telemetry.filters import (
    FilterCondition,
    Operator,
    compare,
    equal,
    parse_conditions,
)


@pytest.mark.parametrize(
    "condition",
    [
        {"field": "agent", "value": "planner"},
        {"field": "agent", "op": "exists"},
        {"field": "cost", "op": "gte", "value": 0.5},
        {"field": "inputTokens", "op": "in", "value": [1, 2]},
        {"field": "attribute:tenant id", "op": "contains", "value": "ac"},
        {"field": "attribute:size", "op": "lt", "value": 3},
        {"field": "attribute:beta", "op": "ne", "value": True},
        {"field": "attribute:any", "op": "in", "value": ["a", 1, False]},
    ],
)
def test_a_fitting_condition_is_accepted(condition: dict[str, Any]) -> None:
    [parsed] = parse_conditions(orjson.dumps([condition]).decode())
    assert parsed.model_dump(mode="json", exclude_unset=True) == condition


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ({"field": "colour", "value": "red"}, "filters.0.field"),
        ({"field": "attribute:", "value": "x"}, "filters.0.field"),
        ({"field": "agent", "op": "like", "value": "x"}, "filters.0.op"),
        ({"field": "agent"}, "eq needs one value"),
        ({"field": "agent", "value": ["x"]}, "eq needs one value"),
        ({"field": "agent", "op": "in", "value": "x"}, "in is a list"),
        ({"field": "agent", "op": "in", "value": []}, "filters.0.value"),
        ({"field": "agent", "op": "gt", "value": 1}, "a field with numbers"),
        ({"field": "agent", "value": 5}, "compared with text"),
        ({"field": "cost", "value": "5"}, "compared with numbers"),
        ({"field": "cost", "op": "contains", "value": "5"}, "contains needs a text"),
        ({"field": "name", "op": "contains", "value": ""}, "contains needs a text"),
        ({"field": "name", "op": "exists", "value": "yes"}, "true or false"),
        ({"field": "name", "value": "a\x00b"}, "filters.0.value"),
        ({"field": "name", "value": "x" * 513}, "filters.0.value"),
    ],
)
def test_a_condition_that_does_not_fit_is_refused(condition: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid) as raised:
        parse_conditions(orjson.dumps([condition]).decode())
    assert any(message in f"{d.field}: {d.message}" for d in raised.value.details), raised.value


@pytest.mark.parametrize("text", ["", "{", "{}", '"x"', "[1]", "[" + "{}," * 21 + "{}]"])
def test_anything_but_a_short_list_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as raised:
        parse_conditions(text)
    assert raised.value.details[0].field.startswith("filters")


def test_shorthands_leave_out_what_is_not_given() -> None:
    assert parse_conditions(None) == ()
    assert equal(session_id="talk", agent=None) == (
        FilterCondition(field="sessionId", value="talk"),
    )
    assert compare("cost", Operator.GTE, None) == ()
    assert compare("cost", Operator.GTE, 2) == (FilterCondition(field="cost", op="gte", value=2.0),)
