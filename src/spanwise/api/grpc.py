"""OTLP over gRPC: the same three exports through another door."""

from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
import structlog
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status

from spanwise.api.guard import authenticate, may_ingest
from spanwise.api.otlp import to_response, to_rpc_code
from spanwise.api.rate_limits import Tier, limits_from, refuse
from spanwise.api.services import Services
from spanwise.ingest.compression import MAX_BODY_BYTES
from spanwise.ingest.journal import Kind
from spanwise.model.accounts import Principal
from spanwise.model.errors import RateLimited, SpanwiseError, Unavailable

log = structlog.get_logger()

_METHODS = {
    Kind.TRACES: "opentelemetry.proto.collector.trace.v1.TraceService",
    Kind.LOGS: "opentelemetry.proto.collector.logs.v1.LogsService",
    Kind.METRICS: "opentelemetry.proto.collector.metrics.v1.MetricsService",
}
_STATUS_CODES = {code.value[0]: code for code in grpc.StatusCode}
_STOP_SECONDS = 5
MAX_CALLS = 128


async def start_grpc(services: Services, host: str, port: int) -> grpc.aio.Server | None:
    """Listen for exports; None when the port is taken, which is no reason not to start."""
    server = grpc.aio.server(
        options=[
            ("grpc.max_receive_message_length", MAX_BODY_BYTES),
            ("grpc.so_reuseport", 0),
        ],
        # Messages are in memory before we see them: this bounds how many.
        maximum_concurrent_rpcs=MAX_CALLS,
    )
    server.add_generic_rpc_handlers(
        [
            grpc.method_handlers_generic_handler(
                service,
                {"Export": grpc.unary_unary_rpc_method_handler(_export(services, kind))},
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


def _export(
    services: Services, kind: Kind
) -> Callable[[bytes, grpc.aio.ServicerContext[bytes, bytes]], Awaitable[bytes]]:
    async def export(body: bytes, context: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        try:
            caller = await _identify(services, context)
            with services.intake.hold(len(body)):
                prepared = await services.receiver.receive_otlp(
                    caller.workspace_id, kind, body, is_json=False
                )
            return to_response(kind, prepared).SerializeToString()
        except SpanwiseError as error:
            refusal = error
        except Exception:
            log.exception("export_crashed", kind=kind.name)
            refusal = SpanwiseError("something went wrong on our side; the log has it")
        return await _refuse(context, refusal)

    return export


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
    caller = may_ingest.admit(await authenticate(services.access, metadata))
    limit = limits_from(services.settings).get(Tier.INGESTION)
    if limit is not None:
        count = await services.counters.hit(limit, caller.caller_id)
        if count.exceeded:
            raise refuse(limit, count)
    return caller
