"""API keys: create, list, refresh, revoke, delete, and their states."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from spanwise.model.api_model import utc_now
from spanwise.storage.catalog.tables import api_keys
from support.service import Person, Service, assert_error

FIELDS = {
    "id",
    "name",
    "prefix",
    "scopes",
    "status",
    "createdAt",
    "expiresAt",
    "lastUsedAt",
    "rotatedAt",
    "workspaceId",
    "createdBy",
}


async def find(person: Person, key: dict[str, Any]) -> dict[str, Any]:
    [found] = [k for k in await person.data("GET", "/keys") if k["id"] == key["id"]]
    return dict(found)


async def expire(service: Service, key: dict[str, Any]) -> None:
    async with service.services.catalog.write() as tx:
        past = utc_now() - timedelta(seconds=1)
        await tx.execute(update(api_keys).where(api_keys.c.id == key["id"]).values(expires_at=past))
    service.services.identity.access.invalidate_key(key["id"])


async def test_a_new_key_shows_its_secret_once(service: Service) -> None:
    ann = await service.sign_up()
    response = await ann.call("POST", "/keys", json={"name": "ingest of the shop"})
    assert response.status_code == 201
    key = response.json()["data"]
    assert set(key) == FIELDS | {"key"}
    assert key["id"].startswith("key_")
    assert key["key"].startswith(key["prefix"])
    assert len(key["key"]) >= len(key["prefix"]) + 32
    assert (key["scopes"], key["status"]) == (["full"], "active")
    assert key["expiresAt"] is key["lastUsedAt"] is key["rotatedAt"] is None
    listed = await find(ann, key)
    assert listed == {name: value for name, value in key.items() if name != "key"}


async def test_only_a_hash_of_the_secret_is_stored(service: Service) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    async with service.services.catalog.read() as tx:
        [row] = (await tx.execute(select(api_keys).where(api_keys.c.id == key["id"]))).all()
    assert key["key"] not in str(row)
    assert key["key"].removeprefix("sw_") not in str(row)


async def test_scopes_and_expiry_are_stored(service: Service) -> None:
    ann = await service.sign_up()
    key = await ann.new_key(
        scopes=["read", "ingest", "read"], expiresAt="2099-01-31T12:00:00+01:00"
    )
    assert key["scopes"] == ["ingest", "read"]
    assert key["expiresAt"] == "2099-01-31T11:00:00Z"


BAD_KEYS: list[tuple[dict[str, Any], str]] = [
    ({}, "name"),
    ({"name": ""}, "name"),
    ({"name": "x" * 201}, "name"),
    ({"name": 1}, "name"),
    ({"name": "k", "scopes": []}, "scopes"),
    ({"name": "k", "scopes": "full"}, "scopes"),
    ({"name": "k", "scopes": None}, "scopes"),
    ({"name": "k", "scopes": ["full", "write"]}, "scopes.1"),
    ({"name": "k", "expiresAt": "2020-01-01"}, "expiresAt"),
    ({"name": "k", "expiresAt": "tomorrow"}, "expiresAt"),
    ({"name": "k", "expiresAt": 4_102_444_800}, "expiresAt"),
    ({"name": "k", "expiresAt": "4102444800"}, "expiresAt"),
    ({"name": "k", "expiresAt": "2099-02-30T00:00:00Z"}, "expiresAt"),
    ({"name": "k", "expiresAt": "9999-12-31T23:59:59-14:00"}, "expiresAt"),
]


async def test_an_invalid_field_is_named_and_no_key_is_created(service: Service) -> None:
    ann = await service.sign_up()
    for body, field in BAD_KEYS:
        assert_error(await ann.call("POST", "/keys", json=body), 400, field)
    assert await ann.data("GET", "/keys") == []


async def test_keys_are_listed_newest_first_a_page_at_a_time(service: Service) -> None:
    ann = await service.sign_up()
    made = [(await ann.new_key(name=f"key {number}"))["id"] for number in range(3)]
    response = (await ann.call("GET", "/keys?limit=2&skip=1")).json()
    assert [key["id"] for key in response["data"]] == sorted(made, reverse=True)[1:]
    assert response["pagination"] == {"total": 3, "limit": 2, "skip": 1, "hasMore": False}


async def test_refresh_keeps_the_id_and_invalidates_the_old_secret(service: Service) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    renewed = await ann.data("PUT", f"/keys/{key['id']}/refresh")
    assert renewed["id"] == key["id"]
    assert renewed["key"] != key["key"]
    assert renewed["key"].startswith(renewed["prefix"])
    assert renewed["rotatedAt"] >= key["createdAt"]
    assert await works(service, renewed["key"])
    assert not await works(service, key["key"])


async def test_refresh_with_grace_lets_both_secrets_work_for_a_while(service: Service) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    path = f"/keys/{key['id']}/refresh"
    renewed = await ann.data("PUT", path, json={"graceSeconds": 60})
    assert await works(service, key["key"])
    assert await works(service, renewed["key"])
    async with service.services.catalog.write() as tx:
        await tx.execute(update(api_keys).values(previous_valid_until=utc_now()))
    service.services.identity.access.invalidate_key(key["id"])
    assert not await works(service, key["key"])
    assert await works(service, renewed["key"])


async def test_a_grace_period_out_of_bounds_is_refused_and_rotates_nothing(
    service: Service,
) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    path = f"/keys/{key['id']}/refresh"
    graces: list[object] = [-1, 86_401, 1.5, "60", None, True]
    for grace in graces:
        refused = await ann.call("PUT", path, json={"graceSeconds": grace})
        assert_error(refused, 400, "graceSeconds")
    assert await works(service, key["key"])


async def test_a_grace_period_at_its_bounds_is_accepted(service: Service) -> None:
    ann = await service.sign_up()
    for grace in (0, 86_400):
        key = await ann.new_key()
        await ann.data("PUT", f"/keys/{key['id']}/refresh", json={"graceSeconds": grace})
        assert await works(service, key["key"]) is (grace > 0)


async def test_a_revoked_key_is_final(service: Service) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    assert (await ann.data("POST", f"/keys/{key['id']}/revoke"))["status"] == "revoked"
    assert (await find(ann, key))["status"] == "revoked"
    assert_error(await ann.call("POST", f"/keys/{key['id']}/revoke"), 400)
    assert_error(await ann.call("PUT", f"/keys/{key['id']}/refresh"), 400)
    assert not await works(service, key["key"])


async def test_an_expired_key_is_final(service: Service) -> None:
    ann = await service.sign_up()
    key = await ann.new_key(expiresAt="2099-01-01T00:00:00Z")
    assert await works(service, key["key"])
    await expire(service, key)
    assert not await works(service, key["key"])
    assert (await find(ann, key))["status"] == "expired"
    assert_error(await ann.call("POST", f"/keys/{key['id']}/revoke"), 400)
    assert_error(await ann.call("PUT", f"/keys/{key['id']}/refresh"), 400)


@pytest.mark.parametrize("state", ["active", "revoked", "expired"])
async def test_a_key_in_any_state_can_be_deleted(service: Service, state: str) -> None:
    ann = await service.sign_up()
    key = await ann.new_key()
    if state == "revoked":
        await ann.data("POST", f"/keys/{key['id']}/revoke")
    if state == "expired":
        await expire(service, key)
    path = f"/keys/{key['id']}"
    assert await ann.data("DELETE", path) == {"id": key["id"], "deleted": True}
    assert await ann.data("GET", "/keys") == []
    assert not await works(service, key["key"])
    assert_error(await ann.call("DELETE", path), 404)


async def test_nothing_happens_to_the_key_of_another_workspace(service: Service) -> None:
    ann, bob = await service.sign_up(), await service.sign_up()
    key = await ann.new_key()
    for method, action in (("PUT", "/refresh"), ("POST", "/revoke"), ("DELETE", "")):
        assert_error(await bob.call(method, f"/keys/{key['id']}{action}"), 404)
    assert (await find(ann, key))["status"] == "active"
    assert await works(service, key["key"])
    assert await bob.data("GET", "/keys") == []


async def works(service: Service, secret: str) -> bool:
    """Return whether a key is valid: on a path for users a valid key is 403, others are 401."""
    response = await service.call_with_key(secret, "GET", "/users/profile")
    assert response.status_code in {401, 403}
    return response.status_code == 403


async def test_the_first_use_from_an_address_is_audited(service: Service, person: Person) -> None:
    key = await person.new_key(name="robot")
    headers = {"x-api-key": key["key"]}
    for address in ("203.0.113.7", "203.0.113.7", "198.51.100.2"):
        async with service.client_at(address) as client:
            assert (await client.get("/api/agents", headers=headers)).is_success
    await person.data("GET", "/keys")
    path = f"/workspaces/{person.user['defaultWorkspaceId']}/audit"
    entries = await person.data("GET", path, params={"type": "key.used_from_new_address"})
    assert [entry["address"] for entry in entries] == ["198.51.100.2", "203.0.113.7"]
    assert {entry["subjectName"] for entry in entries} == {"robot"}
