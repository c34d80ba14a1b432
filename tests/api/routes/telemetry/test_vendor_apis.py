"""SDKs of other products work when only their host and key are changed."""

import base64
from pathlib import Path
from typing import Any

import httpx
import pytest

from spanwise.api.routes.telemetry.vendor_apis import ENDPOINTS
from support.ids import new_span_id, new_trace_id
from support.otlp import make_span, make_traces
from support.service import CODES, Person, Service, start_service


async def key_of(person: Person) -> str:
    secret: str = (await person.new_key(scopes=["ingest"]))["key"]
    return secret


async def post(
    service: Service, path: str, body: Any, key: str, method: str = "POST"
) -> httpx.Response:
    return await service.http.request(method, path, json=body, headers={"x-api-key": key})


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


async def test_the_key_is_found_where_each_exporter_sends_it(service: Service) -> None:
    key = await key_of(await service.sign_up())
    body = make_traces([make_span()]).SerializeToString()
    for header in (
        {"api-key": key},
        {"api_key": key},
        {"Authorization": key},
        {"Authorization": f"Bearer {key}"},
        {"Authorization": basic("pk-lf-1", key)},
        {"Authorization": basic(key, "sk-lf-1")},
        {"Authorization": basic(key, "")},
    ):
        headers = {**header, "content-type": "application/x-protobuf"}
        response = await service.http.post("/v1/traces", content=body, headers=headers)
        assert response.status_code == 200, (header, response.text)


@pytest.mark.parametrize(("method", "path"), [(m, path) for _, m, path, _ in ENDPOINTS[:3]])
async def test_a_wrong_key_is_refused(service: Service, method: str, path: str) -> None:
    response = await post(service, path, {}, "sw_wrong", method)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == CODES[401]


async def test_langfuse_finds_the_project_of_its_key(service: Service) -> None:
    person = await service.sign_up()
    response = await service.http.get(
        "/api/public/projects", headers={"Authorization": basic("pk", await key_of(person))}
    )
    [project] = response.json()["data"]
    assert project["id"]
    assert project["organization"]["id"]


async def test_a_langfuse_score_is_a_signal(service: Service) -> None:
    person = await service.sign_up()
    trace_id, span_id = new_trace_id(), new_span_id()
    score = {
        "id": "score-1",
        "name": "helpful",
        "value": 0.5,
        "traceId": trace_id,
        "observationId": span_id,
        "comment": "fine",
        "dataType": "NUMERIC",
    }
    key = await key_of(person)
    for _ in range(2):
        response = await post(service, "/api/public/scores", score, key)
        assert (response.status_code, response.json()) == (200, {"id": "score-1"})
    [signal] = await person.data("GET", "/signals")
    assert (signal["signalName"], signal["value"], signal["comment"]) == ("helpful", 0.5, "fine")
    assert (signal["traceId"], signal["spanId"]) == (trace_id, span_id)


async def test_langfuse_scores_in_a_batch_are_signals(service: Service) -> None:
    person = await service.sign_up()
    batch = [
        {"id": "1", "type": "score-create", "timestamp": "2026-11-01T00:00:00Z",
         "body": {"id": "s1", "name": "ok", "value": True, "traceId": new_trace_id()}},
        {"id": "2", "type": "trace-create", "body": {}},
        {"id": "3", "type": "score-create", "body": {"name": "mood", "value": "happy"}},
    ]  # fmt: skip
    response = await post(service, "/api/public/ingestion", {"batch": batch}, await key_of(person))
    assert response.status_code == 207
    answer = response.json()
    assert answer["successes"] == [{"id": "1", "status": 201}]
    assert [(error["id"], error["status"]) for error in answer["errors"]] == [
        ("2", 400),
        ("3", 400),
    ]
    [signal] = await person.data("GET", "/signals?startDate=2026-10-01&endDate=2026-12-01")
    assert (signal["signalName"], signal["value"]) == ("ok", 1)


async def test_an_invalid_batch_is_refused(service: Service) -> None:
    key = await key_of(await service.sign_up())
    bodies: list[Any] = [[], {"batch": 3}, {"batch": [3]}, {"batch": [{}] * 1001}]
    for body in bodies:
        assert (await post(service, "/api/public/ingestion", body, key)).status_code == 400, body


async def test_langsmith_feedback_is_a_signal(service: Service) -> None:
    person = await service.sign_up()
    trace = "01a1e6cf-bc40-7012-9863-007c03f4e2f5"
    feedback = {"id": "f-1", "key": "correct", "score": 1, "trace_id": trace, "run_id": trace}
    response = await post(service, "/feedback", feedback, await key_of(person))
    assert response.status_code == 200, response.text
    [signal] = await person.data("GET", "/signals")
    assert (signal["signalName"], signal["value"]) == ("correct", 1)
    assert signal["traceId"] == trace.replace("-", "")
    assert signal["spanId"] == trace.replace("-", "")[:16]


async def test_langsmith_asks_what_the_server_supports(service: Service) -> None:
    response = await service.http.get("/info")
    assert response.status_code == 200
    assert response.json()["version"]


async def test_traceloop_may_upload_an_image(service: Service) -> None:
    key = await key_of(await service.sign_up())
    path = f"/v2/traces/{new_trace_id()}/spans/{new_span_id()}/images"
    response = await post(service, path, {"image_name": "a/../b.png"}, key)
    url = response.json()["url"]
    assert url.endswith(f"{path}/a_.._b.png")
    assert (await post(service, url, {"image_data": "AA=="}, key)).status_code == 204


async def test_an_upload_goes_to_the_public_url(tmp_path: Path) -> None:
    async with start_service(tmp_path, public_url="https://obs.example.com/") as service:
        key = await key_of(await service.sign_up())
        path = f"/v2/traces/{new_trace_id()}/spans/{new_span_id()}/images"
        headers = {"x-api-key": key, "host": "evil.example"}
        answer = await service.http.post(path, json={"image_name": "a.png"}, headers=headers)
        assert answer.json()["url"] == f"https://obs.example.com{path}/a.png"
