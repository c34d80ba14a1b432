"""Experiments: create, change, move between states, delete; and every error."""

from itertools import product
from typing import Any

from support.experiments import TWO, create, start
from support.service import Person, Service, assert_error

FIELDS = {
    "id",
    "name",
    "description",
    "hypothesis",
    "agentId",
    "status",
    "variants",
    "metrics",
    "trafficPercent",
    "createdAt",
    "startedAt",
    "pausedAt",
    "stoppedAt",
    "winner",
}


async def test_a_new_experiment_is_a_draft_with_defaults(service: Service) -> None:
    ann = await service.sign_up()
    response = await ann.call("POST", "/experiments", json={"name": "prompt", "variants": TWO})
    assert response.status_code == 201
    made = response.json()["data"]
    assert set(made) == FIELDS
    assert made["id"].startswith("exp_")
    assert made["status"] == "draft"
    assert made["trafficPercent"] == 100
    assert made["variants"] == [
        {"key": "control", "name": "control", "weight": 1, "config": {}},
        {"key": "treatment", "name": "treatment", "weight": 1, "config": {}},
    ]
    assert [
        (m["key"], m["source"], m["metric"], m["direction"], m["primary"]) for m in made["metrics"]
    ] == [
        ("successRate", "trace", "successRate", "increase", True),
        ("latency", "trace", "latency", "decrease", False),
        ("cost", "trace", "cost", "decrease", False),
    ]
    assert await ann.data("GET", f"/experiments/{made['id']}") == made


async def test_given_fields_are_stored(service: Service) -> None:
    ann = await service.sign_up()
    given = {
        "name": "model",
        "description": "A cheaper model",
        "hypothesis": "As good, for less",
        "agentId": "shop",
        "trafficPercent": 12.5,
        "variants": [
            {"key": "a", "name": "Old", "weight": 3, "config": {"model": "big"}},
            {"key": "b", "name": "New", "weight": 1, "config": {"model": "small"}},
        ],
        "metrics": [
            {
                "key": "stars",
                "source": "signal",
                "metric": None,
                "signalName": "rating",
                "direction": "increase",
                "primary": True,
            }
        ],
    }
    made = await ann.data("POST", "/experiments", json=given)
    assert {name: made[name] for name in given} == given


async def test_invalid_input_is_refused_with_the_field(service: Service) -> None:
    """`unit/api/requests/test_experiments.py` tests which input is invalid."""
    ann = await service.sign_up()
    draft = await create(ann)
    bad: list[tuple[dict[str, Any], str]] = [
        ({"variants": [{"key": "a"}, {"name": "b"}]}, "variants.1.key"),
        ({"metrics": [{"signalName": "rating"}]}, "metrics.0"),
        ({"trafficPercent": None}, "trafficPercent"),
    ]
    for fields, problem in bad:
        body = {"name": "prompt", "variants": TWO, **fields}
        assert_error(await ann.call("POST", "/experiments", json=body), 400, problem)
        changed = await ann.call("PUT", f"/experiments/{draft['id']}", json=fields)
        assert_error(changed, 400, problem)
    assert await ann.data("GET", "/experiments") == [draft]


async def test_fields_of_a_draft_can_be_changed_one_by_one(service: Service) -> None:
    ann = await service.sign_up()
    draft = await create(ann, description="before", hypothesis="kept")
    changes = {"description": None, "trafficPercent": 5, "variants": [{"key": "x"}, {"key": "y"}]}
    changed = await ann.data("PUT", f"/experiments/{draft['id']}", json=changes)
    assert changed["description"] is None
    assert changed["hypothesis"] == "kept"
    assert changed["trafficPercent"] == 5
    assert [variant["key"] for variant in changed["variants"]] == ["x", "y"]
    assert await ann.data("GET", f"/experiments/{draft['id']}") == changed


# The possible transitions from each state, and the states they lead to.
MOVES = {
    ("draft", "start"): "running",
    ("paused", "start"): "running",
    ("running", "pause"): "paused",
    ("running", "stop"): "stopped",
    ("paused", "stop"): "stopped",
}
PATHS: dict[str, list[str]] = {
    "draft": [],
    "running": ["start"],
    "paused": ["start", "pause"],
    "stopped": ["start", "stop"],
}


async def bring_to(person: Person, state: str) -> dict[str, Any]:
    experiment = await create(person)
    for step in PATHS[state]:
        experiment = await person.data("POST", f"/experiments/{experiment['id']}/{step}")
    assert experiment["status"] == state
    return experiment


async def test_every_transition_from_every_state(service: Service) -> None:
    ann = await service.sign_up()
    stamps = {"start": "startedAt", "pause": "pausedAt", "stop": "stoppedAt"}
    for state, move in product(PATHS, stamps):
        experiment = await bring_to(ann, state)
        path = f"/experiments/{experiment['id']}"
        response = await ann.call("POST", f"{path}/{move}")
        if (state, move) in MOVES:
            assert response.status_code == 200
            moved = response.json()["data"]
            assert moved["status"] == MOVES[state, move]
            assert moved[stamps[move]] is not None
        else:
            assert_error(response, 400, "status")
            assert await ann.data("GET", path) == experiment


async def test_only_drafts_can_be_changed_and_running_experiments_cannot_be_deleted(
    service: Service,
) -> None:
    ann = await service.sign_up()
    for state in PATHS:
        experiment = await bring_to(ann, state)
        path = f"/experiments/{experiment['id']}"
        changed = await ann.call("PUT", path, json={"name": "other"})
        if state == "draft":
            assert changed.json()["data"]["name"] == "other"
        else:
            assert_error(changed, 400, "status")
        deleted = await ann.call("DELETE", path)
        if state == "running":
            assert_error(deleted, 400, "status")
        else:
            assert deleted.json()["data"] == {"id": experiment["id"], "deleted": True}
            assert_error(await ann.call("GET", path), 404)


async def test_restarting_keeps_the_first_start_time(service: Service) -> None:
    ann = await service.sign_up()
    first = await start(ann)
    path = f"/experiments/{first['id']}"
    await ann.data("POST", f"{path}/pause")
    again = await ann.data("POST", f"{path}/start")
    assert again["startedAt"] == first["startedAt"]


async def test_traffic_may_rise_but_not_fall_on_resume(service: Service) -> None:
    ann = await service.sign_up()
    path = f"/experiments/{(await start(ann, trafficPercent=10))['id']}"
    await ann.data("POST", f"{path}/pause")
    less = await ann.call("POST", f"{path}/start", json={"trafficPercent": 5})
    assert_error(less, 400, "trafficPercent")
    more = await ann.data("POST", f"{path}/start", json={"trafficPercent": 50})
    assert (more["status"], more["trafficPercent"]) == ("running", 50)


async def test_a_winner_is_one_of_the_variants(service: Service) -> None:
    ann = await service.sign_up()
    path = f"/experiments/{(await start(ann))['id']}"
    refused = await ann.call("POST", f"{path}/stop", json={"winner": "nobody"})
    assert_error(refused, 400, "winner")
    stopped = await ann.data("POST", f"{path}/stop", json={"winner": "treatment"})
    assert (stopped["status"], stopped["winner"]) == ("stopped", "treatment")


async def test_the_list_is_newest_first_and_filtered_by_state(service: Service) -> None:
    ann = await service.sign_up()
    drafts = [(await create(ann, name=f"draft {n}"))["id"] for n in range(3)]
    running = (await start(ann, name="running"))["id"]
    response = await ann.call("GET", "/experiments", params={"limit": 2})
    page = response.json()
    assert [e["id"] for e in page["data"]] == [running, drafts[2]]
    assert page["pagination"] == {"total": 4, "limit": 2, "skip": 0, "hasMore": True}
    only = await ann.data("GET", "/experiments", params={"status": "running"})
    assert [e["id"] for e in only] == [running]
    none = await ann.data("GET", "/experiments", params={"endDate": "2020-01-01"})
    assert none == []
    assert_error(await ann.call("GET", "/experiments", params={"status": "odd"}), 400, "status")


async def test_experiments_of_another_workspace_are_404(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    path = f"/experiments/{(await create(ann))['id']}"
    assert await bob.data("GET", "/experiments") == []
    for method, address in (("GET", path), ("DELETE", path), ("POST", f"{path}/start")):
        assert_error(await bob.call(method, address), 404)
    assert_error(await bob.call("PUT", path, json={"name": "mine"}), 404)
    assert (await ann.data("GET", path))["name"] == "shorter prompt"


async def test_every_transition_is_in_the_event_feed(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    made = await create(ann, name="prompt")
    path = f"/experiments/{made['id']}"
    for move in ("start", "pause", "start"):
        await ann.data("POST", f"{path}/{move}")
    assert_error(await ann.call("POST", f"{path}/start"), 400, "status")
    await ann.data("POST", f"{path}/stop", json={"winner": "treatment"})
    await ann.data("DELETE", path)
    events = await ann.data("GET", "/events")
    assert [event["type"].removeprefix("experiment.") for event in reversed(events)] == [
        "created",
        "started",
        "paused",
        "started",
        "stopped",
        "deleted",
    ]
    assert {(e["subject"], e["actor"], e["data"]["name"]) for e in events} == {
        (made["id"], ann.user["id"], "prompt")
    }
    assert [e["data"]["winner"] for e in events[:3]] == ["treatment", "treatment", None]
    assert len(await ann.data("GET", "/events?type=experiment.started")) == 2
    assert await bob.data("GET", "/events") == []
