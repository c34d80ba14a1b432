"""A text that must be masked reaches no file, whichever way it is sent."""

import base64
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc.aio
import orjson
import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2_grpc
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from spanwise.analysis.prices import find_list_prices
from spanwise.api.otlp.grpc import start_grpc, stop_grpc
from spanwise.ingest.masking.stored_rows import known_columns
from spanwise.ingest.receiver import THREAD_BYTES
from spanwise.model.errors import Invalid
from spanwise.model.masking import Detector, MaskingMode
from spanwise.services.accounts import access
from spanwise.services.telemetry.transfer import Transfer
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.export import transfer as stored
from spanwise.storage.telemetry.writer import TelemetryWriter
from support.listening import listening
from support.otlp import JSON, Exporter, make_logs, make_metrics, make_span, make_traces, pairs
from support.servers import free_port
from support.service import Person, Service, shared_telemetry_url
from support.spans import span as rest_span

Values = dict[str, Any]

# Field 500, which OTLP does not define.
UNKNOWN_FIELD = b"\xa2\x1f"


class Planted:
    """A text in all places of every kind of request."""

    def __init__(self) -> None:
        # With a second to spare for the resolution of file times.
        self.at = time.time() - 1
        self.marker = f"planted-{secrets.token_hex(8)}"
        self.email = f"{self.marker}@example.com"
        self.nested = {
            "deep": [{"inner": self.email, self.email: 1}, self.email],
            "json": f'[{{"content":"a\\n{self.email}"}}]',
        }
        self.values: Values = {
            "plain": self.email,
            "nested": self.nested,
            "user.id": self.email,
            "user.email": self.email,
            "session.id": self.email,
            "input.value": f"write to {self.email}",
            "gen_ai.output.messages": f'[{{"content":"\\n{self.email}"}}]',
            "genkit:output": f'{{"text":"{self.email}","usage":{{"inputTokens":12}}}}',
            "llm.input_messages.0.message.content": self.email,
            "exception.message": self.email,
            "exception.stacktrace": self.email,
            "content": self.email,
        }

    def traces(self) -> ExportTraceServiceRequest:
        span = make_span(**self.values)
        span.attributes.add(key="bytes").value.bytes_value = self.email.encode()
        span.trace_state = f"vendor={self.email}"
        span.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message=self.email))
        for name in ("exception", "gen_ai.user.message", "gen_ai.evaluation.result"):
            event = span.events.add(name=name, time_unix_nano=span.start_time_unix_nano)
            event.attributes.extend(pairs(self.values))
            evaluation = {"name": "quality", "score.value": 0.5, "explanation": self.email}
            event.attributes.extend(
                pairs({f"gen_ai.evaluation.{key}": value for key, value in evaluation.items()})
            )
        link = span.links.add(trace_id=span.trace_id, span_id=span.span_id, trace_state=self.email)
        link.attributes.extend(pairs(self.values))
        data = self.email.encode()
        span.MergeFromString(UNKNOWN_FIELD + bytes([len(data)]) + data)
        request = make_traces([span])
        request.resource_spans[0].resource.attributes.extend(pairs(self.values))
        request.resource_spans[0].scope_spans[0].scope.attributes.extend(pairs(self.values))
        return request

    def logs(self) -> ExportLogsServiceRequest:
        request = make_logs(f"of {self.email}")
        (scope,) = request.resource_logs[0].scope_logs
        scope.log_records[0].attributes.extend(pairs(self.values))
        # Becomes a span.
        call = scope.log_records.add(
            time_unix_nano=scope.log_records[0].time_unix_nano, event_name="codex.tool_result"
        )
        call.body.kvlist_value.values.extend(pairs(self.nested))
        call.attributes.extend(pairs({**self.values, "tool_name": "mail", "arguments": self.email}))
        request.resource_logs[0].resource.attributes.extend(pairs(self.values))
        scope.scope.attributes.extend(pairs(self.values))
        return request

    def metrics(self) -> ExportMetricsServiceRequest:
        request = make_metrics()
        (scope,) = request.resource_metrics[0].scope_metrics
        (metric,) = scope.metrics
        point = metric.sum.data_points[0]
        point.attributes.extend(pairs(self.values))
        point.exemplars.add(as_int=1).filtered_attributes.extend(pairs(self.values))
        metric.metadata.extend(pairs(self.values))
        histogram = scope.metrics.add(name="h").histogram.data_points.add(count=1)
        histogram.time_unix_nano = point.time_unix_nano
        histogram.attributes.extend(pairs(self.values))
        summary = scope.metrics.add(name="s").summary.data_points.add(count=1)
        summary.time_unix_nano = point.time_unix_nano
        summary.attributes.extend(pairs(self.values))
        return request

    def rest_span(self) -> Values:
        fields = ("statusMessage", "userId", "sessionId", "agentName", "toolName", "serviceName")
        return rest_span(
            **dict.fromkeys(fields, self.email),
            status="error",
            input=self.nested,
            output=self.email,
            attributes=self.values,
            events=[{"name": "exception", "attributes": self.values}],
        )

    def rest_log(self) -> Values:
        return {"message": self.email, "agentName": self.email, "attributes": self.values}

    def rest_signal(self) -> Values:
        fields = ("id", "userId", "sessionId", "agentId", "experimentId", "variant", "comment")
        texts = dict.fromkeys(fields, self.email)
        return {**texts, "signalName": "score", "value": 1, "metadata": self.values}


KINDS: dict[str, Callable[[Planted], Any]] = {
    "traces": Planted.traces,
    "logs": Planted.logs,
    "metrics": Planted.metrics,
}
STUBS: dict[str, Any] = {
    "traces": trace_service_pb2_grpc.TraceServiceStub,
    "logs": logs_service_pb2_grpc.LogsServiceStub,
    "metrics": metrics_service_pb2_grpc.MetricsServiceStub,
}


class Sent:
    """A sender whose workspace has rules, and everything that was journalled since."""

    def __init__(self, service: Service, person: Person, workspace: str, key: str) -> None:
        self.service = service
        self.person = person
        self.workspace = workspace
        self.exporter = Exporter(service.http, key)
        self.planted = Planted()
        self.journalled = b""

    def record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        journal = self.service.services.pipeline._journal
        append = journal.append

        def append_recorded(records: Any, sequence: int) -> None:
            self.journalled += b"".join(bytes(record.payload) for record in records)
            append(records, sequence)

        monkeypatch.setattr(journal, "append", append_recorded)

    async def check(self) -> None:
        """Check that the text is in no file and no table."""
        # These wait until all is stored.
        for path in ("/spans/traces", "/logs", "/signals"):
            await self.person.data("GET", path)
        assert self.journalled, "nothing was sent"
        files = self._read_files()
        assert any(files.values()), "no file was read"
        found = {"journal": self.journalled, **files, **self.read_tables()}
        marker = self.planted.marker.encode()
        assert [name for name, data in found.items() if marker in data] == []

    def _read_files(self) -> dict[str, bytes]:
        telemetry = Path(shared_telemetry_url().removeprefix("chdb://")).parent
        # Unlike `rglob`, it ignores folders that a merge removes meanwhile.
        walked = [*os.walk(self.service.data_dir), *os.walk(telemetry)]
        files = [Path(folder) / name for folder, _, names in walked for name in names]
        return {str(path): _read(path, self.planted.at) for path in files}

    def read_tables(self, workspace: str | None = None) -> dict[str, bytes]:
        """Return all columns of the workspace's rows: parts on disk are compressed."""
        found = {}
        with self.service.services.engine.client() as client:
            tables = query_rows(
                client,
                """SELECT DISTINCT table FROM system.columns
                WHERE database = currentDatabase() AND name = 'workspace'""",
                {},
            )
            for table in (row["table"] for row in tables):
                rows = query_rows(
                    client,
                    f"""SELECT formatRow('JSONEachRow', *) AS row FROM {table}
                    WHERE workspace = {{workspace:String}}""",
                    {"workspace": workspace or self.workspace},
                    raw=True,
                )
                found[table] = b"".join(row["row"] for row in rows)
        assert any(found.values())
        return found


def _read(path: Path, since: float) -> bytes:
    """Return the content of a file that was written since a time: most are of other tests."""
    try:
        return path.read_bytes() if path.stat().st_mtime >= since else b""
    except OSError:
        # A part that was merged meanwhile.
        return b""


@pytest.fixture(params=[MaskingMode.MASK, MaskingMode.METADATA_ONLY])
async def sent(
    request: pytest.FixtureRequest, service: Service, monkeypatch: pytest.MonkeyPatch
) -> Sent:
    new = await new_sender(service, request.param, [Detector.EMAIL])
    new.record(monkeypatch)
    return new


async def new_sender(service: Service, mode: MaskingMode, detectors: list[Detector]) -> Sent:
    person = await service.sign_up()
    workspace = person.user["defaultWorkspaceId"]
    rules = {"mode": mode, "detectors": detectors}
    await person.data("PUT", f"/workspaces/{workspace}/masking", json=rules)
    key = (await person.new_key(scopes=["ingest"]))["key"]
    return Sent(service, person, workspace, key)


@pytest.mark.parametrize("kind", KINDS)
async def test_protobuf_over_http(sent: Sent, kind: str) -> None:
    response = await sent.exporter.post(KINDS[kind](sent.planted), f"/v1/{kind}")
    assert response.status_code == 200, response.text
    await sent.check()


@pytest.mark.parametrize("kind", KINDS)
async def test_json_over_http(sent: Sent, kind: str) -> None:
    document = MessageToDict(KINDS[kind](sent.planted))
    _encode_ids(document)
    body = orjson.dumps(document)
    response = await sent.exporter.post(body, f"/v1/{kind}", content_type=JSON)
    assert response.status_code == 200, response.text
    await sent.check()


def _encode_ids(node: Any) -> None:
    """Convert ids from base64 to hex."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if key in {"traceId", "spanId", "parentSpanId"}:
            node[key] = base64.b64decode(value).hex()
        elif isinstance(value, dict | list):
            _encode_ids(value)


async def test_a_large_body(sent: Sent) -> None:
    request = sent.planted.traces()
    (scope,) = request.resource_spans[0].scope_spans
    scope.spans[0].attributes.extend(pairs({"large": f"{'x ' * THREAD_BYTES}{sent.planted.email}"}))
    assert (await sent.exporter.post(request)).status_code == 200
    await sent.check()


async def test_a_deep_value(sent: Sent) -> None:
    request = sent.planted.traces()
    attribute = request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="deep")
    value = attribute.value
    for _ in range(50):
        value = value.array_value.values.add()
    value.string_value = sent.planted.email
    assert (await sent.exporter.post(request)).status_code == 200
    await sent.check()


@pytest.mark.parametrize("kind", KINDS)
async def test_the_fast_path(sent: Sent, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "CACHE_SECONDS", 60.0)
    async with listening(sent.service) as here:
        exporter = Exporter(here.http, sent.exporter.key)
        assert (await exporter.post(b"")).status_code == 200
        here.handled.clear()
        response = await exporter.post(KINDS[kind](sent.planted), f"/v1/{kind}")
        assert response.status_code == 200, response.text
        assert here.handled == [True]
    await sent.check()


@pytest.mark.parametrize("kind", KINDS)
async def test_grpc(sent: Sent, kind: str) -> None:
    port = free_port()
    server = await start_grpc(sent.service.services, "127.0.0.1", port)
    assert server is not None
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        await STUBS[kind](channel).Export(
            KINDS[kind](sent.planted), metadata=(("x-api-key", sent.exporter.key),)
        )
    await stop_grpc(server)
    await sent.check()


async def test_rest_spans(sent: Sent) -> None:
    await sent.person.data("POST", "/spans", json={"spans": [sent.planted.rest_span()]})
    await sent.check()


async def test_rest_logs(sent: Sent) -> None:
    await sent.person.data("POST", "/logs", json=sent.planted.rest_log())
    await sent.check()


async def test_rest_signals(sent: Sent) -> None:
    await sent.person.data("POST", "/signals", json=sent.planted.rest_signal())
    await sent.check()


without_addresses = pytest.mark.parametrize(
    ("mode", "detectors"),
    [
        (MaskingMode.METADATA_ONLY, []),
        (MaskingMode.METADATA_ONLY, [Detector.EMAIL]),
        (MaskingMode.MASK, [Detector.EMAIL]),
    ],
)
ACCOUNTS = ("account-0", "account-1", None)


def make_calls(name: str) -> ExportLogsServiceRequest:
    """Return calls of Codex by three people with addresses, one of them without an account."""
    request = make_logs()
    (resource,) = request.resource_logs
    resource.resource.attributes.extend(pairs({"service.name": "codex_cli_rs"}))
    (scope,) = resource.scope_logs
    at = scope.log_records.pop().time_unix_nano
    for number, account in enumerate(ACCOUNTS):
        values = {
            "event.name": "codex.sse_event",
            "event.kind": "response.completed",
            "conversation.id": f"session-{number}",
            "model": "gpt-5-codex",
            "input_token_count": 5,
            "user.email": f"{name}{number}@example.com",
            **({"user.account_id": account} if account else {}),
        }
        scope.log_records.add(time_unix_nano=at).attributes.extend(pairs(values))
    return request


async def find_users(person: Person) -> set[str | None]:
    return {trace["userId"] for trace in await person.data("GET", "/spans/traces")}


@without_addresses
async def test_without_addresses_users_are_accounts(
    service: Service,
    monkeypatch: pytest.MonkeyPatch,
    mode: MaskingMode,
    detectors: list[Detector],
) -> None:
    sender = await new_sender(service, mode, detectors)
    sender.record(monkeypatch)
    metrics = make_metrics("codex.turn.token_usage")
    (resource,) = metrics.resource_metrics
    (point,) = resource.scope_metrics[0].metrics[0].sum.data_points
    for attributes in (point.attributes, resource.resource.attributes):
        attributes.extend(pairs({"user.email": sender.planted.email}))
    calls = make_calls(sender.planted.marker)
    for kind, request in {"logs": calls, "metrics": metrics}.items():
        assert (await sender.exporter.post(request, f"/v1/{kind}")).status_code == 200
    await sender.check()
    assert await find_users(sender.person) == {*ACCOUNTS}
    report = await sender.person.data("GET", "/analytics/coding-agents")
    assert {one["person"] for one in report["people"]} == {"account-0", "account-1", "unknown"}


@without_addresses
async def test_without_addresses_imported_users_are_accounts(
    service: Service,
    transfer: Transfer,
    tmp_path: Path,
    mode: MaskingMode,
    detectors: list[Detector],
) -> None:
    other = await service.sign_up()
    exporter = Exporter(service.http, (await other.new_key(scopes=["ingest"]))["key"])
    response = await exporter.post(make_calls("ann"), "/v1/logs")
    assert response.status_code == 200
    assert await find_users(other) == {"ann0@example.com", "ann1@example.com", "ann2@example.com"}
    await transfer.export(await transfer.find_workspace(other.email), tmp_path, lambda *_: None)
    sender = await new_sender(service, mode, detectors)
    await transfer.import_folder(sender.workspace, tmp_path, lambda *_: None)
    assert await find_users(sender.person) == {*ACCOUNTS}
    assert b"@example.com" not in b"".join(sender.read_tables().values())


@pytest.fixture
def transfer(service: Service) -> Transfer:
    writer = TelemetryWriter(service.services.engine, find_list_prices)
    return Transfer(service.services.catalog, writer, service.services.masking.find_masker)


async def test_an_import(sent: Sent, transfer: Transfer, tmp_path: Path) -> None:
    other = await sent.service.sign_up()
    exporter = Exporter(sent.service.http, (await other.new_key(scopes=["ingest"]))["key"])
    for kind, make in KINDS.items():
        assert (await exporter.post(make(sent.planted), f"/v1/{kind}")).status_code == 200
    await other.data("POST", "/spans", json={"spans": [sent.planted.rest_span()]})
    await other.data("POST", "/signals", json=sent.planted.rest_signal())
    await other.data("GET", "/spans/traces")
    await other.data("GET", "/signals")
    theirs = await transfer.find_workspace(other.email)
    exported = await transfer.export(theirs, tmp_path / "out", lambda *_: None)
    assert all(exported.values())
    assert sent.planted.email.encode() in b"".join(sent.read_tables(theirs).values())
    rows = await transfer.import_folder(sent.workspace, tmp_path / "out", lambda *_: None)
    assert rows == exported
    assert sent.planted.marker.encode() not in b"".join(sent.read_tables().values())
    signals = await sent.person.data("GET", "/signals")
    assert {signal["userId"] for signal in signals} == {"[email]"}


def test_every_exported_column_is_masked_or_kept(service: Service) -> None:
    with service.services.engine.client() as client:
        for table in stored.TABLES:
            assert set(stored._columns(client, table)) == known_columns(table)


async def test_a_file_that_cannot_be_masked_is_refused(
    sent: Sent, transfer: Transfer, tmp_path: Path
) -> None:
    (tmp_path / "manifest.json").write_text('{"rows": {"spans": 1}}')
    (tmp_path / "spans-000001.parquet").write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(Invalid, match=r"spans-000001\.parquet cannot be read"):
        await transfer.import_folder(sent.workspace, tmp_path, lambda *_: None)


async def test_a_workspace_without_rules_is_not_masked(sent: Sent) -> None:
    other = await sent.service.sign_up()
    span = sent.planted.rest_span()
    await other.data("POST", "/spans", json={"spans": [span]})
    found = await other.data("GET", f"/spans/traces/{span['traceId']}")
    assert sent.planted.email in str(found)
