"""Headless setup of an empty installation from settings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spanwise.model.errors import StartError
from spanwise.settings import load_settings
from spanwise.wiring.commands import open_accounts
from support.service import shared_telemetry_url, start_service
from support.spans import span

KEY = "sw_" + "a1" * 24
SETTINGS = {
    "bootstrap_admin_email": "Ops@Example.com",
    "bootstrap_admin_password": "correct horse battery",
    "bootstrap_workspace": "Production",
    "bootstrap_ingest_key": KEY,
}


async def test_admin_workspace_and_key_exist_after_the_first_start(tmp_path: Path) -> None:
    async with start_service(tmp_path, **SETTINGS) as service:
        admin = await service.log_in("ops@example.com")
        assert (admin.user["role"], admin.user["emailVerified"]) == ("admin", True)
        [workspace] = await admin.data("GET", "/workspaces")
        assert (workspace["name"], workspace["role"]) == ("Production", "owner")
        headers = {"x-api-key": KEY}
        body = {"spans": [span(name="hello")]}
        sent = await service.http.post("/api/spans", json=body, headers=headers)
        assert sent.is_success, sent.text
        assert [t["name"] for t in await admin.data("GET", "/spans/traces")] == ["hello"]
        assert (await service.http.get("/api/agents", headers=headers)).status_code == 403


async def test_later_starts_change_nothing(tmp_path: Path) -> None:
    async with start_service(tmp_path, **SETTINGS) as service:
        admin = await service.log_in("ops@example.com")
        [key] = await admin.data("GET", "/keys")
        await admin.data("DELETE", f"/keys/{key['id']}")
        path = f"/workspaces/{admin.user['defaultWorkspaceId']}"
        await admin.data("PUT", path, json={"name": "Renamed"})
    changed = {**SETTINGS, "bootstrap_admin_password": "another horse battery"}
    async with start_service(tmp_path, **changed) as service:
        admin = await service.log_in("ops@example.com")
        assert await admin.data("GET", "/keys") == []
        [workspace] = await admin.data("GET", "/workspaces")
        assert workspace["name"] == "Renamed"
        assert len(await admin.data("GET", "/admin/users")) == 1


async def test_the_password_may_be_in_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("correct horse battery\n")
    settings = {"bootstrap_admin_email": "ops@example.com", "bootstrap_admin_password_file": secret}
    async with start_service(tmp_path / "data", **settings) as service:
        await service.log_in("ops@example.com")


async def test_an_invalid_setting_prevents_the_start(tmp_path: Path) -> None:
    invalid: list[tuple[dict[str, Any], str]] = [
        ({"bootstrap_admin_password": None}, "needs SPANWISE_BOOTSTRAP_ADMIN_PASSWORD"),
        ({"bootstrap_admin_password": "short"}, "SPANWISE_BOOTSTRAP_ADMIN_PASSWORD: "),
        ({"bootstrap_admin_password_file": Path("/missing")}, "cannot read"),
        ({"bootstrap_ingest_key": "guessable"}, "BOOTSTRAP_INGEST_KEY"),
    ]
    for changes, message in invalid:
        with pytest.raises(StartError, match=message):
            async with start_service(tmp_path, **{**SETTINGS, **changes}):
                pass
    # Nothing was created: the first account is still to come.
    async with start_service(tmp_path) as service:
        assert (await service.sign_up()).user["role"] == "admin"


@pytest.mark.parametrize("lose", [Path.unlink, lambda path: path.write_bytes(b"")])
async def test_a_lost_catalog_is_no_new_installation(
    tmp_path: Path, lose: Callable[[Path], object]
) -> None:
    async with start_service(tmp_path, **SETTINGS) as service:
        sent = await service.http.post(
            "/api/spans", json={"spans": [span()]}, headers={"x-api-key": KEY}
        )
        assert sent.is_success, sent.text
        await service.services.ingest.pipeline.wait_until_visible()
    catalog = tmp_path / "catalog.db"
    lose(catalog)
    before = catalog.exists()
    lost = {**SETTINGS, "catalog_url": f"sqlite:///{catalog}"}
    with pytest.raises(StartError, match=r"catalog.db is missing or empty, .* from a backup"):
        async with start_service(tmp_path, **lost):
            pass
    command = load_settings(data_dir=tmp_path, telemetry_url=shared_telemetry_url())
    with pytest.raises(StartError, match="is missing or empty"):
        async with open_accounts(command):
            pass
    # So that the next start is refused as well.
    assert catalog.exists() is before
    assert not before or catalog.stat().st_size == 0
