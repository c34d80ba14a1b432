"""Assignment: deterministic, stored before the response, dependent on the experiment's status."""

from collections import Counter
from typing import Any

from spanwise.analysis.assignment import choose_variant, is_in_traffic
from support.experiments import create, start
from support.service import Person, Service, assert_error

UNITS = [f"user-{number}" for number in range(1000)]


async def assign(person: Person, experiment: dict[str, Any], unit: str) -> dict[str, Any]:
    path = f"/experiments/{experiment['id']}/assign"
    assigned: dict[str, Any] = await person.data("GET", path, params={"unitId": unit})
    return assigned


async def assign_all(
    person: Person, experiment: dict[str, Any], units: list[str]
) -> list[dict[str, Any]]:
    path = f"/experiments/{experiment['id']}/assign/batch"
    assigned: list[dict[str, Any]] = await person.data("POST", path, json={"unitIds": units})
    return assigned


async def exposures(service: Service, experiment: dict[str, Any]) -> dict[str, int]:
    """Return the number of stored exposure rows per unit."""
    await service.services.ingest.pipeline.wait_until_visible()
    rows = await service.services.engine.fetch(
        "SELECT unit_id, count() AS rows FROM exposures WHERE experiment_id = {id:String} "
        "GROUP BY unit_id",
        {"id": experiment["id"]},
    )
    return {row["unit_id"]: row["rows"] for row in rows}


async def test_a_unit_keeps_the_variant_of_its_hash(service: Service) -> None:
    ann = await service.sign_up()
    variants = [{"key": "a", "config": {"model": "x"}}, {"key": "b", "config": {"model": "y"}}]
    running = await start(ann, variants=variants)
    for unit in ("user-1", "user-2", "ünit ☃ &?/"):
        first = await assign(ann, running, unit)
        expected = variants[choose_variant(running["id"], unit, [1, 1])]
        assert first == {
            "experimentId": running["id"],
            "unitId": unit,
            "variant": expected["key"],
            "config": expected["config"],
            "inExperiment": True,
            "assignedAt": first["assignedAt"],
        }
        assert first["assignedAt"] > running["startedAt"]
        assert await assign(ann, running, unit) == first


async def test_an_exposure_is_stored_once_per_unit(service: Service) -> None:
    ann = await service.sign_up()
    running = await start(ann)
    for _ in range(3):
        await assign(ann, running, "user-1")
    await assign_all(ann, running, ["user-1", "user-2", "user-2"])
    assert await exposures(service, running) == {"user-1": 1, "user-2": 1}


async def test_a_batch_is_answered_in_order_and_split_by_weight(service: Service) -> None:
    ann = await service.sign_up()
    variants = [{"key": "a", "weight": 80}, {"key": "b", "weight": 20}, {"key": "c", "weight": 0}]
    running = await start(ann, variants=variants)
    assigned = await assign_all(ann, running, UNITS)
    assert [a["unitId"] for a in assigned] == UNITS
    counts = Counter(a["variant"] for a in assigned)
    assert set(counts) == {"a", "b"}
    assert 740 < counts["a"] < 860
    assert set(await exposures(service, running)) == set(UNITS)


async def test_units_outside_the_traffic_get_the_control_until_there_is_more(
    service: Service,
) -> None:
    """More traffic keeps existing assignments."""
    ann = await service.sign_up()
    running = await start(ann, trafficPercent=30)
    assigned = await assign_all(ann, running, UNITS)
    inside = {a["unitId"] for a in assigned if a["inExperiment"]}
    assert inside == {unit for unit in UNITS if is_in_traffic(running["id"], unit, 30)}
    assert {a["variant"] for a in assigned if not a["inExperiment"]} == {"control"}
    assert set(await exposures(service, running)) == inside

    before = {a["unitId"]: a for a in assigned if a["inExperiment"]}
    path = f"/experiments/{running['id']}"
    await ann.data("POST", f"{path}/pause")
    await ann.data("POST", f"{path}/start", json={"trafficPercent": 90})
    after = {a["unitId"]: a for a in await assign_all(ann, running, UNITS) if a["inExperiment"]}
    assert len(after) > 2 * len(before)
    assert {unit: after[unit] for unit in before} == before


async def test_a_paused_experiment_keeps_its_units_and_adds_none(service: Service) -> None:
    ann = await service.sign_up()
    running = await start(ann)
    inside = await assign_all(ann, running, UNITS[:20])
    await ann.data("POST", f"/experiments/{running['id']}/pause")
    kept = await assign_all(ann, running, UNITS[:40])
    assert kept[:20] == inside
    assert {(a["variant"], a["inExperiment"]) for a in kept[20:]} == {("control", False)}
    assert set(await exposures(service, running)) == set(UNITS[:20])
    assert await assign(ann, running, UNITS[3]) == inside[3]


async def test_a_stopped_experiment_assigns_the_winner_to_all_units(service: Service) -> None:
    ann = await service.sign_up()
    for winner, expected in (("treatment", "treatment"), (None, "control")):
        running = await start(ann)
        await assign_all(ann, running, UNITS[:20])
        await ann.data("POST", f"/experiments/{running['id']}/stop", json={"winner": winner})
        after = await assign_all(ann, running, UNITS[:40])
        assert {(a["variant"], a["inExperiment"]) for a in after} == {(expected, False)}
        assert set(await exposures(service, running)) == set(UNITS[:20])


async def test_invalid_assignments_are_refused_with_the_field(service: Service) -> None:
    ann = await service.sign_up()
    draft, running = await create(ann), await start(ann)
    path = f"/experiments/{running['id']}/assign"
    assert_error(await ann.call("GET", path), 400, "unitId")
    assert_error(await ann.call("GET", path, params={"unitId": ""}), 400, "unitId")
    assert_error(await ann.call("GET", path, params={"unitId": "x" * 513}), 400, "unitId")
    assert_error(await ann.call("GET", f"{path}?unitId=a%00b"), 400)
    on_draft = await ann.call("GET", f"/experiments/{draft['id']}/assign?unitId=u")
    assert_error(on_draft, 400, "status")
    assert_error(await ann.call("GET", "/experiments/exp_0/assign?unitId=u"), 404)
    batch = f"{path}/batch"
    assert_error(await ann.call("POST", batch, json={}), 400, "unitIds")
    assert_error(await ann.call("POST", batch, json={"unitIds": []}), 400, "unitIds")
    too_many = {"unitIds": [str(number) for number in range(1001)]}
    assert_error(await ann.call("POST", batch, json=too_many), 400, "unitIds")
    assert_error(await ann.call("POST", batch, json={"unitIds": ["a", ""]}), 400, "unitIds.1")
    assert_error(await ann.call("POST", batch, json={"unitIds": ["a", 5]}), 400, "unitIds.1")
    assert await exposures(service, running) == {}


async def test_an_experiment_of_another_workspace_is_404_and_stores_no_exposure(
    service: Service,
) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    running = await start(ann)
    path = f"/experiments/{running['id']}/assign"
    assert_error(await bob.call("GET", path, params={"unitId": "u"}), 404)
    assert_error(await bob.call("POST", f"{path}/batch", json={"unitIds": ["u"]}), 404)
    assert await exposures(service, running) == {}
