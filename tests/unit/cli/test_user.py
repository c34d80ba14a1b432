"""`spanwise user`: accounts, roles and error messages."""

import sys
from pathlib import Path

import pytest

from spanwise.cli import main

PASSWORD = "correct horse battery"


@pytest.fixture
def ann(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """The only admin of an installation in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANWISE_LOG_LEVEL", "error")
    run(monkeypatch, "add", "ann@example.com", "--password", PASSWORD)
    assert capsys.readouterr().out.endswith("ann@example.com admin\n")
    return "ann@example.com"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["spanwise", "user", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def test_errors_are_one_sentence(
    ann: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    says = {
        ("add", "bob", "--password", PASSWORD): "must have an @-sign",
        ("add", "bob@example.com", "--password", "short"): "8 to 128 characters",
        ("add", ann.upper(), "--password", PASSWORD): "already exists",
        ("role", "nobody@example.com", "admin"): "there is no account",
        ("role", ann, "member"): "at least one active admin",
    }
    for arguments, reason in says.items():
        assert run(monkeypatch, *arguments) == 1
        [line] = capsys.readouterr().err.splitlines()
        assert line.startswith("spanwise: ")
        assert reason in line


def test_a_second_account_is_a_member_until_it_is_made_admin(
    ann: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "add", "bob@example.com", "--password", PASSWORD)
    assert capsys.readouterr().out.endswith("bob@example.com member\n")
    assert run(monkeypatch, "role", "BOB@example.com", "admin") == 0
    assert capsys.readouterr().out == "bob@example.com is admin\n"
    assert run(monkeypatch, "role", ann, "member") == 0


def test_accounts_are_added_even_when_passwords_are_off(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ann: str
) -> None:
    provider = {"ISSUER": "https://login.example.com", "CLIENT_ID": "x", "CLIENT_SECRET": "y"}
    for name, value in provider.items():
        monkeypatch.setenv(f"SPANWISE_OIDC_{name}", value)
    monkeypatch.setenv("SPANWISE_PASSWORD_LOGIN", "false")
    assert run(monkeypatch, "add", "bob@example.com", "--password", PASSWORD) == 0
    assert capsys.readouterr().out.endswith("bob@example.com member\n")
