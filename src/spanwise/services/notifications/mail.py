"""E-mail: sent over SMTP if configured, else written to files in the outbox folder."""

import asyncio
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTPUTF8
from email.utils import formatdate, make_msgid
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

import aiosmtplib
import structlog

from spanwise.model.api_model import new_id
from spanwise.settings import Settings

log = structlog.get_logger()

_SMTP_TIMEOUT_SECONDS = 20
_IMPLICIT_TLS_PORT = 465
_SUBMISSION_PORT = 587


@dataclass(frozen=True)
class Mail:
    """An e-mail. `link` is logged when there is no mail server."""

    to: str
    subject: str
    text: str
    link: str | None = None


class MailTransport(Protocol):
    async def deliver(self, message: EmailMessage, mail: Mail) -> None: ...


class SmtpTransport:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._use_tls = parts.scheme == "smtps"
        self._host = parts.hostname or "localhost"
        self._port = parts.port or (_IMPLICIT_TLS_PORT if self._use_tls else _SUBMISSION_PORT)
        self._username = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None

    async def deliver(self, message: EmailMessage, mail: Mail) -> None:
        await aiosmtplib.send(
            message,
            hostname=self._host,
            port=self._port,
            username=self._username,
            password=self._password,
            use_tls=self._use_tls,
            timeout=_SMTP_TIMEOUT_SECONDS,
        )


class OutboxFolderTransport:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def deliver(self, message: EmailMessage, mail: Mail) -> None:
        path = self._folder / f"{new_id('msg')}.eml"
        await asyncio.to_thread(self._write, path, bytes(message))
        log.info("mail_in_outbox", to=mail.to, subject=mail.subject, link=mail.link)

    def _write(self, path: Path, content: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(content)


class Mailer:
    """Sends mails, in the background so that response times do not reveal whether one was sent."""

    def __init__(self, transport: MailTransport, sender: str) -> None:
        self._transport = transport
        self._sender = sender
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    def from_settings(cls, settings: Settings) -> "Mailer":
        transport: MailTransport
        if settings.smtp_url is not None:
            transport = SmtpTransport(settings.smtp_url.get_secret_value())
        else:
            transport = OutboxFolderTransport(settings.data_dir / "outbox")
        return cls(transport, settings.mail_from)

    def send_in_background(self, mail: Mail) -> None:
        task = asyncio.create_task(self._deliver(mail))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def deliver(self, mail: Mail, message_id: str) -> None:
        """Send now and raise on failure. Retries use the same id, so receivers can deduplicate."""
        message = self._compose(mail)
        message.replace_header("Message-ID", message_id)
        await self._transport.deliver(message, mail)

    async def drain(self) -> None:
        """Wait until all background mails are delivered or have failed."""
        await asyncio.gather(*self._tasks)

    async def _deliver(self, mail: Mail) -> None:
        try:
            await self._transport.deliver(self._compose(mail), mail)
        except Exception as error:
            log.error("mail_failed", to=mail.to, subject=mail.subject, error=repr(error))

    def _compose(self, mail: Mail) -> EmailMessage:
        # This policy allows non-ASCII addresses such as jürgen@example.com (RFC 6532).
        message = EmailMessage(policy=SMTPUTF8)
        message["From"] = self._sender
        message["To"] = mail.to
        message["Subject"] = mail.subject
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain="spanwise")
        # By default the library wraps long lines, which would break links in outbox files.
        is_ascii = mail.text.isascii()
        message.set_content(mail.text, cte="7bit" if is_ascii else "quoted-printable")
        return message
