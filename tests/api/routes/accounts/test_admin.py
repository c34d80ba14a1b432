"""Administration: users, statistics and audit log, for admins only."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.service import OPERATOR, PASSWORD, Person, Service, assert_error, start_service
from support.spans import span


async def audit_of(admin: Person, **filters: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = await admin.data(
        "GET", "/admin/audit", params={"limit": 100, **filters}
    )
    return entries


@dataclass
class Installation:
    """An installation with two accounts and two spans."""

    service: Service
    admin: Person
    bob: Person


@pytest.fixture(scope="module")
async def installation(
    tmp_path_factory: pytest.TempPathFactory, cheap_hashes: None
) -> AsyncIterator[Installation]:
    async with start_service(tmp_path_factory.mktemp("admin")) as service:
        admin, bob = await service.sign_up(), await service.sign_up()
        await admin.data("POST", "/spans", json={"spans": [span(), span()]})
        await admin.data("GET", "/spans/traces")
        yield Installation(service, admin, bob)


async def test_users_are_listed_with_whether_they_are_disabled(installation: Installation) -> None:
    admin, bob = installation.admin, installation.bob
    response = (await admin.call("GET", "/admin/users?limit=1&skip=1")).json()
    assert response["pagination"] == {"total": 2, "limit": 1, "skip": 1, "hasMore": False}
    assert response["data"] == [{**bob.user, "disabled": False}]
    # Without parameters.
    response = (await admin.call("GET", "/admin/users")).json()
    assert response["pagination"] == {"total": 2, "limit": 50, "skip": 0, "hasMore": False}


async def test_a_role_change_applies_to_existing_tokens(service: Service) -> None:
    admin, bob = await service.log_in(OPERATOR), await service.sign_up()
    path = f"/admin/users/{bob.user['id']}"
    assert (await admin.data("PUT", path, json={"role": "admin"}))["role"] == "admin"
    await bob.data("GET", "/admin/users")
    await admin.data("PUT", path, json={"role": "member"})
    assert_error(await bob.call("GET", "/admin/users"), 403)


async def test_disabling_ends_tokens_and_keys_at_once(service: Service) -> None:
    admin, bob = await service.log_in(OPERATOR), await service.sign_up()
    key = await bob.new_key()
    assert (await service.call_with_key(key["key"], "GET", "/keys")).status_code == 403
    path = f"/admin/users/{bob.user['id']}"
    assert (await admin.data("PUT", path, json={"disabled": True}))["disabled"] is True
    assert_error(await bob.call("GET", "/users/profile"), 401)
    assert_error(await service.call_with_key(key["key"], "GET", "/keys"), 401)
    await admin.data("PUT", path, json={"disabled": False})
    assert (await service.call_with_key(key["key"], "GET", "/keys")).status_code == 403


@pytest.mark.own_service
async def test_the_last_admin_cannot_step_down(service: Service) -> None:
    admin, bob = await service.sign_up(), await service.sign_up()
    path, of_bob = (f"/admin/users/{person.user['id']}" for person in (admin, bob))
    changes: list[dict[str, object]] = [{"role": "member"}, {"disabled": True}]
    changes.append({"role": "member", "disabled": True})
    for change in changes:
        assert_error(await admin.call("PUT", path, json=change), 400)
    assert (await admin.data("GET", "/users/profile"))["role"] == "admin"
    assert await audit_of(admin, action="account.changed") == []
    # A disabled admin does not count.
    await admin.data("PUT", of_bob, json={"role": "admin", "disabled": True})
    assert_error(await admin.call("PUT", path, json={"role": "member"}), 400)
    await admin.data("PUT", of_bob, json={"disabled": False})
    for change in changes:
        assert (await admin.call("PUT", path, json=change)).status_code == 200
        bob = await service.log_in(bob.email)
        await bob.data("PUT", path, json={"role": "admin", "disabled": False})
        admin = await service.log_in(admin.email)


async def test_an_invalid_field_is_named(service: Service) -> None:
    admin = await service.log_in(OPERATOR)
    path = f"/admin/users/{admin.user['id']}"
    bodies: list[dict[str, object]] = [{"role": "owner"}, {"role": 1}]
    bodies += [{"disabled": "yes"}, {"disabled": 1}]
    for body in bodies:
        assert_error(await admin.call("PUT", path, json=body), 400, *body)


async def test_omitted_fields_do_not_change(service: Service) -> None:
    admin, bob = await service.log_in(OPERATOR), await service.sign_up()
    path = f"/admin/users/{bob.user['id']}"
    assert await admin.data("PUT", path, json={}) == {**bob.user, "disabled": False}
    assert (await bob.call("GET", "/users/profile")).status_code == 200


async def test_stats_contain_users_disk_and_versions(installation: Installation) -> None:
    stats = await installation.admin.data("GET", "/admin/stats")
    assert stats["users"] == 2
    assert stats["diskFreeBytes"] > 0
    assert stats["uptimeSeconds"] >= 0
    assert stats["versions"]["catalog"].startswith("SQLite")
    assert {"spanwise", "python"} <= set(stats["versions"])


async def test_stats_contain_stored_rows_and_ingest_rate(installation: Installation) -> None:
    stats = await installation.admin.data("GET", "/admin/stats")
    rows = {table["table"]: table["rows"] for table in stats["tables"]}
    assert rows["spans"] >= 2
    assert stats["rows"] == sum(rows.values())
    assert stats["bytes"] == sum(table["bytes"] for table in stats["tables"]) > 0
    assert stats["ingest"]["accepted"] == {"traces": 2}
    assert stats["ingest"]["spansPerSecond"] == pytest.approx(2 / 60, abs=0.001)
    assert (stats["ingest"]["backlogBytes"], stats["ingest"]["isStalled"]) == (0, False)
    assert "ClickHouse" in stats["versions"]["telemetry"]


async def test_stats_work_without_a_data_folder(tmp_path: Path, postgres_catalog: str) -> None:
    away = {"catalog_url": postgres_catalog, "secret_key": "s" * 32}
    async with start_service(tmp_path / "not" / "made", **away) as service:
        admin = await service.sign_up()
        stats = await admin.data("GET", "/admin/stats")
    assert stats["versions"]["catalog"].startswith("PostgreSQL")


@pytest.mark.own_service
async def test_the_audit_trail_records_who_did_what(service: Service) -> None:
    admin, bob = await service.sign_up(), await service.sign_up()
    key = await bob.new_key()
    await bob.data("PUT", f"/keys/{key['id']}/refresh", json={"graceSeconds": 5})
    await bob.data("POST", f"/keys/{key['id']}/revoke")
    await bob.data("DELETE", f"/keys/{key['id']}")
    wrong = {"email": "Bob@Example.com", "password": "wrong password"}
    await service.call("POST", "/auth/login", json=wrong)
    body = {"currentPassword": PASSWORD, "newPassword": "another horse battery"}
    await bob.data("PUT", "/users/password", json=body)
    await admin.data("PUT", f"/admin/users/{bob.user['id']}", json={"role": "admin"})
    entries = await audit_of(admin)
    recorded = [(e["action"], e["actor"], e["subject"], e["data"]) for e in reversed(entries)]
    a, b, k = admin.user["id"], bob.user["id"], key["id"]
    assert recorded == [
        ("account.registered", a, None, {}),
        ("login.succeeded", a, None, {}),
        ("account.registered", b, None, {}),
        ("login.succeeded", b, None, {}),
        ("key.created", b, k, {"name": "a key", "scopes": ["full"]}),
        ("key.rotated", b, k, {"graceSeconds": 5}),
        ("key.revoked", b, k, {}),
        ("key.deleted", b, k, {"name": "a key"}),
        ("login.failed", None, "bob@example.com", {}),
        ("password.changed", b, None, {}),
        ("account.changed", a, b, {"role": "admin"}),
    ]
    assert {entry["address"] for entry in entries} == {"127.0.0.1"}
    assert PASSWORD not in str(entries)
    assert key["key"] not in str(entries)


async def test_the_audit_trail_is_filtered_and_paged(installation: Installation) -> None:
    admin = installation.admin
    response = (
        await admin.call("GET", "/admin/audit?action=login.succeeded&limit=1&skip=0")
    ).json()
    assert response["pagination"] == {"total": 2, "limit": 1, "skip": 0, "hasMore": True}
    assert [entry["action"] for entry in response["data"]] == ["login.succeeded"]
    assert await audit_of(admin, endDate="2020-01-01") == []
    assert len(await audit_of(admin, startDate="2020-01-01")) == 4


async def test_an_invalid_parameter_is_named(service: Service) -> None:
    admin = await service.log_in(OPERATOR)
    for query, field in (
        ("startDate=2026-02-30", "startDate"),
        ("endDate=soon", "endDate"),
        ("startDate=2026-01-02&endDate=2026-01-01", "startDate"),
        ("limit=0", "limit"),
        ("limit=ten", "limit"),
        ("limit=", "limit"),
        ("limit=1.5", "limit"),
        ("skip=-1", "skip"),
        ("skip=99999999999999999999", "skip"),
    ):
        assert_error(await admin.call("GET", f"/admin/audit?{query}"), 400, field)


async def test_a_limit_above_the_maximum_is_lowered(service: Service) -> None:
    admin = await service.log_in(OPERATOR)
    for limit in ("101", "99999999999999999999"):
        answer = (await admin.call("GET", f"/admin/audit?limit={limit}")).json()
        assert answer["pagination"]["limit"] == 100
