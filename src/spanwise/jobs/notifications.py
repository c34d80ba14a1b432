"""Sends what is in the outbox, tries again with growing pauses, and writes down how it went.

A message is claimed before it is sent: the try is counted, and the next one is due only when this
one must have ended. So replicas do not send the same message twice, and after a crash it is due
again. It carries the same id each time, by which a receiver knows a repetition.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta

import httpcore2
import orjson
import structlog
from standardwebhooks import Webhook as Signer

from spanwise.model.events import Channel, DeliveryStatus, OutboxMessage
from spanwise.model.record import utc_now
from spanwise.services.notifications.mail import Mail, Mailer
from spanwise.services.notifications.outbox import write_mail
from spanwise.services.notifications.webhook_guard import (
    ATTEMPT_SECONDS,
    AddressRefused,
    WebhookGuard,
)
from spanwise.storage.catalog import Catalog
from spanwise.storage.catalog import events as stored

log = structlog.get_logger()

# The pause before each further try: 15 hours in all, as Standard Webhooks advises.
PAUSES_SECONDS = (5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800)
KEPT_FOR = timedelta(days=30)
_DUE_AT_A_TIME = 500
_TARGETS_AT_A_TIME = 20
# Longer than a try can take: mail servers are given 20 s.
_CLAIM_SECONDS = 60
_MAX_ERROR = 300
_OK = range(200, 300)

Clock = Callable[[], datetime]


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
        self._places = asyncio.Semaphore(_TARGETS_AT_A_TIME)
        self.pending = 0

    async def run(self) -> None:
        """Send everything that is due."""
        async with self._catalog.read() as tx:
            due = await stored.find_due(tx, self._clock(), _DUE_AT_A_TIME)
            self.pending = await stored.count_pending(tx)
        by_target: dict[str, list[OutboxMessage]] = defaultdict(list)
        for parcel in due:
            by_target[parcel.delivery.target].append(parcel)
        await asyncio.gather(*(self._attempt_in_order(group) for group in by_target.values()))

    async def _attempt_in_order(self, parcels: list[OutboxMessage]) -> None:
        # To one receiver in the order in which things happened: "resolved" comes last. One that
        # does not answer is left alone until the next round, so that nobody waits for it.
        async with self._places:
            for parcel in parcels:
                if not await self.attempt(parcel):
                    return

    async def release_claims(self) -> None:
        """Make messages due that were being sent when this, the only process, was killed."""
        async with self._catalog.write() as tx:
            await stored.release_claims(tx, self._clock())

    async def drop_old(self) -> None:
        async with self._catalog.write() as tx:
            await stored.drop_finished(tx, self._clock() - KEPT_FOR)

    async def attempt(self, parcel: OutboxMessage) -> bool:
        """Try once to send a message, unless somebody else is about to; False when it failed."""
        until = self._clock() + timedelta(seconds=_CLAIM_SECONDS)
        async with self._catalog.write() as tx:
            if not await stored.claim(tx, parcel, until):
                return True
        response_status, error = await self._send(parcel)
        attempts = parcel.delivery.attempts + 1
        status, next_at = DeliveryStatus.DELIVERED, None
        now = self._clock()
        if error is not None:
            status = DeliveryStatus.FAILED
            if attempts <= len(PAUSES_SECONDS):
                status = DeliveryStatus.PENDING
                next_at = now + timedelta(seconds=PAUSES_SECONDS[attempts - 1])
            log.warning(
                "delivery_failed", delivery=parcel.delivery.id, attempts=attempts, error=error
            )
        async with self._catalog.write() as tx:
            await stored.finish_attempt(
                tx,
                parcel.delivery.id,
                status=status,
                next_attempt_at=next_at,
                response_status=response_status,
                error=error,
                now=now,
            )
        return error is None

    async def _send(self, parcel: OutboxMessage) -> tuple[int | None, str | None]:
        """Send; return the receiver's status, if it has one, and what went wrong, if anything."""
        try:
            if parcel.delivery.channel is Channel.MAIL:
                await self._mail(parcel)
                return None, None
            status = await self._post(parcel)
        except AddressRefused as refused:
            return None, str(refused)
        except TimeoutError:
            return None, f"no answer within {ATTEMPT_SECONDS:g} s"
        except (httpcore2.NetworkError, httpcore2.TimeoutException, OSError) as error:
            return None, f"cannot be reached ({type(error).__name__})"
        except Exception as error:
            return None, f"{type(error).__name__}: {error}"[:_MAX_ERROR]
        return status, None if status in _OK else f"answered {status}"

    async def _mail(self, parcel: OutboxMessage) -> None:
        subject, text = write_mail(parcel.content, self._public_address)
        letter = Mail(parcel.delivery.target, subject, text)
        await self._mailer.deliver(letter, message_id=f"<{parcel.delivery.id}@spanwise>")

    async def _post(self, parcel: OutboxMessage) -> int:
        body = orjson.dumps(parcel.content)
        now = utc_now()
        signature = Signer(parcel.secret or "").sign(parcel.delivery.id, now, body.decode())
        headers: dict[bytes | str, bytes | str] = {
            "content-type": "application/json",
            "user-agent": "spanwise",
            "webhook-id": parcel.delivery.id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": signature,
        }
        return await self._guard.post(parcel.delivery.target, headers, body)
