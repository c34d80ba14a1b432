"""OTLP over gRPC: receives exports of traces, logs and metrics."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from typing import Any
from urllib.parse import unquote
from weakref import WeakValueDictionary

import grpc
import grpc.aio
import structlog
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from spanwise.api.auth import authenticate, may_ingest
from spanwise.api.http.anonymous_limits import REQUEST_SECONDS
from spanwise.api.http.client_address import TrustedProxies
from spanwise.api.http.rate_limits import RateLimits, Tier
from spanwise.api.otlp.responses import crash_error, export_message, to_rpc_code
from spanwise.api.services import Services
from spanwise.ingest.compression import MAX_BODY_BYTES
from spanwise.ingest.records.record import Kind
from spanwise.model.accounts import Principal
from spanwise.model.errors import (
    Invalid,
    RateLimited,
    SpanwiseError,
    Unauthorized,
    Unavailable,
)

log = structlog.get_logger()

_METHODS = {
    Kind.TRACES: "opentelemetry.proto.collector.trace.v1.TraceService",
    Kind.LOGS: "opentelemetry.proto.collector.logs.v1.LogsService",
    Kind.METRICS: "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
_STATUS_CODES = {code.value[0]: code for code in grpc.StatusCode}
_STOP_SECONDS = 5
_FORWARDED_FOR = "x-forwarded-for"
MAX_CALLS = 128


async def start_grpc(
    services: Services, host: str, port: int, request_seconds: float = REQUEST_SECONDS
) -> grpc.aio.Server | None:
    """Listen for exports; return None, and log it, when the port is taken."""
    request_ms = int(request_seconds * 1000)
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", MAX_BODY_BYTES),
            ("grpc.so_reuseport", 0),
            ("grpc.max_concurrent_streams", MAX_CALLS),
            # Buffers at most 64 KiB per unread message; with bandwidth probing the buffer would
            # grow, for unauthenticated callers too.
            ("grpc.http2.bdp_probe", 0),
            ("grpc.server_handshake_timeout_ms", request_ms),
            # A connection that has sent only part of a call's headers counts as idle.
            ("grpc.max_connection_idle_ms", request_ms),
        ],
    )
    handler = ExportHandler(services, request_seconds)
    server.add_generic_rpc_handlers(
        [
            # The same as a unary call on the wire, but a unary handler would run only after the
            # whole message is received, so the caller could not be checked first.
            grpc.method_handlers_generic_handler(
                service, {"Export": grpc.stream_unary_rpc_method_handler(handler.handle(kind))}
            )
            for kind, service in _METHODS.items()
        ]
    )
    try:
        server.add_insecure_port(f"{host}:{port}")
    except RuntimeError:
        log.warning("grpc_port_taken", port=port, hint="set SPANWISE_OTLP_GRPC_PORT; 0 is off")
        return None
    await server.start()
    log.info("listening_grpc", port=port)
    return server


async def stop_grpc(server: grpc.aio.Server) -> None:
    await server.stop(_STOP_SECONDS)


Context = grpc.aio.ServicerContext[bytes, bytes]


class ExportHandler:
    """Authenticates the caller of each call, then reads and stores its message."""

    def __init__(self, services: Services, request_seconds: float) -> None:
        self._services = services
        self._rate_limits = RateLimits(services.settings, services.counters)
        self._proxies = TrustedProxies(services.settings.trusted_proxies)
        self._request_seconds = request_seconds
        # By default 10 s, the default timeout of exporters.
        self._slot_seconds = request_seconds / 3
        # The size of a message is unknown until all of it is received, so each one being read is
        # assumed to be as large as allowed.
        self._max_reads = max(1, services.ingest.body_memory.max_bytes // MAX_BODY_BYTES)
        self._read_slots = asyncio.Semaphore(self._max_reads)
        # A workspace gets at most half of the slots, so slow calls cannot block all others.
        self._workspace_slots = WeakValueDictionary[str, asyncio.Semaphore]()
        self._calls = Counter[str]()

    def handle(self, kind: Kind) -> Callable[[AsyncIterator[bytes], Context], Awaitable[bytes]]:
        async def export(_messages: AsyncIterator[bytes], context: Context) -> bytes:
            try:
                return await self._export(kind, context)
            except SpanwiseError as error:
                failure = error
            except Exception:
                log.exception("export_crashed", kind=kind.name)
                failure = crash_error()
            return await _abort(context, failure)

        return export

    async def _export(self, kind: Kind, context: Context) -> bytes:
        caller = await self._identify(context)
        with self._count_call(caller.workspace_id):
            body = await self._read(caller.workspace_id, context)
            with self._services.ingest.body_memory.reserve(len(body)):
                prepared = await self._services.ingest.receiver.receive_otlp(
                    caller.sender, kind, body, is_json=False
                )
        return export_message(kind, prepared).SerializeToString()

    @contextmanager
    def _count_call(self, workspace: str) -> Iterator[None]:
        if self._calls[workspace] >= MAX_CALLS:
            raise Unavailable(f"more than {MAX_CALLS} calls at once")
        self._calls[workspace] += 1
        try:
            yield
        finally:
            self._calls[workspace] -= 1
            if not self._calls[workspace]:
                del self._calls[workspace]

    async def _read(self, workspace: str, context: Context) -> bytes:
        slots = self._workspace_slots.get(workspace)
        if slots is None:
            slots = asyncio.Semaphore(max(1, self._max_reads // 2))
            self._workspace_slots[workspace] = slots
        async with AsyncExitStack() as held_slots:
            try:
                async with asyncio.timeout(self._slot_seconds):
                    await held_slots.enter_async_context(slots)
                    await held_slots.enter_async_context(self._read_slots)
            except TimeoutError:
                raise Unavailable("too many messages are being received") from None
            try:
                async with asyncio.timeout(self._request_seconds):
                    message = await context.read()
            except TimeoutError:
                seconds = f"{self._request_seconds:g} s"
                raise Invalid(f"the message did not arrive within {seconds}") from None
        if not isinstance(message, bytes):
            # gRPC itself rejects a message that is too large.
            raise Invalid("the call has no message")
        return message

    async def _identify(self, context: Any) -> Principal:  # noqa: ANN401
        metadata = {key.lower(): str(value) for key, value in context.invocation_metadata() or ()}
        address = self._find_client(context.peer(), metadata)
        try:
            caller = await authenticate(self._services.identity.access, metadata, address)
        except Unauthorized:
            await self._count(address)
            raise
        await self._count(caller.caller_id)
        return may_ingest.check(caller)

    async def _count(self, caller: str) -> None:
        counted = await self._rate_limits.count(Tier.INGESTION, caller)
        if counted is not None and counted.is_exceeded:
            raise counted.to_error()

    def _find_client(self, peer: str, metadata: Mapping[str, str]) -> str:
        """Return the client's address, given a peer such as `ipv4:10.0.0.1:5000`."""
        host = unquote(peer).partition(":")[2].rpartition(":")[0].strip("[]")
        forwarded_for = [metadata[_FORWARDED_FOR]] if _FORWARDED_FOR in metadata else []
        return self._proxies.find_client(host, forwarded_for)


async def _abort(context: Any, error: SpanwiseError) -> bytes:  # noqa: ANN401
    """End the call with an error status; exporters retry only if it contains a delay."""
    code = to_rpc_code(error)
    if isinstance(error, RateLimited | Unavailable):
        status = Status(code=code, message=error.message)
        delay = RetryInfo()
        delay.retry_delay.seconds = error.retry_after_seconds
        status.details.add().Pack(delay)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    await context.abort(_STATUS_CODES[code], error.message)
    raise AssertionError("abort does not return")
