"""Rules that every route of the OpenAPI document must follow, new ones included."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from spanwise.api.http.paths import EXPORT_PATHS
from spanwise.api.http.rate_limits import Tier, tier_of
from spanwise.api.routes.telemetry.vendor_apis import ENDPOINTS
from support.openapi import Operation, operations
from support.service import CODES, OPERATOR, Person, Service, new_email, start_service
from support.teams import make_team
from support.traces import make_span

PREFIX = "/api"
OTLP = "/api/otlp/"
# OTLP and OFREP define their own responses instead of the envelope.
FOREIGN = (OTLP, "/api/ofrep/")
# Routes without a record of a workspace in their path, so there is none of another to try.
INSTALLATION_WIDE = {"PUT /api/admin/users/{id}"}
# How to create the record that a path parameter names, to try it from another workspace.
Maker = Callable[[Service, Person], Awaitable[dict[str, str]]]
MAKERS: dict[str, Maker] = {}


def makes(noun: str) -> Callable[..., Any]:
    def register(maker: Maker) -> object:
        MAKERS[noun] = maker
        return maker

    return register


@makes("keys")
async def make_key(_service: Service, person: Person) -> dict[str, str]:
    return {"id": (await person.new_key())["id"]}


@makes("signals")
@makes("logs")
async def make_trace(_service: Service, person: Person) -> dict[str, str]:
    ids = {"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331"}
    times = {"startTime": "2026-01-31T12:00:00Z", "endTime": "2026-01-31T12:00:01Z"}
    about = {"name": "mine", "kind": "agent", "sessionId": "talk"}
    await person.data("POST", "/spans", json={**ids, **times, **about})
    return {**ids, "sessionId": "talk"}


@makes("analytics")
async def make_failure(_service: Service, person: Person) -> dict[str, str]:
    await person.data("POST", "/spans", json=make_span("planner", status="error"))
    [failure] = await person.data("GET", "/analytics/failures")
    return {"failureId": failure["id"]}


@makes("spans")
async def make_trace_and_alert(service: Service, person: Person) -> dict[str, str]:
    await person.data("POST", "/agents", json={"name": "silent"})
    silence = {"metric": "requestCount", "condition": "below", "threshold": 1}
    await person.data("PUT", "/agents/silent/alerts", json={"rules": [silence]})
    await service.services.alerting.alert_jobs.evaluate()
    [alert] = await person.data("GET", "/spans/alerts")
    return {**await make_trace(service, person), "alertId": alert["id"]}


@makes("alerts")
async def make_silence(_service: Service, person: Person) -> dict[str, str]:
    ends_at = datetime.now(UTC) + timedelta(hours=1)
    body = {"endsAt": ends_at.isoformat(), "reason": "maintenance"}
    made = await person.data("POST", "/alerts/silences", json=body)
    return {"silenceId": made["id"]}


@makes("agents")
async def make_agent(_service: Service, person: Person) -> dict[str, str]:
    made = await person.data("POST", "/agents", json={"name": "helper"})
    return {"agentId": made["id"]}


@makes("experiments")
async def make_experiment(_service: Service, person: Person) -> dict[str, str]:
    body = {"name": "prompt", "variants": [{"key": "a"}, {"key": "b"}]}
    return {"id": (await person.data("POST", "/experiments", json=body))["id"]}


@makes("views")
async def make_view(_service: Service, person: Person) -> dict[str, str]:
    body = {"name": "failures", "page": "traces"}
    return {"id": (await person.data("POST", "/views", json=body))["id"]}


@makes("dashboards")
async def make_dashboard(_service: Service, person: Person) -> dict[str, str]:
    return {"id": (await person.data("POST", "/dashboards", json={"name": "costs"}))["id"]}


@makes("events")
async def make_webhook(_service: Service, person: Person) -> dict[str, str]:
    made = await person.data("POST", "/events/webhooks", json={"url": "https://hooks.invalid/"})
    return {"webhookId": made["id"]}


@makes("workspaces")
async def make_workspace(_service: Service, person: Person) -> dict[str, str]:
    workspace = person.user["defaultWorkspaceId"]
    body = {"email": new_email(), "role": "viewer"}
    made = await person.data("POST", f"/workspaces/{workspace}/invitations", json=body)
    ids = {"userId": person.user["id"], "invitationId": made["id"]}
    return {"workspaceId": workspace, **ids}


@makes("ofrep")
async def make_flag(service: Service, person: Person) -> dict[str, str]:
    made = await make_experiment(service, person)
    await person.data("POST", f"/experiments/{made['id']}/start")
    return {"key": made["id"]}


@pytest.fixture(scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service with rate limits that are never reached, so that responses have their headers."""
    limits = {f"rate_limit_{tier}": 100_000 for tier in ("standard", "strict", "ingestion")}
    async with start_service(tmp_path_factory.mktemp("service"), **limits) as running:
        await running.sign_up(OPERATOR)
        yield running


@pytest.fixture(scope="module")
async def routes(service: Service) -> list[Operation]:
    document = (await service.call("GET", "/openapi.json")).json()
    found = list(operations(document))
    assert len(found) >= 20
    return found


def problems_of(operation: Operation, response: httpx.Response, *statuses: int) -> list[str]:
    """Return what is wrong with a response that should be one of these errors."""
    found = []
    if response.status_code not in statuses:
        found.append(f"{operation}: {response.status_code} is not in {statuses}: {response.text}")
    if tier_of(operation.path) and "X-RateLimit-Remaining" not in response.headers:
        found.append(f"{operation}: no rate-limit headers")
    if "X-Request-Id" not in response.headers:
        found.append(f"{operation}: no request id")
    if operation.path.startswith(FOREIGN):
        return found
    body = response.json()
    if response.is_success:
        good = body["success"] is True and "data" in body
    else:
        good = body["success"] is False and body["error"]["code"] == CODES[response.status_code]
    return found if good else [*found, f"{operation}: not the envelope: {response.text}"]


async def send(
    service: Service, operation: Operation, path: str | None = None, **headers: str
) -> httpx.Response:
    body = operation.body()
    content = {} if body is None else {"json": body}
    url = path or operation.address()
    params = operation.query()
    return await service.http.request(
        operation.method, url, params=params, headers=headers, **content
    )


async def test_without_credentials_an_authorized_route_is_401(
    service: Service, routes: list[Operation]
) -> None:
    problems = []
    for operation in routes:
        if operation.is_guarded:
            # Credentials are checked before the request is.
            broken = await service.http.request(
                operation.method,
                operation.address() + "?limit=x",
                content=b"{",
                headers={"Content-Type": "application/json"},
            )
            problems += problems_of(operation, broken, 401)
    assert problems == []


async def test_a_key_without_the_scope_is_403(service: Service, routes: list[Operation]) -> None:
    admin = await service.log_in(OPERATOR)
    keys = {scope: (await admin.new_key(scopes=[scope]))["key"] for scope in ("ingest", "read")}
    keys["full"] = (await admin.new_key())["key"]
    problems = []
    for operation in routes:
        for scope, secret in keys.items():
            if operation.is_guarded and scope not in operation.key_scopes:
                response = await send(service, operation, **{"x-api-key": secret})
                problems += problems_of(operation, response, 403)
    assert problems == []


async def test_a_member_may_not_administer(service: Service, routes: list[Operation]) -> None:
    member = await service.sign_up()
    problems = []
    for operation in routes:
        if operation.path.startswith("/api/admin/"):
            bearer = {"Authorization": f"Bearer {member.token}"}
            problems += problems_of(operation, await send(service, operation, **bearer), 403)
    assert problems == []


# Queries whose body is too large for a URL.
POSTED_READS = {
    "POST /api/agents/{agentId}/alerts/backtest",
    "POST /api/alerts/backtest",
    "POST /api/analytics/batch",
    "POST /api/analytics/query",
    "POST /api/metrics/query",
}


def is_read(operation: Operation) -> bool:
    return operation.method == "GET" or str(operation) in POSTED_READS


ROLES = ["viewer", "editor", "admin", "owner"]
# Lists that contain addresses of people, and who did what.
ADMIN_READS = {
    "GET /api/workspaces/{workspaceId}/audit",
    "GET /api/workspaces/{workspaceId}/invitations",
}
# Everybody may leave; the service checks who may remove others.
LEAVING = "DELETE /api/workspaces/{workspaceId}/members/{userId}"


async def test_the_role_that_a_route_needs_follows_from_its_method(
    routes: list[Operation],
) -> None:
    problems = []
    for operation in routes:
        noun = operation.path.split("/")[2]
        if not operation.is_guarded or noun in {"users", "admin"}:
            assert operation.role is None, operation
        elif operation.role is None:
            # Everybody may list, create and join workspaces. A batch has no role of its own.
            others = {"/api/workspaces", "/api/analytics/batch"}
            assert noun == "invitations" or operation.path in others, operation
        elif is_read(operation):
            expected = "admin" if str(operation) in ADMIN_READS else "viewer"
            problems += [str(operation)] if operation.role != expected else []
        elif str(operation) != LEAVING and operation.role == "viewer":
            problems.append(str(operation))
    assert problems == []


async def test_a_role_opens_its_routes_and_no_others(
    service: Service, routes: list[Operation]
) -> None:
    """Each route as the role that it needs, as the role below, and as an outsider."""
    team, outsider = await make_team(service), await service.sign_up()
    problems, tried = [], Counter[str]()

    async def call(operation: Operation, person: Person) -> httpx.Response:
        headers = {"Authorization": f"Bearer {person.token}", **team.header}
        # Other ids are unknown and there is no body, so that nothing is changed.
        path = operation.address(workspaceId=team.workspace_id)
        return await service.http.request(
            operation.method, path, params=operation.query(), headers=headers
        )

    for operation in routes:
        if operation.role is None:
            continue
        problems += problems_of(operation, await call(operation, outsider), 404)
        if below := ROLES.index(operation.role):
            refused = await call(operation, team.by_role[ROLES[below - 1]])
            problems += problems_of(operation, refused, 403)
        opened = await call(operation, team.by_role[operation.role])
        if opened.status_code in {401, 403}:
            problems.append(f"{operation} as {operation.role}: {opened.text}")
        tried[operation.role] += 1
    assert problems == []
    assert set(tried) == set(ROLES)


async def test_a_record_that_does_not_exist_is_404(
    service: Service, routes: list[Operation]
) -> None:
    admin = await service.log_in(OPERATOR)
    problems = []
    for operation in routes:
        if operation.path_parameters and operation.is_guarded:
            bearer = {"Authorization": f"Bearer {admin.token}"}
            response = await send(service, operation, **bearer)
            problems += problems_of(operation, response, *_absent(response))
    assert problems == []


async def test_a_record_of_another_workspace_is_404(
    service: Service, routes: list[Operation]
) -> None:
    owner, stranger = await service.sign_up(), await service.sign_up()
    made = {noun: await maker(service, owner) for noun, maker in MAKERS.items()}
    key = (await stranger.new_key())["key"]
    problems = []
    for operation in routes:
        if not operation.path_parameters or str(operation) in INSTALLATION_WIDE:
            continue
        noun = operation.path.split("/")[2]
        if noun not in made:
            problems.append(f"{operation}: say under MAKERS how a record of {noun} is made")
            continue
        path = operation.address(**made[noun])
        bearer = {"Authorization": f"Bearer {stranger.token}"}
        response = await send(service, operation, path, **bearer)
        problems += problems_of(operation, response, *_absent(response))
        if operation.key_scopes:
            response = await send(service, operation, path, **{"x-api-key": key})
            problems += problems_of(operation, response, *_absent(response))
    assert problems == []


def _absent(response: httpx.Response) -> tuple[int, ...]:
    """A missing record is 404; a list of its items may also be empty."""
    is_empty_list = response.is_success and response.json().get("data") == []
    return (200, 404) if is_empty_list else (404,)


async def test_only_people_manage_accounts_and_keys(routes: list[Operation]) -> None:
    for operation in routes:
        noun = operation.path.split("/")[2]
        if noun in {"keys", "users", "admin", "workspaces"} or "accept" in operation.path:
            assert operation.spec["security"] == [{"token": []}], operation
            assert operation.key_scopes == set(), operation
        elif operation.is_guarded:
            assert operation.spec["security"] == [{"token": []}, {"apiKey": []}], operation
            assert "full" in operation.key_scopes, operation


async def test_a_read_key_may_call_every_read_and_nothing_else(routes: list[Operation]) -> None:
    for operation in routes:
        if operation.key_scopes:
            assert ("read" in operation.key_scopes) == is_read(operation), operation


async def test_a_batch_answers_every_read_of_the_standard_tier_and_nothing_else(
    service: Service, routes: list[Operation]
) -> None:
    person = await service.sign_up()
    problems = []
    for operation in routes:
        if operation.method not in {"GET", "POST"}:
            # A batch cannot express them.
            continue
        path = operation.address(workspaceId=person.user["defaultWorkspaceId"])
        one = {"path": path, "query": operation.query()}
        if operation.method == "POST":
            one["body"] = operation.body() or {}
        [found] = await person.data("POST", "/analytics/batch", json={"requests": [one]})
        details = found["body"].get("error", {}).get("details", [])
        is_answered = "batch" not in [problem["field"] for problem in details]
        is_read_only = is_read(operation) and "ingest" not in operation.key_scopes
        is_standard = tier_of(operation.path) is Tier.STANDARD
        is_batch = operation.path == "/api/analytics/batch"
        if is_answered != (is_read_only and is_standard and operation.is_guarded and not is_batch):
            problems.append(f"{operation}: {found}")
            continue
        bearer = {"Authorization": f"Bearer {person.token}"}
        if is_answered and found["status"] != (
            (await send(service, operation, path, **bearer)).status_code
        ):
            problems.append(f"{operation}: {found}")
    assert problems == []


async def test_an_ingest_key_may_write_telemetry_and_assign(
    routes: list[Operation],
) -> None:
    for operation in routes:
        noun = operation.path.split("/")[2]
        if operation.key_scopes:
            writes = operation.method == "POST" and noun in {"spans", "signals", "logs", "otlp"}
            # Comments of people.
            writes = writes and "/alerts/" not in operation.path
            assigns = "/assign" in operation.path or noun == "ofrep"
            assert ("ingest" in operation.key_scopes) == (writes or assigns), operation


async def test_every_route_describes_the_failures_that_it_may_have(
    routes: list[Operation],
) -> None:
    """Those that requests of Schemathesis do not lead to."""
    for operation in routes:
        expected = {"500", "429"} if tier_of(operation.path) else {"500"}
        assert expected <= set(operation.spec["responses"]), operation
        assert "422" not in operation.spec["responses"], operation


async def test_every_list_has_a_limit(routes: list[Operation]) -> None:
    """Each item of a list may be invalid, and describing why takes time."""
    unbounded = {
        f"{operation} {name}" for operation in routes for name in operation.unbounded_lists()
    }
    # Settings limit the items and values of these.
    assert unbounded == {
        "POST /api/logs body.logs",
        "POST /api/spans body.events",
        "POST /api/spans body.spans",
        "POST /api/spans body.spans[].events",
    }


async def test_every_reference_and_name_in_the_document_is_valid(service: Service) -> None:
    document = (await service.call("GET", "/openapi.json")).json()
    text = json.dumps(document)
    assert "HTTPValidationError" not in text
    names = set(document["components"]["schemas"])
    wanted = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert wanted <= names
    ids = [operation.spec["operationId"] for operation in operations(document)]
    assert len(ids) == len(set(ids))
    schemes = set(document["components"]["securitySchemes"])
    assert schemes == {"token", "apiKey"}


async def test_every_route_of_the_service_is_in_the_document(
    service: Service, routes: list[Operation]
) -> None:
    described = {operation.path for operation in routes}
    served = set()
    for route in service.app.router.routes:
        served |= _paths_under(route)
    hidden = {"/api/openapi.json", "/api/docs", "/api/docs/start.js", "/api/docs/assets"}
    # The paths that SDKs of other products use, and those with a slash at the end.
    hidden |= {path for path in EXPORT_PATHS if not path.startswith(OTLP) or path.endswith("/")}
    hidden |= {path for _, _, path, _ in ENDPOINTS}
    undescribed = {path for path in served if path.startswith(PREFIX)} - hidden - described
    assert undescribed == set()
    # So that a batch, which takes reads of this tier, gets to described routes only.
    assert Tier.STANDARD not in {tier_of(path) for path in hidden}


def _paths_under(route: Any) -> set[str]:
    candidates = [route] if hasattr(route, "path") else route.effective_candidates()
    # The document has no converters in path parameters.
    return {candidate.path.replace(":path}", "}") for candidate in candidates}
