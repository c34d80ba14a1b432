"""The envelope of all JSON responses: unknown routes, invalid bodies, crashes."""

import re
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import StreamingResponse

from support.service import PASSWORD, Person, Service, assert_error, start_service

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
async def ann(shared_service: Service) -> Person:
    return await shared_service.sign_up()


@pytest.fixture(scope="module")
async def crashing(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    async with start_service(tmp_path_factory.mktemp("crashing")) as running:
        add_crashes(running.app)
        yield running


@pytest.mark.parametrize(
    "path",
    ["/api", "/api/", "/api/nothing", "/api/keys/", "/nothing", "/api/docs/x", "/api//keys"],
)
async def test_an_unknown_route_is_404_in_the_envelope(service: Service, path: str) -> None:
    assert_error(await service.http.get(path), 404)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/auth/login"),
        ("GET", "/auth/login"),
        ("PATCH", "/users/profile"),
        ("POST", "/health"),
        ("OPTIONS", "/keys"),
        ("BREW", "/keys"),
    ],
)
async def test_a_method_that_a_path_does_not_have_is_404(
    service: Service, method: str, path: str
) -> None:
    assert_error(await service.call(method, path), 404)


async def login(service: Service, content: bytes, **headers: str) -> httpx.Response:
    return await service.call("POST", "/auth/login", content=content, headers={**JSON, **headers})


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"nonsense",
        b'{"email": "ann@example.com",}',
        b"{'email': 'x'}",
        b'{"email": NaN}',
        b'{"email": Infinity}',
        b'{"email": "\\ud800"}',
        b'{"email": "\xff"}',
        b"\xef\xbb\xbf{}",
        b"[" * 8_000,
        b'{"a":' * 1_200 + b"1" + b"}" * 1_200,
    ],
)
async def test_a_body_that_is_not_json_is_400(service: Service, content: bytes) -> None:
    assert_error(await login(service, content), 400, "body")


@pytest.mark.parametrize("content", [b"[]", b'"text"', b"7", b"null", b"true", b""])
async def test_json_that_is_not_an_object_is_400(service: Service, content: bytes) -> None:
    assert_error(await login(service, content), 400, "body")


async def test_deep_nesting_in_a_field_is_400_and_names_it(service: Service) -> None:
    nested = b"[" * 500 + b"]" * 500
    body = b'{"password": "x", "email": ' + nested + b"}"
    assert_error(await login(service, body), 400, "email")


@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "json",
    ],
)
async def test_another_content_type_is_400(service: Service, ann: Person, media_type: str) -> None:
    content = b'{"email": "ann@example.com", "password": "x"}'
    response = await login(service, content, **{"Content-Type": media_type})
    assert_error(response, 400, "Content-Type")


@pytest.mark.parametrize(
    "media_type", ["application/json", "Application/JSON; charset=utf-8", "application/json;v=1"]
)
async def test_json_with_content_type_parameters_is_accepted(
    service: Service, ann: Person, media_type: str
) -> None:
    content = f'{{"email": "{ann.email}", "password": "{PASSWORD}"}}'.encode()
    response = await login(service, content, **{"Content-Type": media_type})
    assert response.status_code == 200


async def test_a_body_of_one_mebibyte_is_read_and_a_larger_one_is_400(ann: Person) -> None:
    headers = {"Content-Type": "application/json"}
    most = b'{"name": "' + b"x" * (1_048_576 - len(b'{"name": ""}')) + b'"}'
    response = await ann.call("POST", "/keys", content=most, headers=headers)
    assert_error(response, 400, "name")
    response = await ann.call("POST", "/keys", content=most + b" ", headers=headers)
    assert_error(response, 400)
    assert "larger than 1,048,576 bytes" in response.json()["error"]["message"]


async def test_every_invalid_field_is_named_with_its_problem(ann: Person) -> None:
    body = {"name": 5, "scopes": ["full", 3], "expiresAt": []}
    response = await ann.call("POST", "/keys", json=body)
    assert_error(response, 400, "name", "scopes.1", "expiresAt")
    assert all(d["message"] for d in response.json()["error"]["details"])
    assert response.json()["error"]["message"].startswith("name: ")


@pytest.mark.parametrize(
    ("content", "headers"),
    [
        (b"{", JSON),
        (b"{}", {"Content-Type": "text/plain"}),
        (b"x" * 2_000_000, JSON),
        (b"", {}),
    ],
)
async def test_without_credentials_a_broken_request_is_401(
    service: Service, content: bytes, headers: dict[str, str]
) -> None:
    assert_error(await service.call("POST", "/keys", content=content, headers=headers), 401)
    assert_error(await service.call("GET", "/keys?limit=x&name=%00"), 401)


@pytest.mark.parametrize("path", ["/keys?x=a%00b", "/keys?limit=%00"])
async def test_a_nul_in_the_url_is_400(ann: Person, path: str) -> None:
    assert_error(await ann.call("GET", path), 400)
    assert_error(await ann.call("DELETE", "/keys/a%00b"), 400)


async def test_an_unknown_id_of_any_shape_is_404(ann: Person) -> None:
    for key_id in ("x" * 5_000, "%F0%9F%94%91", "%FF", "'; DROP TABLE users; --", "..%2f.."):
        assert_error(await ann.call("DELETE", f"/keys/{key_id}"), 404)


async def test_a_crash_is_500_with_a_request_id_and_without_its_text(
    crashing: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    response = await crashing.call("GET", "/crash")
    assert_error(response, 500)
    request_id = response.headers["X-Request-Id"]
    assert request_id.startswith("req_")
    assert "secret" not in response.text
    logged = capsys.readouterr().out
    assert "the secret of the house" in logged
    assert request_id in logged


async def test_a_crash_after_the_first_byte_breaks_the_connection(crashing: Service) -> None:
    with pytest.raises(RuntimeError):
        await crashing.call("GET", "/late-crash")


def add_crashes(app: FastAPI) -> None:
    @app.get("/api/crash")
    async def crash() -> None:
        raise RuntimeError("the secret of the house")

    @app.get("/api/late-crash")
    async def late_crash() -> StreamingResponse:
        async def stream() -> object:
            yield b"{"
            raise RuntimeError("half way")

        return StreamingResponse(stream())  # type: ignore[arg-type]


async def test_success_has_the_two_members_and_lists_have_three(ann: Person) -> None:
    profile = (await ann.call("GET", "/users/profile")).json()
    assert list(profile) == ["success", "data"]
    assert profile["success"] is True
    listing = (await ann.call("GET", "/keys")).json()
    assert list(listing) == ["success", "data", "pagination"]
    assert list(listing["pagination"]) == ["total", "limit", "skip", "hasMore"]


async def test_times_are_utc_with_z(ann: Person) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", ann.user["createdAt"])
