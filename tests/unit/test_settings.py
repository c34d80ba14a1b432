"""Settings: sources, precedence and error messages."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from spanwise.model.errors import StartError
from spanwise.settings import (
    Settings,
    load_secret_key,
    load_settings,
    prepare_data_dir,
    show_setting,
)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("SPANWISE_"):
            monkeypatch.delenv(name)


def test_flags_override_the_environment_which_overrides_the_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("spanwise.toml").write_text("port = 1\nhost = '0.0.0.0'\njwt_hours = 2\n")
    monkeypatch.setenv("SPANWISE_PORT", "2")
    monkeypatch.setenv("SPANWISE_HOST", "127.0.0.2")
    settings = load_settings(port=3)
    assert (settings.port, settings.host, settings.jwt_hours) == (3, "127.0.0.2", 2)


def test_an_omitted_flag_keeps_the_default() -> None:
    assert load_settings(port=None).port == 8787


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SPANWISE_PORT", "eighty", "SPANWISE_PORT"),
        ("SPANWISE_PORT", "65536", "SPANWISE_PORT"),
        ("SPANWISE_SECRET_KEY", "short", "SPANWISE_SECRET_KEY: must have at least 32 characters"),
        ("SPANWISE_SECRET_KEY", "", "SPANWISE_SECRET_KEY: must have at least 32 characters"),
        ("SPANWISE_CATALOG_URL", "mysql://host/db", "SPANWISE_CATALOG_URL: must begin with"),
        ("SPANWISE_CATALOG_URL", "postgresql://h:port/db", "SPANWISE_CATALOG_URL: the port"),
        ("SPANWISE_REDIS_URL", "localhost:6379", "SPANWISE_REDIS_URL: must begin with"),
        ("SPANWISE_REDIS_URL", "redis://h:99999", "SPANWISE_REDIS_URL: the port"),
        ("SPANWISE_SMTP_URL", "http://mail", "SPANWISE_SMTP_URL: must begin with"),
        ("SPANWISE_SMTP_URL", "smtp://mail:x", "SPANWISE_SMTP_URL: the port"),
        ("SPANWISE_PUBLIC_URL", "obs.example.com", "SPANWISE_PUBLIC_URL: must begin with"),
        ("SPANWISE_RATE_LIMIT_STRICT", "-1", "SPANWISE_RATE_LIMIT_STRICT"),
        ("SPANWISE_JWT_HOURS", "0", "SPANWISE_JWT_HOURS"),
        ("SPANWISE_LOG_LEVEL", "loud", "SPANWISE_LOG_LEVEL"),
        ("SPANWISE_OPEN_REGISTRATION", "perhaps", "SPANWISE_OPEN_REGISTRATION"),
        ("SPANWISE_OIDC_ISSUER", "login.example.com", "SPANWISE_OIDC_ISSUER: must begin with"),
        ("SPANWISE_OIDC_ISSUER", "http://login.example.com", "http:// is for localhost only"),
        ("SPANWISE_OIDC_SCOPES", "email profile", "SPANWISE_OIDC_SCOPES"),
        ("SPANWISE_OIDC_CLIENT_ID", "x", "also needs SPANWISE_OIDC_ISSUER and SPANWISE_OIDC_CLI"),
        ("SPANWISE_PASSWORD_LOGIN", "false", "SPANWISE_PASSWORD_LOGIN: cannot be off without"),
    ],
)
def test_an_invalid_value_is_one_sentence_with_the_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, says: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(StartError) as refused:
        load_settings()
    assert says in refused.value.message
    assert "\n" not in refused.value.message


def test_all_invalid_values_are_reported_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANWISE_PORT", "x")
    monkeypatch.setenv("SPANWISE_JWT_HOURS", "y")
    with pytest.raises(StartError, match=r"SPANWISE_PORT.*SPANWISE_JWT_HOURS"):
        load_settings()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"port = ", "cannot read spanwise.toml"),
        (b"\xff\xfe", "cannot read spanwise.toml"),
        (b"prot = 1", "spanwise.toml: there is no setting prot"),
    ],
)
def test_a_broken_file_is_one_sentence(content: bytes, says: str) -> None:
    Path("spanwise.toml").write_bytes(content)
    with pytest.raises(StartError, match=says):
        load_settings()


def test_origins_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPANWISE_CORS_ORIGINS", "https://a.example/, https://b.example ,")
    assert load_settings().cors_origins == ("https://a.example", "https://b.example")


def test_proxies_are_addresses_and_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load_settings().trusted_proxies == ("127.0.0.1", "::1")
    monkeypatch.setenv("SPANWISE_TRUSTED_PROXIES", "10.0.0.0/8, fd00::/8,192.0.2.1")
    assert load_settings().trusted_proxies == ("10.0.0.0/8", "fd00::/8", "192.0.2.1")
    for none_or_all, expected in (("", ()), ("*", ("*",))):
        monkeypatch.setenv("SPANWISE_TRUSTED_PROXIES", none_or_all)
        assert load_settings().trusted_proxies == expected


@pytest.mark.parametrize("value", ["proxy.internal", "10.0.0.1/8", "10.0.0.0/33", "127.0.0.1 ::1"])
def test_an_invalid_proxy_address_is_refused_at_start(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SPANWISE_TRUSTED_PROXIES", value)
    with pytest.raises(StartError, match=r"^SPANWISE_TRUSTED_PROXIES: must contain addresses"):
        load_settings()


def test_origins_in_the_file_may_be_a_list() -> None:
    Path("spanwise.toml").write_text('cors_origins = ["https://a.example"]')
    assert load_settings().cors_origins == ("https://a.example",)


@pytest.mark.parametrize(
    ("flags", "address"),
    [
        ({}, "http://127.0.0.1:8787"),
        ({"host": "::1", "port": 80}, "http://[::1]:80"),
        ({"public_url": "https://obs.example.com/"}, "https://obs.example.com"),
    ],
)
def test_links_use_the_public_address(flags: dict[str, object], address: str) -> None:
    assert load_settings(**flags).public_address == address


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (SecretStr("x" * 40), "(hidden)"),
        (SecretStr("postgresql://ann:pw@db:5432/s?password=pw"), "postgresql://ann:***@db:5432/s"),
        (SecretStr("redis://:pw@cache/0"), "redis://:***@cache/0"),
        (SecretStr("smtp://mail:25"), "smtp://mail:25"),
        (("https://a", "https://b"), "https://a, https://b"),
        (None, ""),
        (8787, "8787"),
    ],
)
def test_a_setting_is_shown_without_its_secret_part(value: object, shown: str) -> None:
    assert show_setting(value) == shown


def test_no_secret_is_in_the_text_of_the_settings() -> None:
    settings = load_settings(secret_key="x" * 40, smtp_url="smtp://me:hunter2@mail")
    assert "xxxx" not in repr(settings)
    assert "hunter2" not in repr(settings)


def test_the_secret_is_created_once_and_readable_only_by_its_owner(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path / "data")
    secret = load_secret_key(settings)
    path = settings.data_dir / "secret.key"
    assert len(secret) >= 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_secret_key(settings) == secret
    assert [entry.name for entry in settings.data_dir.iterdir()] == ["secret.key"]


def test_a_configured_secret_is_used_unchanged(tmp_path: Path) -> None:
    settings = load_settings(data_dir=tmp_path / "data", secret_key="y" * 32)
    assert load_secret_key(settings) == "y" * 32
    assert not (tmp_path / "data").exists()


def test_a_stored_secret_that_is_too_short_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text("short")
    with pytest.raises(StartError, match="at least 32 characters"):
        load_secret_key(load_settings(data_dir=tmp_path))


def test_processes_that_start_together_agree_on_one_secret(tmp_path: Path) -> None:
    program = (
        "import sys; from spanwise.settings import load_secret_key, load_settings; "
        "print('ready', flush=True); sys.stdin.readline(); "
        "print(load_secret_key(load_settings(data_dir=sys.argv[1])))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "data")]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    secrets = {process.communicate(timeout=120)[0] for process in processes}
    assert len(secrets) == 1
    assert all(process.returncode == 0 for process in processes)


def test_a_data_folder_that_cannot_be_created_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StartError, match="SPANWISE_DATA_DIR: cannot use"):
        prepare_data_dir(load_settings(data_dir=tmp_path / "file" / "data"))


def test_every_setting_has_a_description() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_single_sign_on_is_on_with_issuer_client_id_and_secret() -> None:
    client = {"oidc_client_id": "spanwise", "oidc_client_secret": "secret"}
    for issuer in ("https://login.example.com/realm", "http://localhost:8080", "http://[::1]:80"):
        settings = load_settings(oidc_issuer=issuer, password_login=False, **client)
        assert settings.has_single_sign_on
    assert not load_settings().has_single_sign_on


def test_domains_of_single_sign_on_are_compared_in_lower_case() -> None:
    settings = load_settings(oidc_domains="Corp.example, @partner.example,")
    assert settings.oidc_domains == ("corp.example", "partner.example")
