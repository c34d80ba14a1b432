"""What was masked is still found, watched and evaluated."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from spanwise.model.masking import Detector, MaskingMode
from support.clock import Clock
from support.experiments import start
from support.outcomes import make_trace
from support.receivers import hook_server
from support.service import Person, Service, start_service
from support.traces import make_span, send_traces

EMAIL = "ann.bee@example.com"
MODES = (MaskingMode.MASK, MaskingMode.METADATA_ONLY)


async def mask(person: Person, mode: MaskingMode = MaskingMode.MASK) -> None:
    path = f"/workspaces/{person.user['defaultWorkspaceId']}/masking"
    await person.data("PUT", path, json={"mode": mode, "detectors": [Detector.EMAIL]})


async def test_the_search_finds_the_other_words(service: Service) -> None:
    ann = await service.sign_up()
    await mask(ann)
    span = make_span("planner", input=f"refund the invoice of {EMAIL} quickly")
    await send_traces(ann, [span])

    async def find(words: str) -> list[str]:
        found = await ann.data("GET", "/spans/traces", params={"search": words})
        return [trace["traceId"] for trace in found]

    assert await find("refund invoice quickly") == [span["traceId"]]
    assert await find("email") == [span["traceId"]]
    assert await find("ann.bee") == []


async def test_an_alert_is_raised_and_says_nothing_that_was_masked(tmp_path: Path) -> None:
    clock = Clock()
    with hook_server() as hooks:
        async with start_service(tmp_path, clock, allow_private_webhooks=True) as service:
            people = [await service.sign_up() for _ in MODES]
            failed = [
                make_span(
                    "planner",
                    start=clock.now - timedelta(seconds=1),
                    status="error",
                    statusMessage=f"rate limit of {EMAIL}",
                    userId=EMAIL,
                )
                for _ in MODES
            ]
            rule = {"id": "e", "metric": "errorRate", "condition": "above", "threshold": 0.5}
            body = {"rules": [rule], "notify": {"webhooks": [{"url": hooks.url}]}}
            for person, mode in zip(people, MODES, strict=True):
                await mask(person, mode)
                await person.call("POST", "/agents", json={"name": "planner"})
                await person.data("PUT", "/agents/planner/alerts", json=body)
            await asyncio.gather(
                *(send_traces(p, [span]) for p, span in zip(people, failed, strict=True))
            )
            await service.services.alerting.alert_jobs.evaluate()
            await service.services.alerting.alert_jobs.send()
            alerts = [await person.data("GET", "/spans/alerts") for person in people]
    assert [[one["exampleTraceIds"] for one in found] for found in alerts] == [
        [[span["traceId"]]] for span in failed
    ]
    assert len(hooks.accepted) == len(MODES)
    for span in failed:
        [call] = [call for call in hooks.accepted if span["traceId"].encode() in call.body]
        assert EMAIL.encode() not in call.body


async def test_an_experiment_is_evaluated(service: Service) -> None:
    await asyncio.gather(*(check_experiment(service, mode) for mode in MODES))


async def check_experiment(service: Service, mode: MaskingMode) -> None:
    ann = await service.sign_up()
    await mask(ann, mode)
    experiment = await start(
        ann, metrics=[{"metric": "successRate"}, {"source": "signal", "signalName": "rating"}]
    )
    units = [f"u{n}" for n in range(20)]
    path = f"/experiments/{experiment['id']}"
    assigned = await ann.data("POST", f"{path}/assign/batch", json={"unitIds": units})
    variants = {a["unitId"]: a["variant"] for a in assigned}
    shared: dict[str, Any] = {"input": f"mail to {EMAIL}"}
    await send_traces(
        ann,
        [make_trace(ok=v == "treatment", userId=unit, **shared) for unit, v in variants.items()],
    )
    signals = [
        {"signalName": "rating", "value": 4, "userId": unit, "comment": EMAIL} for unit in units
    ]
    await ann.data("POST", "/signals/batch", json={"signals": signals})
    results = await ann.data("GET", f"{path}/results")
    success, rating = (
        {v["variant"]: (v["units"], v["mean"]) for v in metric["variants"]}
        for metric in results["metrics"]
    )
    counts = {key: list(variants.values()).count(key) for key in ("control", "treatment")}
    assert success == {
        "control": (counts["control"], 0),
        "treatment": (counts["treatment"], pytest.approx(1)),
    }
    assert rating == {key: (count, pytest.approx(4)) for key, count in counts.items()}
