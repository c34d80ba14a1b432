"""OTLP over gRPC: all three kinds, errors, and limits on calls."""

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc

from spanwise.api.otlp.grpc import start_grpc, stop_grpc
from spanwise.ingest.compression import MAX_BODY_BYTES
from support.otlp import Exporter, make_logs, make_metrics, make_span, make_traces
from support.servers import free_port
from support.service import Person, Service, start_service

Metadata = Sequence[tuple[str, str]]
# The stubs have no types.
LogsServiceStub: Any = logs_service_pb2_grpc.LogsServiceStub
MetricsServiceStub: Any = metrics_service_pb2_grpc.MetricsServiceStub
TraceServiceStub: Any = trace_service_pb2_grpc.TraceServiceStub


EXPORT_TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


def raw_export(channel: grpc.aio.Channel) -> Any:
    """Return the call that exports traces and takes serialized requests."""
    return channel.unary_unary(EXPORT_TRACES)


def half_sent(channel: grpc.aio.Channel, metadata: Metadata = ()) -> Any:
    """Start the same call and send its headers, but not its message."""
    return channel.stream_unary(EXPORT_TRACES)(metadata=metadata)


@asynccontextmanager
async def serving(service: Service, request_seconds: float) -> AsyncIterator[int]:
    """Start the gRPC server of a service on a free port with this request timeout."""
    number = free_port()
    server = await start_grpc(service.services, "127.0.0.1", number, request_seconds)
    assert server is not None
    try:
        yield number
    finally:
        await stop_grpc(server)


async def status_of(call: Any, seconds: float = 20) -> grpc.StatusCode:
    async with asyncio.timeout(seconds):
        code: grpc.StatusCode = await call.code()
        return code


@pytest.fixture(scope="module")
async def port(shared_service: Service) -> AsyncIterator[int]:
    number = free_port()
    server = await start_grpc(shared_service.services, "127.0.0.1", number)
    assert server is not None
    yield number
    await stop_grpc(server)


@pytest.fixture
async def channel(port: int) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as opened:
        yield opened


async def refusal(
    channel: grpc.aio.Channel, body: bytes, metadata: Metadata
) -> grpc.aio.AioRpcError:
    """Send raw bytes and return the resulting error."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await raw_export(channel)(body, metadata=metadata)
    return caught.value


async def test_all_three_kinds_are_accepted(
    channel: grpc.aio.Channel, exporter: Exporter, person: Person
) -> None:
    key: Metadata = (("x-api-key", exporter.key),)
    span = make_span()
    traces = await TraceServiceStub(channel).Export(make_traces([span]), metadata=key)
    logs = await LogsServiceStub(channel).Export(make_logs(), metadata=key)
    metrics = await MetricsServiceStub(channel).Export(make_metrics(), metadata=key)
    assert [r.HasField("partial_success") for r in (traces, logs, metrics)] == [False] * 3
    await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")


@pytest.mark.parametrize("compression", [grpc.Compression.Gzip, grpc.Compression.Deflate])
async def test_compressed_calls_are_accepted(
    channel: grpc.aio.Channel, exporter: Exporter, person: Person, compression: grpc.Compression
) -> None:
    span = make_span(text="x" * 10_000)
    await TraceServiceStub(channel).Export(
        make_traces([span]), metadata=(("x-api-key", exporter.key),), compression=compression
    )
    await person.data("GET", f"/spans/traces/{span.trace_id.hex()}")


async def test_the_key_is_accepted_in_every_header(
    channel: grpc.aio.Channel, exporter: Exporter
) -> None:
    basic = base64.b64encode(f"x:{exporter.key}".encode()).decode()
    for name, value in (
        ("x-api-key", exporter.key),
        ("authorization", f"Bearer {exporter.key}"),
        ("authorization", f"Basic {basic}"),
    ):
        await raw_export(channel)(b"", metadata=((name, value),))


@pytest.mark.parametrize("metadata", [(), (("x-api-key", "sw_nobody"),)])
async def test_an_invalid_key_is_unauthenticated(
    channel: grpc.aio.Channel, metadata: Metadata
) -> None:
    assert (await refusal(channel, b"", metadata)).code() is grpc.StatusCode.UNAUTHENTICATED


async def test_a_read_key_is_denied(channel: grpc.aio.Channel, person: Person) -> None:
    key = (await person.new_key(scopes=["read"]))["key"]
    error = await refusal(channel, b"", (("x-api-key", key),))
    assert error.code() is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    "body",
    [b"\xff\xff garbage", make_traces([make_span(trace_id=b"x")]).SerializeToString()],
    ids=["garbage", "invalid trace id"],
)
async def test_invalid_data_is_an_invalid_argument(
    channel: grpc.aio.Channel, exporter: Exporter, body: bytes
) -> None:
    error = await refusal(channel, body, (("x-api-key", exporter.key),))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert error.details()


async def test_partly_invalid_data_is_a_partial_success(
    channel: grpc.aio.Channel, exporter: Exporter
) -> None:
    answer = await TraceServiceStub(channel).Export(
        make_traces([make_span(), make_span(start=1)]), metadata=(("x-api-key", exporter.key),)
    )
    assert answer.partial_success.rejected_spans == 1


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_message_over_the_limit_is_refused_compressed_or_not(
    channel: grpc.aio.Channel, exporter: Exporter, compression: grpc.Compression
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await raw_export(channel)(
            bytes(4 * MAX_BODY_BYTES),
            metadata=(("x-api-key", exporter.key),),
            compression=compression,
        )
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


def retry_seconds(error: grpc.aio.AioRpcError) -> int:
    trailing = dict(error.trailing_metadata() or ())
    status = Status.FromString(trailing["grpc-status-details-bin"])
    delay = RetryInfo()
    assert status.details[0].Unpack(delay)
    seconds: int = delay.retry_delay.seconds
    return seconds


@pytest.mark.parametrize(
    ("settings", "code", "most_seconds"),
    [
        ({"rate_limit_ingestion": 1}, grpc.StatusCode.RESOURCE_EXHAUSTED, 61),
        ({"min_free_disk_mb": 2**40}, grpc.StatusCode.UNAVAILABLE, 5),
    ],
)
async def test_retryable_errors_contain_a_delay(
    tmp_path: Path, settings: dict[str, int], code: grpc.StatusCode, most_seconds: int
) -> None:
    async with start_service(tmp_path, **settings) as service:
        person = await service.sign_up()
        metadata = (("x-api-key", (await person.new_key())["key"]),)
        number = free_port()
        server = await start_grpc(service.services, "127.0.0.1", number)
        assert server is not None
        async with grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel:
            await raw_export(channel)(b"", metadata=metadata)
            body = make_traces([make_span()]).SerializeToString()
            error = await refusal(channel, body, metadata)
        await stop_grpc(server)
    assert error.code() is code
    assert 1 <= retry_seconds(error) <= most_seconds


async def test_a_port_in_use_does_not_stop_the_start(service: Service, port: int) -> None:
    assert await start_grpc(service.services, "127.0.0.1", port) is None


async def test_a_call_without_a_key_ends_before_its_message_is_sent(
    channel: grpc.aio.Channel,
) -> None:
    assert await status_of(half_sent(channel)) is grpc.StatusCode.UNAUTHENTICATED


async def test_calls_without_a_key_do_not_block_others(port: int, exporter: Exporter) -> None:
    target, alone = f"127.0.0.1:{port}", [("grpc.use_local_subchannel_pool", 1)]
    async with (
        grpc.aio.insecure_channel(target, options=alone) as first,
        grpc.aio.insecure_channel(target, options=alone) as second,
    ):
        waiting = [half_sent(channel) for channel in (first, second) for _ in range(70)]
        await raw_export(first)(b"", metadata=(("x-api-key", exporter.key),))
        codes = {await status_of(call) for call in waiting}
    assert codes == {grpc.StatusCode.UNAUTHENTICATED}


async def test_a_missing_message_times_out(service: Service, exporter: Exporter) -> None:
    async with (
        serving(service, request_seconds=1) as number,
        grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel,
    ):
        call = half_sent(channel, (("x-api-key", exporter.key),))
        assert await status_of(call) is grpc.StatusCode.INVALID_ARGUMENT
        assert "did not arrive within 1 s" in await call.details()


async def test_a_call_that_ends_without_a_message_is_an_invalid_argument(
    channel: grpc.aio.Channel, exporter: Exporter
) -> None:
    call = half_sent(channel, (("x-api-key", exporter.key),))
    await call.done_writing()
    assert await status_of(call) is grpc.StatusCode.INVALID_ARGUMENT
    assert await call.details() == "the call has no message"


async def test_slow_calls_of_one_workspace_leave_room_for_another(tmp_path: Path) -> None:
    # Enough memory to receive two messages at a time.
    async with start_service(tmp_path, memory_limit_mb=256) as service:
        ann, bob = await service.sign_up(), await service.sign_up()
        slow, quick = [(("x-api-key", (await p.new_key())["key"]),) for p in (ann, bob)]
        async with (
            serving(service, request_seconds=3) as number,
            grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel,
        ):
            waiting = [half_sent(channel, slow) for _ in range(5)]
            await asyncio.sleep(0.5)
            await raw_export(channel)(b"", metadata=quick, timeout=2)
            codes = sorted([(await status_of(call)).name for call in waiting])
    # One was being received, and the others were waiting.
    assert codes == ["INVALID_ARGUMENT", *["UNAVAILABLE"] * 4]


async def test_too_many_concurrent_calls_of_a_workspace_get_a_retry_delay(
    service: Service, exporter: Exporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spanwise.api.otlp.grpc.MAX_CALLS", 2)
    metadata = (("x-api-key", exporter.key),)
    async with serving(service, request_seconds=20) as number:
        target, alone = f"127.0.0.1:{number}", [("grpc.use_local_subchannel_pool", 1)]
        async with (
            grpc.aio.insecure_channel(target, options=alone) as first,
            grpc.aio.insecure_channel(target, options=alone) as second,
        ):
            waiting = [half_sent(first, metadata) for _ in range(2)]
            await asyncio.sleep(0.5)
            error = await refusal(second, b"", metadata)
            assert error.code() is grpc.StatusCode.UNAVAILABLE
            assert retry_seconds(error) >= 1
            for call in waiting:
                call.cancel()


# Nothing, half of the preface, and the preface with SETTINGS and half of a HEADERS frame.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
HALF_HEADERS = bytes([0, 0, 200, 1, 4, 0, 0, 0, 1]) + b"\x82"


@pytest.mark.parametrize("sent", [b"", PREFACE[:10], PREFACE + SETTINGS + HALF_HEADERS])
async def test_a_connection_without_a_call_is_closed(service: Service, sent: bytes) -> None:
    async with serving(service, request_seconds=1) as number:
        reader, writer = await asyncio.open_connection("127.0.0.1", number)
        writer.write(sent)
        async with asyncio.timeout(20):
            while await reader.read(65_536):
                pass
        writer.close()


async def test_an_exporter_whose_connection_was_idle_connects_again(
    service: Service, exporter: Exporter
) -> None:
    async with (
        serving(service, request_seconds=0.5) as number,
        grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel,
    ):
        for _ in range(3):
            await raw_export(channel)(b"", metadata=(("x-api-key", exporter.key),))
            await asyncio.sleep(1)


async def test_calls_without_a_key_are_counted_by_address(tmp_path: Path) -> None:
    async with (
        start_service(tmp_path, rate_limit_ingestion=2) as service,
        serving(service, request_seconds=20) as number,
        grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel,
    ):
        addresses = [f"198.51.100.{part}" for part in (1, 1, 1, 2)]
        codes = [
            (await refusal(channel, b"", (("x-forwarded-for", address),))).code()
            for address in addresses
        ]
    unknown, limited = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.RESOURCE_EXHAUSTED
    assert codes == [unknown, unknown, limited, unknown]
