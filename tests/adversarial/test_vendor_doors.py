"""Every door for telemetry, also those of other products, with every kind of credentials."""

import base64

import pytest

from spanwise.api.http.paths import EXPORT_PATHS
from spanwise.api.routes.telemetry.vendor_apis import ENDPOINTS
from support.service import Person, Service

pytestmark = pytest.mark.long

# It needs no key, as LangSmith's client asks before it sends one.
OPEN = "/info"
DOORS = [
    *((method, path) for _, method, path, _ in ENDPOINTS if path != OPEN),
    *(("POST", path) for path in EXPORT_PATHS),
    *(("POST", f"/api{path}") for path in ("/spans", "/logs", "/signals", "/signals/batch")),
]


def basic(user: str, password: str) -> dict[str, str]:
    encoded = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"Authorization": f"Basic {encoded}"}


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


async def credentials(service: Service, person: Person) -> dict[str, tuple[dict[str, str], int]]:
    """Return headers, and the status that refuses them; 0 for those that are accepted."""
    key = {scope: (await person.new_key(scopes=[scope]))["key"] for scope in ("ingest", "read")}
    gone = await person.new_key(scopes=["ingest"])
    await person.data("DELETE", f"/keys/{gone['id']}")
    viewer = await service.sign_up()
    workspace = person.user["defaultWorkspaceId"]
    return {
        "nothing": ({}, 401),
        "a key": ({"x-api-key": key["ingest"]}, 0),
        "a key as bearer": (bearer(key["ingest"]), 0),
        "a key as password": (basic("pk", key["ingest"]), 0),
        "a key as user": (basic(key["ingest"], ""), 0),
        "a key to read": ({"x-api-key": key["read"]}, 403),
        "a key to read as password": (basic("pk", key["read"]), 403),
        "a revoked key": ({"x-api-key": gone["key"]}, 401),
        "half a key": ({"x-api-key": key["ingest"][:-4]}, 401),
        "a longer key": ({"x-api-key": key["ingest"] + "0"}, 401),
        "an empty key": ({"x-api-key": ""}, 401),
        "an invalid token": (bearer("a.b.c"), 401),
        "not Base64": ({"Authorization": "Basic %%%"}, 401),
        "another workspace": ({**bearer(viewer.token), "X-Workspace-Id": workspace}, 404),
    }


async def test_each_door_opens_for_keys_that_may_write_and_nobody_else(service: Service) -> None:
    person = await service.sign_up()
    wrong = []
    for name, (headers, status) in (await credentials(service, person)).items():
        for method, path in DOORS:
            address = path.format(trace_id="0" * 31 + "1", span_id="0" * 15 + "1", name="a.png")
            answer = await service.http.request(method, address, headers=headers)
            is_right = answer.status_code == status
            if status == 0:
                # The empty body may be refused, the caller is not.
                is_right = answer.status_code in {200, 201, 204, 207, 400, 415}
            if not is_right:
                wrong.append((name, method, path, answer.status_code, answer.text[:100]))
    assert wrong == []
    assert await person.data("GET", "/spans/traces") == []
