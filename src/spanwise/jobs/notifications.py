"""Sends the messages in the outbox, with retries and exponential backoff.

A message is claimed before it is sent: the attempt is counted, and the next one is due only after
the claim expires. So replicas do not send the same message twice, and after a crash it becomes due
again. Retries carry the same id, by which receivers deduplicate.
"""

import asyncio
import socket
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta

import httpcore2
import orjson
import structlog
from standardwebhooks import Webhook as Signer

from spanwise.model.api_model import Clock, utc_now
from spanwise.model.events import Channel, DeliveryStatus, OutboxMessage
from spanwise.services.notifications.alert_notifications import TEST, write_mail
from spanwise.services.notifications.channel_messages import write_channel_message
from spanwise.services.notifications.mail import Mail, Mailer
from spanwise.services.notifications.webhook_guard import (
    ATTEMPT_SECONDS,
    AddressRefused,
    WebhookGuard,
)
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import events as stored

log = structlog.get_logger()

# Backoff before each retry: 15 hours in total, as Standard Webhooks recommends.
RETRY_SECONDS = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800)
KEPT_FOR = timedelta(days=30)
_MESSAGES_PER_RUN = 500
_PARALLEL_TARGETS = 20
# Longer than an attempt can take: mail servers get 20 s.
_CLAIM_SECONDS = 60
_MAX_ERROR = 300
_MAX_RESPONSE = 500
_OK = range(200, 300)


@dataclass(frozen=True)
class _Outcome:
    """What an attempt led to; each part is None if there is none."""

    status: int | None = None
    error: str | None = None
    response: str | None = None


class NotificationSender:
    def __init__(
        self,
        catalog: Catalog,
        mailer: Mailer,
        guard: WebhookGuard,
        public_address: str,
        clock: Clock = utc_now,
    ) -> None:
        self._catalog = catalog
        self._mailer = mailer
        self._guard = guard
        self._public_address = public_address
        self._clock = clock
        self._slots = asyncio.Semaphore(_PARALLEL_TARGETS)
        self.pending = 0

    async def run(self) -> None:
        """Send everything that is due."""
        async with self._catalog.read() as tx:
            due = await stored.find_due_messages(tx, self._clock(), _MESSAGES_PER_RUN)
            self.pending = await stored.count_pending(tx)
        by_target: dict[str, list[OutboxMessage]] = defaultdict(list)
        for message in due:
            by_target[message.delivery.target].append(message)
        await asyncio.gather(*(self._attempt_in_order(group) for group in by_target.values()))

    async def _attempt_in_order(self, messages: list[OutboxMessage]) -> None:
        # One target gets its messages in order: "resolved" comes last. After a failure the rest
        # waits for the next run, so that a dead target does not occupy a slot.
        async with self._slots:
            for message in messages:
                if not await self.attempt(message):
                    return

    async def release_claims(self) -> None:
        """Make messages due that a killed process was sending; only safe with a single process."""
        async with self._catalog.write() as tx:
            await stored.release_claims(tx, self._clock())

    async def drop_old(self) -> None:
        async with self._catalog.write() as tx:
            await stored.delete_finished(tx, self._clock() - KEPT_FOR)

    async def attempt(self, message: OutboxMessage) -> bool:
        """Send a message once, unless another replica claimed it; False when sending failed."""
        until = self._clock() + timedelta(seconds=_CLAIM_SECONDS)
        async with self._catalog.write() as tx:
            if not await stored.claim_message(tx, message, until):
                return True
        outcome = await self._send(message)
        error = outcome.error
        attempts = message.delivery.attempts + 1
        status, next_at = DeliveryStatus.DELIVERED, None
        now = self._clock()
        if error is not None:
            status = DeliveryStatus.FAILED
            if attempts <= len(RETRY_SECONDS) and message.delivery.type != TEST:
                status = DeliveryStatus.PENDING
                next_at = now + timedelta(seconds=RETRY_SECONDS[attempts - 1])
            log.warning(
                "delivery_failed", delivery=message.delivery.id, attempts=attempts, error=error
            )
        async with self._catalog.write() as tx:
            await stored.finish_attempt(
                tx,
                message.delivery.id,
                status=status,
                next_attempt_at=next_at,
                response_status=outcome.status,
                error=error,
                response=outcome.response,
                now=now,
            )
        return error is None

    async def _send(self, message: OutboxMessage) -> _Outcome:
        try:
            if message.delivery.channel is Channel.MAIL:
                await self._send_mail(message)
                return _Outcome()
            if message.delivery.channel is Channel.WEBHOOK:
                status, response = await self._post_webhook(message), None
            else:
                status, response = await self._post_to_channel(message)
        except AddressRefused as refused:
            return _Outcome(error=str(refused))
        except TimeoutError:
            return _Outcome(error=f"no answer within {ATTEMPT_SECONDS:g} s")
        except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError) as error:
            return _Outcome(error=_describe_network_error(error))
        except Exception as error:
            return _Outcome(error=f"{type(error).__name__}: {error}"[:_MAX_ERROR])
        return _Outcome(status, None if status in _OK else f"answered {status}", response)

    async def _send_mail(self, message: OutboxMessage) -> None:
        subject, text = write_mail(message.content, self._public_address)
        mail = Mail(message.delivery.target, subject, text)
        await self._mailer.deliver(mail, message_id=f"<{message.delivery.id}@spanwise>")

    async def _post_webhook(self, message: OutboxMessage) -> int:
        body = orjson.dumps(message.content)
        now = utc_now()
        signature = Signer(message.secret or "").sign(message.delivery.id, now, body.decode())
        headers: dict[bytes | str, bytes | str] = {
            "content-type": "application/json",
            "user-agent": "spanwise",
            "webhook-id": message.delivery.id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": signature,
        }
        status, _ = await self._guard.post(message.delivery.target, headers, body)
        return status

    async def _post_to_channel(self, message: OutboxMessage) -> tuple[int, str | None]:
        url, body = write_channel_message(message.content, self._public_address)
        headers: dict[bytes | str, bytes | str] = {
            "content-type": "application/json",
            "user-agent": "spanwise",
        }
        status, answer = await self._guard.post(
            url, headers, orjson.dumps(body), read_bytes=_MAX_RESPONSE
        )
        # PostgreSQL cannot store NUL characters.
        return status, answer.decode(errors="replace").replace("\x00", "").strip() or None


def _describe_network_error(error: Exception) -> str:
    if isinstance(error, socket.gaierror):
        return "host not found: check the address, and the name servers of this machine"
    return f"cannot be reached ({type(error).__name__})"
