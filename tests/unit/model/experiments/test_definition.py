"""An experiment evaluated as a feature flag."""

from typing import Any

import pytest

from spanwise.model.api_model import utc_now
from spanwise.model.experiments.definition import (
    DEFAULT_METRICS,
    Experiment,
    ExperimentStatus,
    Variant,
)


def experiment(*configs: dict[str, Any]) -> Experiment:
    variants = [
        Variant(key=f"v{n}", name="", weight=1, config=config) for n, config in enumerate(configs)
    ]
    return Experiment(
        id="exp_1",
        name="flag",
        description=None,
        hypothesis=None,
        agent_id=None,
        status=ExperimentStatus.RUNNING,
        variants=variants,
        metrics=DEFAULT_METRICS,
        traffic_percent=100,
        created_at=utc_now(),
        started_at=utc_now(),
        paused_at=None,
        stopped_at=None,
        winner=None,
    )


@pytest.mark.parametrize(
    ("configs", "values"),
    [
        (({}, {}), ["v0", "v1"]),
        (({"m": 1}, {"m": 2}), [{"m": 1}, {"m": 2}]),
        (({"value": 1}, {"value": 2.5}), [1, 2.5]),
        (({"value": True}, {"value": False}), [True, False]),
        (({"value": {"m": 1}}, {"m": 2}), [{"m": 1}, {"m": 2}]),
        # Older versions accepted such experiments, so they may be stored.
        (({}, {"m": 1}), ["v0", "v1"]),
        (({"value": 1}, {"value": True}), ["v0", "v1"]),
        (({"value": "x"}, {"m": 1}), ["v0", "v1"]),
    ],
)
def test_a_flag_has_one_type_for_all_variants(
    configs: tuple[dict[str, Any], ...], values: list[Any]
) -> None:
    flag = experiment(*configs)
    assert [flag.flag_value_of(variant.key) for variant in flag.variants] == values
