"""OTLP over gRPC: all three kinds, errors, and limits on calls."""

import asyncio
import base64
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
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


async def test_all_kinds_are_accepted_compressed_or_not_and_in_part(
    channel: grpc.aio.Channel, exporter: Exporter, person: Person
) -> None:
    key: Metadata = (("x-api-key", exporter.key),)
    export = TraceServiceStub(channel).Export
    spans = [make_span(text="x" * 10_000) for _ in range(4)]
    half = make_traces([spans[3], make_span(start=1)])
    # Sent at once, they are stored in one batch.
    *accepted, partial = await asyncio.gather(
        export(make_traces([spans[0]]), metadata=key),
        export(make_traces([spans[1]]), metadata=key, compression=grpc.Compression.Gzip),
        export(make_traces([spans[2]]), metadata=key, compression=grpc.Compression.Deflate),
        LogsServiceStub(channel).Export(make_logs(), metadata=key),
        MetricsServiceStub(channel).Export(make_metrics(), metadata=key),
        export(half, metadata=key),
    )
    assert [answer.HasField("partial_success") for answer in accepted] == [False] * 5
    assert partial.partial_success.rejected_spans == 1
    listed = await person.data("GET", "/spans/traces")
    assert {trace["traceId"] for trace in listed} == {span.trace_id.hex() for span in spans}
    assert len(await person.data("GET", "/logs")) == 1


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


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_message_over_the_limit_is_refused_compressed_or_not(
    channel: grpc.aio.Channel, exporter: Exporter, compression: grpc.Compression
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await raw_export(channel)(
            bytes(2 * MAX_BODY_BYTES),
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


LIMIT = 6


@pytest.fixture(scope="module")
async def limited(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Service]:
    """A service with a low limit for each caller, a full disk, and memory for two messages."""
    settings = {
        "rate_limit_ingestion": LIMIT,
        "min_free_disk_mb": 2**40,
        "memory_limit_mb": 256,
    }
    async with start_service(tmp_path_factory.mktemp("limited"), **settings) as running:
        yield running


async def test_retryable_errors_contain_a_delay(limited: Service) -> None:
    person = await limited.sign_up()
    metadata = (("x-api-key", (await person.new_key())["key"]),)
    body = make_traces([make_span()]).SerializeToString()
    async with (
        serving(limited, request_seconds=20) as number,
        grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel,
    ):
        # An empty export needs no disk.
        await raw_export(channel)(b"", metadata=metadata)
        full = await refusal(channel, body, metadata)
        for _ in range(LIMIT - 2):
            await raw_export(channel)(b"", metadata=metadata)
        too_many = await refusal(channel, b"", metadata)
    assert full.code() is grpc.StatusCode.UNAVAILABLE
    assert 1 <= retry_seconds(full) <= 5
    assert too_many.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert 1 <= retry_seconds(too_many) <= 61


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
        serving(service, request_seconds=0.5) as number,
        grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel,
    ):
        call = half_sent(channel, (("x-api-key", exporter.key),))
        assert await status_of(call) is grpc.StatusCode.INVALID_ARGUMENT
        assert "did not arrive within 0.5 s" in await call.details()


async def test_a_call_that_ends_without_a_message_is_an_invalid_argument(
    channel: grpc.aio.Channel, exporter: Exporter
) -> None:
    call = half_sent(channel, (("x-api-key", exporter.key),))
    await call.done_writing()
    assert await status_of(call) is grpc.StatusCode.INVALID_ARGUMENT
    assert await call.details() == "the call has no message"


async def test_slow_calls_of_one_workspace_leave_room_for_another(limited: Service) -> None:
    ann, bob = await limited.sign_up(), await limited.sign_up()
    slow, quick = [(("x-api-key", (await p.new_key())["key"]),) for p in (ann, bob)]
    async with (
        serving(limited, request_seconds=2) as number,
        grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel,
    ):
        calls = [half_sent(channel, slow) for _ in range(5)]
        codes = [asyncio.create_task(status_of(call)) for call in calls]
        # The first call that has waited in vain ends while another one is still being received.
        await asyncio.wait(codes, return_when=asyncio.FIRST_COMPLETED)
        await raw_export(channel)(b"", metadata=quick, timeout=2)
        names = sorted([(await code).name for code in codes])
    # One was being received, and the others were waiting.
    assert names == ["INVALID_ARGUMENT", *["UNAVAILABLE"] * 4]


async def until_refused(
    busy: grpc.aio.Channel, other: grpc.aio.Channel, metadata: Metadata
) -> grpc.aio.AioRpcError:
    """Send halves of calls until a whole one is refused.

    One half more each time: while a whole call has a place, a half may be refused instead.
    """
    halves = []
    async with asyncio.timeout(20):
        while True:
            halves.append(half_sent(busy, metadata))
            try:
                await raw_export(other)(b"", metadata=metadata)
            except grpc.aio.AioRpcError as error:
                for call in halves:
                    call.cancel()
                return error


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
            error = await until_refused(first, second, metadata)
            assert error.code() is grpc.StatusCode.UNAVAILABLE
            assert retry_seconds(error) >= 1


# Nothing, half of the preface, and the preface with SETTINGS and half of a HEADERS frame.
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
HALF_HEADERS = bytes([0, 0, 200, 1, 4, 0, 0, 0, 1]) + b"\x82"


async def until_closed(port: int, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    async with asyncio.timeout(20):
        while await reader.read(65_536):
            pass
    writer.close()


async def test_a_connection_without_a_call_is_closed(service: Service) -> None:
    async with serving(service, request_seconds=0.5) as number:
        beginnings = (b"", PREFACE[:10], PREFACE + SETTINGS + HALF_HEADERS)
        await asyncio.gather(*(until_closed(number, sent) for sent in beginnings))


async def test_an_exporter_whose_connection_was_idle_connects_again(
    service: Service, exporter: Exporter
) -> None:
    async with (
        serving(service, request_seconds=0.5) as number,
        grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel,
    ):
        for _ in range(2):
            await raw_export(channel)(b"", metadata=(("x-api-key", exporter.key),))
            async with asyncio.timeout(20):
                await channel.wait_for_state_change(grpc.ChannelConnectivity.READY)
        await raw_export(channel)(b"", metadata=(("x-api-key", exporter.key),))


async def test_calls_without_a_key_are_counted_by_address(limited: Service) -> None:
    async with (
        serving(limited, request_seconds=20) as number,
        grpc.aio.insecure_channel(f"127.0.0.1:{number}") as channel,
    ):
        addresses = [f"198.51.100.{part}" for part in (*[1] * (LIMIT + 1), 2)]
        codes = [
            (await refusal(channel, b"", (("x-forwarded-for", address),))).code()
            for address in addresses
        ]
    unknown, exceeded = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.RESOURCE_EXHAUSTED
    assert codes == [unknown] * LIMIT + [exceeded, unknown]
