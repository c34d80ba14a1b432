"""OTLP over gRPC: the same three exports through another door."""

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
from spanwise.api.http.rate_limits import Tier, limits_from, refuse
from spanwise.api.otlp.responses import to_response, to_rpc_code
from spanwise.api.services import Services
from spanwise.ingest.commit.journal import Kind
from spanwise.ingest.compression import MAX_BODY_BYTES
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
    """Listen for exports; None when the port is taken, which is no reason not to start."""
    request_ms = int(request_seconds * 1000)
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", MAX_BODY_BYTES),
            ("grpc.so_reuseport", 0),
            ("grpc.max_concurrent_streams", MAX_CALLS),
            # A call holds 64 KiB of its message until somebody reads it; probing would let that
            # grow with the bandwidth, for callers who are not known yet as well.
            ("grpc.http2.bdp_probe", 0),
            ("grpc.server_handshake_timeout_ms", request_ms),
            # A connection without calls includes one that has sent half of a call's head.
            ("grpc.max_connection_idle_ms", request_ms),
        ],
    )
    export = Export(services, request_seconds)
    server.add_generic_rpc_handlers(
        [
            # On the wire it is the same as a unary call, but a unary handler gets to see the
            # caller only after the whole message has been received.
            grpc.method_handlers_generic_handler(
                service, {"Export": grpc.stream_unary_rpc_method_handler(export.handle(kind))}
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


class Export:
    """Receives the message of a call once its caller is known."""

    def __init__(self, services: Services, request_seconds: float) -> None:
        self._services = services
        self._request_seconds = request_seconds
        # With the default of 30 s it is the 10 s after which exporters give up.
        self._turn_seconds = request_seconds / 3
        # gRPC hands a message over when all of it is there and its size is not known before, so
        # each one that is being received counts as the largest.
        self._most_reads = max(1, services.body_memory.max_bytes // MAX_BODY_BYTES)
        self._reads = asyncio.Semaphore(self._most_reads)
        # One workspace's slow calls leave half of the reads to the others.
        self._reads_of = WeakValueDictionary[str, asyncio.Semaphore]()
        self._calls = Counter[str]()

    def handle(self, kind: Kind) -> Callable[[AsyncIterator[bytes], Context], Awaitable[bytes]]:
        async def export(_messages: AsyncIterator[bytes], context: Context) -> bytes:
            try:
                return await self._export(kind, context)
            except SpanwiseError as error:
                refusal = error
            except Exception:
                log.exception("export_crashed", kind=kind.name)
                refusal = SpanwiseError("something went wrong on our side; the log has it")
            return await _refuse(context, refusal)

        return export

    async def _export(self, kind: Kind, context: Context) -> bytes:
        caller = await _identify(self._services, context)
        with self._count_call(caller.workspace_id):
            body = await self._read(caller.workspace_id, context)
            with self._services.body_memory.reserve(len(body)):
                prepared = await self._services.receiver.receive_otlp(
                    caller.workspace_id, kind, body, is_json=False
                )
        return to_response(kind, prepared).SerializeToString()

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
        own = self._reads_of.get(workspace)
        if own is None:
            own = self._reads_of[workspace] = asyncio.Semaphore(max(1, self._most_reads // 2))
        async with AsyncExitStack() as turn:
            try:
                async with asyncio.timeout(self._turn_seconds):
                    await turn.enter_async_context(own)
                    await turn.enter_async_context(self._reads)
            except TimeoutError:
                raise Unavailable("too much is being received") from None
            try:
                async with asyncio.timeout(self._request_seconds):
                    message = await context.read()
            except TimeoutError:
                seconds = f"{self._request_seconds:g} s"
                raise Invalid(f"the message did not arrive within {seconds}") from None
        if not isinstance(message, bytes):
            # gRPC has already refused one that is too large, in its own words.
            raise Invalid("the call brought no message")
        return message


async def _refuse(context: Any, refusal: SpanwiseError) -> bytes:  # noqa: ANN401
    """End the call with a status. An exporter tries again only if it is told when."""
    code = to_rpc_code(refusal)
    if isinstance(refusal, RateLimited | Unavailable):
        status = Status(code=code, message=refusal.message)
        delay = RetryInfo()
        delay.retry_delay.seconds = refusal.retry_after_seconds
        status.details.add().Pack(delay)
        context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    await context.abort(_STATUS_CODES[code], refusal.message)
    raise AssertionError("abort does not return")


async def _identify(services: Services, context: Any) -> Principal:  # noqa: ANN401
    metadata = {key.lower(): str(value) for key, value in context.invocation_metadata() or ()}
    try:
        caller = await authenticate(services.access, metadata)
    except Unauthorized:
        await _count(services, _client_of(services, context.peer(), metadata))
        raise
    await _count(services, caller.caller_id)
    return may_ingest.admit(caller)


async def _count(services: Services, caller: str) -> None:
    limit = limits_from(services.settings).get(Tier.INGESTION)
    if limit is not None:
        count = await services.counters.hit(limit, caller)
        if count.exceeded:
            raise refuse(limit, count)


def _client_of(services: Services, peer: str, metadata: Mapping[str, str]) -> str:
    """Find the address of a call, from a peer such as `ipv4:10.0.0.1:5000`."""
    host = unquote(peer).partition(":")[2].rpartition(":")[0].strip("[]")
    proxies = TrustedProxies(services.settings.trusted_proxies)
    forwarded_for = [metadata[_FORWARDED_FOR]] if _FORWARDED_FOR in metadata else []
    return proxies.find_client(host, forwarded_for)
