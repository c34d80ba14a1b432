"""An experiment evaluated as a feature flag, by the OpenFeature SDK and by plain requests."""

import asyncio
from typing import Any

import httpx
from openfeature import api
from openfeature.contrib.provider.ofrep import OFREPProvider
from openfeature.evaluation_context import EvaluationContext
from openfeature.exception import ErrorCode
from openfeature.flag_evaluation import FlagEvaluationDetails, Reason

from spanwise.analysis.assignment import choose_variant
from support.experiments import create, start
from support.outcomes import make_trace, send_traces
from support.service import Person, Service, assert_error
from support.web import listen

FLAGS = "/ofrep/v1/evaluate/flags"
VARIANTS = [
    {"key": "short", "config": {"prompt": "Be brief.", "limit": 3}},
    {"key": "long", "config": {"prompt": "Explain.", "limit": 9}},
]


async def evaluate(person: Person, key: str, **context: Any) -> httpx.Response:
    return await person.call("POST", f"{FLAGS}/{key}", json={"context": context})


async def test_the_openfeature_sdk_evaluates_an_experiment(service: Service) -> None:
    ann = await service.sign_up()
    running = await start(ann, name="prompt-length", variants=VARIANTS)
    boolean = [{"key": "off", "config": {"value": False}}, {"key": "on", "config": {"value": True}}]
    switch = await start(ann, name="use-cache", variants=boolean)
    await start(ann, name="plain")
    key = (await ann.new_key(scopes=["ingest"]))["key"]

    def evaluate_flags(base_url: str) -> dict[str, FlagEvaluationDetails[Any]]:
        api.set_provider(OFREPProvider(base_url, headers_factory=lambda: {"x-api-key": key}))
        client, user = api.get_client(), EvaluationContext(targeting_key="user-1")
        return {
            "object": client.get_object_details("prompt-length", {}, user),
            "by id": client.get_object_details(running["id"], {}, user),
            "boolean": client.get_boolean_details("use-cache", False, user),
            "text": client.get_string_details("plain", "default", user),
            "missing": client.get_string_details("no-such-flag", "default", user),
            "nobody": client.get_string_details("plain", "default"),
        }

    async with listen(service) as base_url:
        found = await asyncio.to_thread(evaluate_flags, base_url)
    expected = VARIANTS[choose_variant(running["id"], "user-1", [1, 1])]
    for name in ("object", "by id"):
        assert found[name].variant == expected["key"]
        assert found[name].value == expected["config"]
        assert found[name].reason == Reason.SPLIT
        assert found[name].flag_metadata["experimentId"] == running["id"]
    assert found["boolean"].value is bool(choose_variant(switch["id"], "user-1", [1, 1]))
    assert found["text"].value == found["text"].variant in {"control", "treatment"}
    assert found["missing"].value == "default"
    assert found["missing"].error_code == ErrorCode.FLAG_NOT_FOUND
    assert found["nobody"].error_code == ErrorCode.TARGETING_KEY_MISSING


async def test_variants_with_values_of_different_types_are_refused(service: Service) -> None:
    """For a value of another type, the SDK would return the default."""
    ann = await service.sign_up()
    mixed = [{"key": "control"}, {"key": "short", "config": {"prompt": "v2"}}]
    refused = await ann.call("POST", "/experiments", json={"name": "mixed", "variants": mixed})
    assert_error(refused, 400, "variants")
    assert "control: missing, short: object" in refused.text


async def test_an_evaluation_is_an_assignment_and_counts(service: Service) -> None:
    ann = await service.sign_up()
    running = await start(ann, name="prompt-length", variants=VARIANTS)
    response = await evaluate(ann, "prompt-length", targetingKey="user-1", plan="gold")
    assert response.status_code == 200
    variant = response.json()["variant"]
    flag = {"feature_flag.key": "prompt-length", "feature_flag.result.variant": variant}
    await send_traces(ann, [make_trace(userId="user-1", attributes=flag)])
    results = await ann.data("GET", f"/experiments/{running['id']}/results")
    assert (results["units"], results["excludedUnits"]) == (1, 0)
    assert sum(v["units"] for v in results["metrics"][0]["variants"]) == 1


async def test_reasons_follow_the_state_of_the_experiment(service: Service) -> None:
    ann = await service.sign_up()
    running = await start(ann, name="flag", trafficPercent=0)
    outside = (await evaluate(ann, "flag", targetingKey="u")).json()
    assert (outside["reason"], outside["variant"]) == ("DEFAULT", "control")
    await ann.data("POST", f"/experiments/{running['id']}/stop", json={"winner": "treatment"})
    stopped = (await evaluate(ann, "flag", targetingKey="u")).json()
    assert (stopped["reason"], stopped["variant"]) == ("DISABLED", "treatment")
    await create(ann, name="draft")
    draft = await evaluate(ann, "draft", targetingKey="u")
    assert (draft.status_code, draft.json()["errorCode"]) == (404, "FLAG_NOT_FOUND")


async def test_an_invalid_context_gets_the_error_codes_of_ofrep(service: Service) -> None:
    ann = await service.sign_up()
    await start(ann, name="flag")
    json = {"Content-Type": "application/json"}
    for content, code in {
        b"{": "PARSE_ERROR",
        b"": "TARGETING_KEY_MISSING",
        b"[]": "TARGETING_KEY_MISSING",
        b'{"context": {}}': "TARGETING_KEY_MISSING",
        b'{"context": 5}': "INVALID_CONTEXT",
        b'{"context": {"targetingKey": 5}}': "INVALID_CONTEXT",
    }.items():
        response = await ann.call("POST", f"{FLAGS}/flag", content=content, headers=json)
        assert (response.status_code, response.json()["errorCode"]) == (400, code), content
        assert response.json()["key"] == "flag"
        bulk = await ann.call("POST", FLAGS, content=content, headers=json)
        assert (bulk.status_code, bulk.json()["errorCode"]) == (400, code), content


async def test_bulk_evaluation_is_304_when_nothing_changed(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    await start(ann, name="one")
    await start(ann, name="two")
    await create(ann, name="draft")
    await start(bob, name="of another")
    body = {"context": {"targetingKey": "user-1"}}
    first = await ann.call("POST", FLAGS, json=body)
    assert sorted(flag["key"] for flag in first.json()["flags"]) == ["one", "two"]
    tag = {"If-None-Match": first.headers["ETag"]}
    again = await ann.call("POST", FLAGS, json=body, headers=tag)
    assert (again.status_code, again.content) == (304, b"")
    await start(ann, name="three")
    changed = await ann.call("POST", FLAGS, json=body, headers=tag)
    assert (changed.status_code, len(changed.json()["flags"])) == (200, 3)


async def test_flags_of_another_workspace_are_not_found(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    running = await start(ann, name="flag")
    for key in ("flag", running["id"]):
        response = await evaluate(bob, key, targetingKey="u")
        assert (response.status_code, response.json()["errorCode"]) == (404, "FLAG_NOT_FOUND")
    results = await ann.data("GET", f"/experiments/{running['id']}/results")
    assert results["units"] == 0
