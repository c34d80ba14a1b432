"""Mail over a real SMTP server; no request fails because of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from support.receivers import smtp_server
from support.servers import free_port
from support.service import PASSWORD, Service, link_token, start_service


def _check_login(
    _server: object, _session: object, _envelope: object, _how: str, data: LoginPassword
) -> AuthResult:
    right = (data.login, data.password) == (b"ann", b"p@ss:word")
    return AuthResult(success=right, handled=False)


# Warnings of the SMTP server in these tests.
without_tls = pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS")


@asynccontextmanager
async def service_with(tmp_path: Path, url: str) -> AsyncIterator[Service]:
    async with start_service(tmp_path, smtp_url=url, mail_from="Obs <obs@example.com>") as service:
        yield service


async def register(service: Service, email: str = "ann@example.com") -> None:
    body = {"email": email, "password": PASSWORD}
    assert (await service.call("POST", "/auth/register", json=body)).status_code == 201
    await service.services.identity.accounts._mailer.drain()


async def test_a_mail_is_sent_over_smtp(tmp_path: Path) -> None:
    with smtp_server() as (inbox, port):
        async with service_with(tmp_path, f"smtp://127.0.0.1:{port}") as service:
            await register(service)
            [message] = inbox.messages
            token = link_token(str(message.get_payload()))
            params = {"token": token}
            verified = await service.call("GET", "/auth/verify-email", params=params)
    assert verified.status_code == 200
    assert (message["From"], message["To"]) == ("Obs <obs@example.com>", "ann@example.com")
    assert message["Subject"] == "Verify your e-mail address"
    assert message["Date"]
    assert message["Message-ID"]
    assert not (tmp_path / "outbox").exists()


@without_tls
async def test_credentials_in_the_url_are_decoded_and_used(tmp_path: Path) -> None:
    options = {"authenticator": _check_login, "auth_required": True, "auth_require_tls": False}
    with smtp_server(**options) as (inbox, port):
        url = f"smtp://ann:p%40ss%3Aword@127.0.0.1:{port}"
        async with service_with(tmp_path, url) as service:
            await register(service)
    assert len(inbox.messages) == 1


@without_tls
async def test_a_server_that_refuses_the_mail_does_not_fail_the_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {"authenticator": _check_login, "auth_required": True, "auth_require_tls": False}
    with smtp_server(**options) as (inbox, port):
        async with service_with(tmp_path, f"smtp://ann:wrong@127.0.0.1:{port}") as service:
            await register(service)
    assert inbox.messages == []
    assert "mail_failed" in capsys.readouterr().out


async def test_an_unreachable_server_does_not_fail_the_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with service_with(tmp_path, f"smtp://ann:pw@127.0.0.1:{free_port()}") as service:
        await register(service)
    logged = capsys.readouterr().out
    assert "mail_failed" in logged
    assert "token=" not in logged


async def test_a_mail_to_a_non_ascii_address_never_fails_the_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with smtp_server(enable_SMTPUTF8=True) as (inbox, port):
        async with service_with(tmp_path / "new", f"smtp://127.0.0.1:{port}") as service:
            await register(service, "jürgen@example.com")
    assert len(inbox.messages) == 1
    with smtp_server(enable_SMTPUTF8=False) as (inbox, port):
        async with service_with(tmp_path / "old", f"smtp://127.0.0.1:{port}") as service:
            await register(service, "jürgen@example.com")
    assert inbox.messages == []
    assert "mail_failed" in capsys.readouterr().out


async def test_an_outbox_that_cannot_be_written_does_not_fail_the_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "outbox").write_text("a file where the folder should be")
    async with start_service(tmp_path) as service:
        await register(service)
    assert "mail_failed" in capsys.readouterr().out


@pytest.mark.own_service
async def test_without_a_server_the_log_shows_the_link(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    await register(service)
    [mail] = await service.mails_to("ann@example.com")
    assert link_token(mail) in capsys.readouterr().out
    assert (service.data_dir / "outbox").stat().st_mode & 0o077 == 0
