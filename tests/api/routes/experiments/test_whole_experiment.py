"""A complete experiment with thousands of users and a known effect, using only the public API."""

import random

import pytest

from support.experiments import start
from support.outcomes import make_trace, send_signals, send_traces
from support.service import Service

METRICS = [
    {"metric": "successRate", "primary": True},
    {"metric": "latency"},
    {"metric": "cost"},
    {"source": "signal", "signalName": "rating"},
]
SUCCESS = {"control": 0.6, "treatment": 0.75}


@pytest.mark.parametrize("users", [2000, pytest.param(10_000, marks=pytest.mark.long)])
async def test_a_known_effect_is_detected(service: Service, users: int) -> None:
    ann = await service.sign_up()
    # Who gets which variant depends on the experiment's id. A sequence for each variant makes the
    # outcomes the same whoever gets it.
    chances = {variant: random.Random(f"20260131 {variant}") for variant in SUCCESS}
    experiment = await start(ann, name="prompt", metrics=METRICS)
    path = f"/experiments/{experiment['id']}"
    variants: dict[str, str] = {}
    for first in range(0, users, 1000):
        units = [f"user-{number}" for number in range(first, first + 1000)]
        batch = await ann.data("POST", f"{path}/assign/batch", json={"unitIds": units})
        variants.update((a["unitId"], a["variant"]) for a in batch)
    # Success rises by a quarter, latency falls by a tenth, cost and rating stay as they are.
    await send_traces(
        ann,
        [
            make_trace(
                userId=user,
                ok=chance.random() < SUCCESS[variant],
                ms=chance.lognormvariate(6, 0.5) * (0.9 if variant == "treatment" else 1),
                cost=chance.lognormvariate(-4, 0.5),
            )
            for user, variant in variants.items()
            for chance in (chances[variant],)
        ],
    )
    ratings = [
        {"signalName": "rating", "value": chances[variant].choice([1, 2, 3, 4, 5]), "userId": user}
        for user, variant in list(variants.items())[:1000]
    ]
    await send_signals(ann, ratings)

    results = await ann.data("GET", f"{path}/results")
    assert results["units"] == users
    assert results["srm"]["ok"] is True
    found = {m["key"]: m["variants"][1] for m in results["metrics"]}
    for key, truth in {"successRate": 0.25, "latency": -0.1, "cost": 0, "rating": 0}.items():
        bounds = found[key]["liftCi"]
        assert bounds["lower"] < truth < bounds["upper"], key
    assert found["successRate"]["significant"] is True
    assert found["successRate"]["chanceToWin"] > 0.999
    assert found["latency"]["significant"] is True
    assert found["latency"]["chanceToWin"] > 0.999
    assert found["cost"]["significant"] is False
    assert found["rating"]["significant"] is False
    assert results["verdict"]["decision"] == "ship"
    assert results["verdict"]["variant"] == "treatment"
    trend = results["metrics"][0]["trend"]
    assert [v["units"] for v in trend[-1]["variants"]] == [
        v["units"] for v in results["perVariant"]
    ]
    assert trend[-1]["variants"][1]["liftCi"] == found["successRate"]["liftCi"]
