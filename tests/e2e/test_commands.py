"""The other commands: version, doctor, migrate, user."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx

from spanwise import __version__
from support.polling import wait_for
from support.process import Running, exec_command, run_command, run_service
from support.servers import free_port
from support.service import PASSWORD


def test_version_prints_the_version(tmp_path: Path) -> None:
    ended = exec_command(tmp_path, "version")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{__version__}\n", "")


def test_help_names_every_command(tmp_path: Path) -> None:
    ended = run_command(tmp_path, "--help")
    for command in ("serve", "doctor", "migrate", "user", "workspace", "prices", "version"):
        assert f"\n  {command} " in ended.stdout


def test_an_unknown_command_is_a_usage_error(tmp_path: Path) -> None:
    ended = run_command(tmp_path, "dance")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


def test_doctor_shows_settings_and_hides_secrets(tmp_path: Path, postgres_database: str) -> None:
    settings = {
        "secret_key": "a-very-secret-secret-of-32-or-more",
        "smtp_url": "smtp://ann:hunter2@mail.example.com:587",
        "catalog_url": postgres_database,
    }
    ended = run_command(tmp_path, "doctor", **settings)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "very-secret" not in ended.stdout
    assert "hunter2" not in ended.stdout
    assert "smtp://ann:***@mail.example.com:587" in ended.stdout
    assert "smtp[s]://" in ended.stdout
    assert f"Spanwise {__version__}" in ended.stdout
    assert "SPANWISE_REQUIRE_VERIFIED_EMAIL" in ended.stdout
    assert "ok    catalog: PostgreSQL" in ended.stdout
    assert "GiB free" in ended.stdout


def test_doctor_reports_every_problem_and_fails(tmp_path: Path) -> None:
    settings = {
        "catalog_url": f"postgresql://ann:hunter2@127.0.0.1:{free_port()}/db",
        "redis_url": f"redis://127.0.0.1:{free_port()}/0",
    }
    ended = run_command(tmp_path, "doctor", **settings)
    assert ended.returncode == 1
    assert "wrong catalog: cannot open the catalog" in ended.stdout
    assert "wrong counters: SPANWISE_REDIS_URL" in ended.stdout
    assert "ok    disk" in ended.stdout
    assert "hunter2" not in ended.stdout
    assert "Traceback" not in ended.stderr


def test_doctor_changes_nothing(tmp_path: Path) -> None:
    ended = run_command(tmp_path, "doctor")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "catalog: SQLite" in ended.stdout
    assert ended.stdout.count("no schema yet: the first start creates it") == 2
    assert not (tmp_path / "data").exists()


def test_doctor_reports_a_store_of_an_unknown_schema_without_changing_it(tmp_path: Path) -> None:
    migrated = run_command(tmp_path, "migrate")
    assert migrated.returncode == 0, migrated.stderr
    assert migrated.stdout.count("schema up to date") == 2
    catalog = tmp_path / "data" / "catalog.db"
    with closing(sqlite3.connect(catalog, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0001'")
        ended = run_command(tmp_path, "doctor")
        [[kept]] = connection.execute("SELECT version_num FROM alembic_version")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "wrong catalog: cannot open the catalog" in ended.stdout
    assert "it was written by an early development version" in ended.stdout
    assert ended.stdout.count("schema up to date") == 1
    assert kept == "0001"


def log_in(service: Running, email: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the header with the token, and the account."""
    body = {"email": email, "password": PASSWORD}
    login = httpx.post(f"{service.api}/auth/login", json=body, timeout=60).json()["data"]
    return {"Authorization": f"Bearer {login['token']}"}, login["user"]


def test_accounts_and_members_change_beside_the_service_while_registration_is_closed(
    tmp_path: Path,
) -> None:
    closed = {"open_registration": "false"}
    first = run_command(
        tmp_path, "user", "add", "Ann@Example.com", "--password", PASSWORD, **closed
    )
    assert first.returncode == 0, first.stderr
    assert first.stdout.endswith(" ann@example.com admin\n")
    # Runs beside the service, which has exclusive access to the telemetry.
    with run_service(tmp_path, **closed) as service:
        prompted = run_command(
            tmp_path, "user", "add", "bob@example.com", stdin=f"{PASSWORD}\n", **closed
        )
        assert prompted.stdout.endswith(" bob@example.com member\n")
        assert_roles_can_be_changed(tmp_path, service)
        assert_members_can_be_changed(tmp_path, service)


def assert_roles_can_be_changed(folder: Path, service: Running) -> None:
    changed = run_command(folder, "user", "role", "BOB@example.com", "admin")
    assert changed.stdout == "bob@example.com is admin\n"
    header, bob = log_in(service, "bob@example.com")
    audit = service.get("/admin/audit", headers=header).json()["data"]
    # So that single sign-on does not take the account for one that a stranger registered.
    assert (bob["role"], bob["emailVerified"]) == ("admin", True)
    [entry] = [entry for entry in audit if entry["action"] == "account.changed"]
    assert (entry["subject"], entry["actor"]) == (bob["id"], None)


def assert_members_can_be_changed(folder: Path, service: Running) -> None:
    listed = run_command(folder, "workspace", "list").stdout.splitlines()
    [of_ann] = [line for line in listed if "ann@example.com" in line]
    assert "Ann's workspace" in of_ann
    workspace = of_ann.split()[0]
    run_command(folder, "workspace", "member", workspace, "Bob@Example.com", "viewer")
    members = run_command(folder, "workspace", "members", workspace).stdout
    assert [line.split()[:2] for line in members.splitlines()] == [
        ["owner", "ann@example.com"],
        ["viewer", "bob@example.com"],
    ]
    header, _ = log_in(service, "bob@example.com")
    header["X-Workspace-Id"] = workspace
    # Another process made the change, so the cached account expires first.
    wait_for(lambda: service.get("/agents", headers=header).status_code == 200)
    run_command(folder, "workspace", "remove", workspace, "bob@example.com")
    wait_for(lambda: service.get("/agents", headers=header).status_code == 404)
    last = run_command(folder, "workspace", "remove", workspace, "ann@example.com")
    assert (last.returncode, "active owner" in last.stderr) == (1, True)


def test_prices_refresh_replaces_the_list_and_refuses_a_bad_file(tmp_path: Path) -> None:
    given, bad = tmp_path / "data.json", tmp_path / "bad.json"
    model = {"id": "m", "match": {"equals": "m"}, "prices": {"input_mtok": 1, "output_mtok": 2}}
    provider = {"id": "acme", "name": "Acme", "api_pattern": "https://acme"}
    checked = {**model, "prices_checked": "2026-11-12"}
    given.write_text(json.dumps([{**provider, "models": [checked]}]))
    bad.write_text("[1]")
    ended = run_command(tmp_path, "prices", "refresh", str(given))
    assert ended.stdout == "file price list of 2026-11-12, 1 models\n", ended.stderr
    ended = run_command(tmp_path, "prices", "refresh", str(bad))
    assert ended.returncode == 1
    assert "bad.json is not a price list" in ended.stderr
    ended = run_command(tmp_path, "prices", "show")
    assert ended.stdout == "file price list of 2026-11-12, 1 models\n"
