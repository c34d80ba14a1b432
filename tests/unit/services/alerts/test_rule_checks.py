"""Alert rules with fields that are invalid, missing or contradict each other."""

from typing import Any

import pytest
from pydantic import ValidationError

from spanwise.model.alerts import AlertRule
from spanwise.model.errors import Invalid
from spanwise.services.alerts.rule_checks import check_rules

RULE = {"id": "errors", "metric": "errorRate", "condition": "above", "threshold": 0.5}
QUERY = {"metric": "query", "measure": "count", "condition": "above", "threshold": 1}
SIGNAL = {"metric": "signal", "signalName": "x", "condition": "below", "threshold": 1}
FILTERS = [{"field": "model", "value": "x"}]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"threshold": "0.5"}, "threshold"),
        ({"metric": "errors"}, "metric"),
        ({"condition": "over"}, "condition"),
        ({"windowMinutes": 0}, "windowMinutes"),
        ({"forMinutes": 1.5}, "forMinutes"),
        ({"minSamples": -1}, "minSamples"),
        ({"severity": "fatal"}, "severity"),
        ({"id": "a b"}, "id"),
    ],
)
def test_a_field_has_its_type_and_bounds(change: dict[str, Any], field: str) -> None:
    with pytest.raises(ValidationError) as refused:
        AlertRule.model_validate({**RULE, **change})
    assert {error["loc"][0] for error in refused.value.errors()} == {field}


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({**RULE, "threshold": None}, "threshold"),
        ({**RULE, "threshold": 1.5}, "threshold"),
        ({**RULE, "metric": "cost", "threshold": -1}, "threshold"),
        ({**QUERY, "measure": "errorRate", "threshold": 2}, "threshold"),
        ({**RULE, "condition": "anomaly"}, "threshold"),
        ({**RULE, "sensitivity": "high"}, "sensitivity"),
        (
            {**RULE, "condition": "anomaly", "threshold": None, "windowMinutes": 61},
            "windowMinutes",
        ),
        ({**RULE, "metric": "signal"}, "signalName"),
        ({**RULE, "signalName": "rating"}, "signalName"),
        ({**QUERY, "measure": None}, "measure"),
        ({**RULE, "measure": "count"}, "measure"),
        ({**QUERY, "measure": "p95TimeToFirstToken", "of": "traces"}, "of"),
        ({**RULE, "metric": "newFailureGroup", "condition": "below"}, "condition"),
        ({**SIGNAL, "filters": FILTERS}, "filters"),
        ({**RULE, "metric": "newFailureGroup", "threshold": 0, "filters": FILTERS}, "filters"),
    ],
)
def test_fields_that_contradict_each_other_are_named(rule: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_rules([AlertRule.model_validate({**rule, "id": "r"})])
    assert [problem.field for problem in refused.value.details] == [f"rules.0.{field}"]


def test_the_message_names_the_rule_of_many() -> None:
    other = {**RULE, "name": "Second", "threshold": None}
    with pytest.raises(Invalid, match="rule 'Second': ") as refused:
        check_rules([AlertRule.model_validate(rule) for rule in (RULE, other)])
    assert [p.field for p in refused.value.details] == ["rules.1.threshold", "rules.1.id"]


@pytest.mark.parametrize("rule", [RULE, QUERY, SIGNAL, {**SIGNAL, "threshold": -1}])
def test_a_rule_without_contradiction_is_accepted(rule: dict[str, Any]) -> None:
    check_rules([AlertRule.model_validate(rule)])
