"""The program of docs/experiments.md chooses the variants that the service chooses."""

import re
from pathlib import Path
from typing import Any

from support.experiments import start
from support.service import Person, Service

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"
UNITS = [f"user-{number}" for number in range(500)] + ["ünit ☃ &?/", "x" * 512]


async def assign_all(person: Person, experiment: dict[str, Any]) -> dict[str, str | None]:
    path = f"/experiments/{experiment['id']}/assign/batch"
    assigned = await person.data("POST", path, json={"unitIds": UNITS})
    return {one["unitId"]: one["variant"] if one["inExperiment"] else None for one in assigned}


async def test_a_client_can_compute_variants(service: Service) -> None:
    [program] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    variants = [{"key": "a", "weight": 30}, {"key": "b", "weight": 0}, {"key": "c", "weight": 50.5}]
    ann = await service.sign_up()
    for percent in (100, 40):
        running = await start(ann, variants=variants, trafficPercent=percent)
        experiment = await ann.data("GET", f"/experiments/{running['id']}")
        chosen = {unit: names["assign"](experiment, unit) for unit in UNITS}
        expected = await assign_all(ann, running)
        assert {unit: one and one["key"] for unit, one in chosen.items()} == expected
        assert set(expected.values()) == {"a", "c"} | ({None} if percent < 100 else set())
