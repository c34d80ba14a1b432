"""Starting the real service: errors are one sentence, and settings have a precedence."""

import socket
import stat
from pathlib import Path
from typing import Any

import httpx

from support.process import Running, exec_service, run_command, run_service
from support.servers import free_port


def assert_refused(folder: Path, *says: str, **settings: Any) -> None:
    """Check that the start ends with exit code 1 and this one-line message."""
    ended = run_command(folder, "serve", **settings)
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" not in ended.stderr
    lines = ended.stderr.splitlines()
    assert len(lines) == 1, ended.stderr
    assert lines[0].startswith("spanwise: ")
    for text in says:
        assert text in lines[0]


def test_a_broken_settings_file(tmp_path: Path) -> None:
    (tmp_path / "spanwise.toml").write_text("prot = 8787")
    assert_refused(tmp_path, "there is no setting prot")


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as occupied:
        port = occupied.getsockname()[1]
        assert_refused(tmp_path, f"127.0.0.1:{port}", "in use", "SPANWISE_PORT", port=port)


def test_a_host_of_another_machine(tmp_path: Path) -> None:
    assert_refused(tmp_path, "cannot listen on 192.0.2.1", host="192.0.2.1")


def test_an_unreachable_postgresql(tmp_path: Path) -> None:
    url = f"postgresql://ann:hunter2@127.0.0.1:{free_port()}/spanwise"
    assert_refused(tmp_path, "cannot open the catalog", "ann:***@127.0.0.1", catalog_url=url)


def test_a_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert_refused(tmp_path, "SPANWISE_DATA_DIR", data_dir=tmp_path / "file")


def test_flags_override_the_environment_which_overrides_the_file(tmp_path: Path) -> None:
    (tmp_path / "spanwise.toml").write_text(
        "rate_limit_strict = 1\nrate_limit_standard = 1\nrate_limit_ingestion = 3\n"
    )
    settings = {"rate_limit_standard": 2, "rate_limit_strict": 2}
    with exec_service(tmp_path, "--rate-limit-strict=7", **settings) as service:
        limits = [
            service.get(f"/{path}").headers["X-RateLimit-Limit"]
            for path in ("keys", "users/profile", "spans/traces")
        ]
    assert limits == ["7", "2", "3"]


def test_the_secret_and_the_sessions_survive_a_restart(tmp_path: Path) -> None:
    with run_service(tmp_path) as service:
        with service.sign_up() as ann:
            authorization = ann.headers["Authorization"]
        path = tmp_path / "data" / "secret.key"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        secret = path.read_text()
        assert service.stop() == 0
    with run_service(tmp_path) as service:
        profile = service.get("/users/profile", headers={"Authorization": authorization})
        assert profile.status_code == 200
        assert path.read_text() == secret


EXPORT = "/otlp/v1/traces"
NO_SPANS = {"Content-Type": "application/x-protobuf"}


def send_exports(service: Running, ann: httpx.Client) -> None:
    """Send an export that is accepted and one that is refused."""
    assert ann.post(EXPORT, headers=NO_SPANS).status_code == 200
    refused = httpx.post(f"{service.api}{EXPORT}", headers=NO_SPANS, timeout=60)
    assert refused.status_code == 401


def logged_requests(service: Running, path: str) -> list[dict[str, Any]]:
    return [
        line
        for line in service.log()
        if line["event"] == "request" and line["path"] == f"/api{path}"
    ]


def test_each_request_is_logged_without_secrets(tmp_path: Path) -> None:
    with run_service(tmp_path) as service, service.sign_up() as ann:
        answer = service.get(
            "/auth/verify-email",
            params={"token": "very-secret"},
            headers={"x-api-key": "sw_secret"},
        )
        send_exports(service, ann)
        service.stop()
        [line] = logged_requests(service, "/auth/verify-email")
        assert line["request_id"] == answer.headers["X-Request-Id"]
        assert (line["method"], line["status"]) == ("GET", 400)
        assert line["ms"] > 0
        assert "secret" not in service.log_path.read_text()
        # Not one line per export of a busy application.
        assert [line["status"] for line in logged_requests(service, EXPORT)] == [401]


def test_a_successful_export_is_logged_at_debug_level(tmp_path: Path) -> None:
    with run_service(tmp_path, log_level="debug") as service, service.sign_up() as ann:
        send_exports(service, ann)
        service.stop()
        assert [line["status"] for line in logged_requests(service, EXPORT)] == [200, 401]


def test_the_service_can_run_on_postgresql_and_redis(
    tmp_path: Path, postgres_database: str, redis_url: str
) -> None:
    stores = {"catalog_url": postgres_database, "redis_url": redis_url}
    with run_service(tmp_path, **stores) as service, service.sign_up() as ann:
        assert ann.get("/ready").status_code == 200
        assert ann.get("/users/profile").json()["data"]["role"] == "admin"
        assert "PostgreSQL" in ann.get("/admin/stats").text
        assert not (tmp_path / "data" / "catalog.db").exists()
