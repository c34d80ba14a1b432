"""Authentication: headers, scopes, caching, time of last use."""

import re
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import APIRouter
from sqlalchemy import event, update

from spanwise.api.auth import Ingester, Reader, Writer
from spanwise.api.http.envelope import Done, Success, succeed
from spanwise.api.routing import GuardedRoute
from spanwise.model.keys import KeyGrant
from spanwise.services import access
from spanwise.services.access import CACHE_SECONDS
from spanwise.storage.catalog.accounts import keys as stored_keys
from spanwise.storage.catalog.tables import api_keys, users
from support.service import Service, assert_error, start_service

router = APIRouter(prefix="/api/probe", route_class=GuardedRoute)


@router.get("/read")
async def read(_caller: Reader) -> Success[Done]:
    return succeed(Done(message="read"))


@router.post("/write")
async def write(_caller: Writer) -> Success[Done]:
    return succeed(Done(message="written"))


@router.post("/ingest")
async def ingest(_caller: Ingester) -> Success[Done]:
    return succeed(Done(message="ingested"))


ROUTES = {"read": ("GET", "/probe/read"), "ingest": ("POST", "/probe/ingest")}
WRITE = ("POST", "/probe/write")


@pytest.fixture(scope="module")
async def service(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None
) -> AsyncIterator[Service]:
    """A service with one route per scope."""
    async with start_service(tmp_path_factory.mktemp("auth")) as running:
        running.app.include_router(router)
        yield running


@pytest.fixture
async def statements(service: Service) -> AsyncIterator[list[str]]:
    """The statements that the catalog executes from now on."""
    found: list[str] = []
    await service.services.identity.access.write_key_uses()

    def add(*arguments: Any) -> None:
        found.append(arguments[2])

    engine = service.services.catalog._engine.sync_engine
    event.listen(engine, "before_cursor_execute", add)
    yield found
    event.remove(engine, "before_cursor_execute", add)


async def test_a_key_gives_access_to_its_scopes(service: Service) -> None:
    ann = await service.sign_up()
    for scopes, allowed in (
        (["full"], {"read", "write", "ingest"}),
        (["read"], {"read"}),
        (["ingest"], {"ingest"}),
        (["ingest", "read"], {"read", "ingest"}),
    ):
        secret = (await ann.new_key(scopes=scopes))["key"]
        for name, (method, path) in {**ROUTES, "write": WRITE}.items():
            response = await service.call_with_key(secret, method, path)
            if name in allowed:
                assert response.status_code == 200, (scopes, name)
            else:
                assert_error(response, 403)


async def test_a_signed_in_user_needs_no_scope(service: Service) -> None:
    ann = await service.sign_up()
    for method, path in [*ROUTES.values(), WRITE]:
        await ann.data(method, path)


async def test_a_key_is_accepted_in_three_headers(service: Service) -> None:
    ann = await service.sign_up()
    secret = (await ann.new_key())["key"]
    assert (await service.call_with_key(secret, *ROUTES["read"])).status_code == 200
    bearer = {"Authorization": f"Bearer {secret}"}
    assert (await service.call(*ROUTES["read"], headers=bearer)).status_code == 200
    basic = await service.http.get("/api/probe/read", auth=("api", secret))
    assert basic.status_code == 200


async def test_a_key_takes_precedence_over_a_token(service: Service) -> None:
    ann = await service.sign_up()
    secret = (await ann.new_key(scopes=["read"]))["key"]
    assert_error(await ann.call(*WRITE, headers={"x-api-key": secret}), 403)


async def test_a_cached_key_needs_no_database(
    service: Service, statements: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Independent of the speed of the machine.
    monkeypatch.setattr(access, "CACHE_SECONDS", 60.0)
    ann = await service.sign_up()
    secret = (await ann.new_key())["key"]
    await service.call_with_key(secret, *ROUTES["read"])
    statements.clear()
    for _ in range(20):
        assert (await service.call_with_key(secret, *ROUTES["read"])).status_code == 200
        await ann.data(*ROUTES["read"])
    # Background jobs run statements, too.
    assert [text for text in statements if re.search(r"\b(users|api_keys)\b", text)] == []


async def test_a_change_in_this_process_takes_effect_at_once(service: Service) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    assert (await service.call_with_key(key["key"], *ROUTES["read"])).status_code == 200
    await ann.data("POST", f"/keys/{key['id']}/revoke")
    assert_error(await service.call_with_key(key["key"], *ROUTES["read"]), 401)


async def test_a_change_in_another_process_takes_effect_within_five_seconds(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CACHE_SECONDS < 5
    ann = await service.sign_up()
    key = await ann.new_key()
    assert (await service.call_with_key(key["key"], *ROUTES["read"])).status_code == 200
    async with service.services.catalog.write() as tx:
        mine = update(api_keys).where(api_keys.c.id == key["id"])
        await tx.execute(mine.values(revoked_at=api_keys.c.created_at))
        await tx.execute(update(users).where(users.c.id == ann.user["id"]).values(disabled=True))
    later = SimpleNamespace(monotonic=lambda: time.monotonic() + CACHE_SECONDS)
    monkeypatch.setattr("spanwise.services.ttl_cache.time", later)
    assert_error(await service.call_with_key(key["key"], *ROUTES["read"]), 401)
    assert_error(await ann.call(*ROUTES["read"]), 401)


async def test_the_ttl_of_a_cached_row_starts_with_the_read(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    clock: Any = SimpleNamespace(now=1000.0)
    clock.monotonic = lambda: clock.now
    monkeypatch.setattr("spanwise.services.ttl_cache.time", clock)
    find_grant = stored_keys.find_grant

    async def find_slowly(*arguments: Any) -> KeyGrant | None:
        grant = await find_grant(*arguments)
        clock.now += CACHE_SECONDS
        return grant

    monkeypatch.setattr(stored_keys, "find_grant", find_slowly)
    assert (await service.call_with_key(key["key"], *ROUTES["read"])).status_code == 200
    async with service.services.catalog.write() as tx:
        mine = update(api_keys).where(api_keys.c.id == key["id"])
        await tx.execute(mine.values(revoked_at=api_keys.c.created_at))
    assert_error(await service.call_with_key(key["key"], *ROUTES["read"]), 401)


async def test_last_uses_are_written_in_batches(service: Service, statements: list[str]) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    statements.clear()
    for _ in range(5):
        await service.call_with_key(key["key"], *ROUTES["read"])
    assert not [statement for statement in statements if statement.startswith("UPDATE")]
    [listed] = await ann.data("GET", "/keys")
    assert listed["lastUsedAt"] >= key["createdAt"]
    assert len([statement for statement in statements if statement.startswith("UPDATE")]) == 1


async def test_a_failed_write_of_last_uses_is_retried(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    await service.call_with_key(key["key"], *ROUTES["read"])
    with monkeypatch.context() as broken:
        broken.setattr(service.services.catalog, "write", None)
        with pytest.raises(TypeError):
            await service.services.identity.access.write_key_uses()
    [listed] = await ann.data("GET", "/keys")
    assert listed["lastUsedAt"] is not None


async def test_last_uses_are_written_when_the_service_stops(tmp_path: Path) -> None:
    async with start_service(tmp_path) as service:
        service.app.include_router(router)
        ann = await service.sign_up()
        key = await ann.new_key()
        await service.call_with_key(key["key"], *ROUTES["read"])
    async with start_service(tmp_path) as service:
        again = await service.log_in(ann.email)
        [listed] = await again.data("GET", "/keys")
    assert listed["lastUsedAt"] is not None
