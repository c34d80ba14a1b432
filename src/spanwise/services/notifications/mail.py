"""Mail: over SMTP when configured, else one file a message in the outbox folder."""

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

from spanwise.model.record import new_id
from spanwise.settings import Settings

log = structlog.get_logger()

_SMTP_TIMEOUT_SECONDS = 20
_IMPLICIT_TLS_PORT = 465
_SUBMISSION_PORT = 587


@dataclass(frozen=True)
class Letter:
    """What is to be said to whom. `link` is shown in the log when there is no mail server."""

    to: str
    subject: str
    text: str
    link: str | None = None


class Carrier(Protocol):
    async def deliver(self, message: EmailMessage, letter: Letter) -> None: ...


class SmtpCarrier:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._use_tls = parts.scheme == "smtps"
        self._host = parts.hostname or "localhost"
        self._port = parts.port or (_IMPLICIT_TLS_PORT if self._use_tls else _SUBMISSION_PORT)
        self._username = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None

    async def deliver(self, message: EmailMessage, letter: Letter) -> None:
        await aiosmtplib.send(
            message,
            hostname=self._host,
            port=self._port,
            username=self._username,
            password=self._password,
            use_tls=self._use_tls,
            timeout=_SMTP_TIMEOUT_SECONDS,
        )


class OutboxCarrier:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def deliver(self, message: EmailMessage, letter: Letter) -> None:
        path = self._folder / f"{new_id('msg')}.eml"
        await asyncio.to_thread(self._write, path, bytes(message))
        log.info("mail_in_outbox", to=letter.to, subject=letter.subject, link=letter.link)

    def _write(self, path: Path, content: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_bytes(content)


class Mailer:
    """Sends in the background, so that an answer's time does not tell whether a mail was sent."""

    def __init__(self, carrier: Carrier, sender: str) -> None:
        self._carrier = carrier
        self._sender = sender
        self._under_way: set[asyncio.Task[None]] = set()

    @classmethod
    def from_settings(cls, settings: Settings) -> "Mailer":
        carrier: Carrier
        if settings.smtp_url is not None:
            carrier = SmtpCarrier(settings.smtp_url.get_secret_value())
        else:
            carrier = OutboxCarrier(settings.data_dir / "outbox")
        return cls(carrier, settings.mail_from)

    def post(self, letter: Letter) -> None:
        task = asyncio.create_task(self._deliver(letter))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def deliver(self, letter: Letter, message_id: str) -> None:
        """Send now and raise what goes wrong. The same id again says that it is the same mail."""
        message = self._compose(letter)
        message.replace_header("Message-ID", message_id)
        await self._carrier.deliver(message, letter)

    async def drain(self) -> None:
        """Wait until everything posted so far is delivered or has failed."""
        await asyncio.gather(*self._under_way)

    async def _deliver(self, letter: Letter) -> None:
        try:
            await self._carrier.deliver(self._compose(letter), letter)
        except Exception as error:
            log.error("mail_failed", to=letter.to, subject=letter.subject, error=repr(error))

    def _compose(self, letter: Letter) -> EmailMessage:
        # The policy keeps addresses such as jürgen@example.com as they are (RFC 6532).
        message = EmailMessage(policy=SMTPUTF8)
        message["From"] = self._sender
        message["To"] = letter.to
        message["Subject"] = letter.subject
        message["Date"] = formatdate()
        message["Message-ID"] = make_msgid(domain="spanwise")
        # Left to choose, the library breaks long lines, and with them the link in an outbox file.
        plain = letter.text.isascii()
        message.set_content(letter.text, cte="7bit" if plain else "quoted-printable")
        return message
