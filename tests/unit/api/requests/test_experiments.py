"""Bodies that define or change an experiment: what is invalid in them, and where."""

from typing import Any

import pytest
from pydantic import ValidationError

from spanwise.api.requests.experiments import ExperimentChange, NewExperiment

TWO = [{"key": "control"}, {"key": "treatment"}]
MIXED: list[tuple[str, Any]] = [("a", "text"), ("b", True)]
BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"name": None}, "name"),
    ({"name": "x" * 201}, "name"),
    ({"variants": None}, "variants"),
    ({"variants": [{"key": "a"}]}, "variants"),
    ({"variants": [{"key": f"v{n}"} for n in range(11)]}, "variants"),
    ({"variants": [{"key": "a"}, {"key": "a"}]}, "variants"),
    ({"variants": [{"key": "a"}, {"name": "b"}]}, "variants.1.key"),
    ({"variants": [{"key": "a"}, {"key": ""}]}, "variants.1.key"),
    ({"variants": [{"key": "a", "weight": -1}, {"key": "b"}]}, "variants.0.weight"),
    ({"variants": [{"key": "a", "weight": True}, {"key": "b"}]}, "variants.0.weight"),
    ({"variants": [{"key": "a", "weight": "5"}, {"key": "b"}]}, "variants.0.weight"),
    ({"variants": [{"key": "a", "weight": 0}, {"key": "b", "weight": 0}]}, "variants"),
    ({"variants": [{"key": "a", "config": 5}, {"key": "b"}]}, "variants.0.config"),
    # As a flag, the variants would have values of different types.
    ({"variants": [{"key": "a"}, {"key": "b", "config": {"m": 1}}]}, "variants"),
    ({"variants": [{"key": c, "config": {"value": v}} for c, v in MIXED]}, "variants"),
    (
        {"variants": [{"key": "a", "config": {"value": "x"}}, {"key": "b", "config": {"m": 1}}]},
        "variants",
    ),
    ({"metrics": []}, "metrics"),
    ({"metrics": [{"metric": "happiness"}]}, "metrics.0.metric"),
    ({"metrics": [{"source": "trace"}]}, "metrics.0"),
    ({"metrics": [{"source": "signal"}]}, "metrics.0"),
    ({"metrics": [{"source": "moon", "metric": "cost"}]}, "metrics.0.source"),
    ({"metrics": [{"metric": "cost", "direction": "up"}]}, "metrics.0.direction"),
    ({"metrics": [{"metric": "cost"}, {"metric": "cost"}]}, "metrics"),
    ({"trafficPercent": 101}, "trafficPercent"),
    ({"trafficPercent": -1}, "trafficPercent"),
    ({"trafficPercent": "all"}, "trafficPercent"),
    ({"description": 5}, "description"),
]


@pytest.mark.parametrize("model", [NewExperiment, ExperimentChange])
@pytest.mark.parametrize(("fields", "place"), BAD, ids=str)
def test_an_invalid_field_is_refused(
    model: type[NewExperiment | ExperimentChange], fields: dict[str, Any], place: str
) -> None:
    body = {"name": "prompt", "variants": TWO} if model is NewExperiment else {}
    with pytest.raises(ValidationError) as raised:
        model.model_validate({**body, **fields})
    assert [".".join(map(str, error["loc"])) for error in raised.value.errors()] == [place]


def test_a_signal_metric_without_a_source_says_what_is_missing() -> None:
    with pytest.raises(ValidationError, match="or the source signal and a signalName"):
        ExperimentChange.model_validate({"metrics": [{"signalName": "rating"}]})


@pytest.mark.parametrize("field", ["name", "variants", "metrics", "trafficPercent"])
def test_required_fields_cannot_be_removed(field: str) -> None:
    with pytest.raises(ValidationError) as raised:
        ExperimentChange.model_validate({field: None})
    assert [error["loc"] for error in raised.value.errors()] == [(field,)]


def test_default_key_and_direction_follow_the_measure() -> None:
    metrics = [{"metric": "tokens"}, {"source": "signal", "signalName": "rating"}]
    made = NewExperiment.model_validate({"name": "prompt", "variants": TWO, "metrics": metrics})
    assert [(m.key, m.direction, m.primary) for m in made.to_fields()["metrics"]] == [
        ("tokens", "decrease", True),
        ("rating", "increase", False),
    ]
