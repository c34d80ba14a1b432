"""A text that must be masked reaches no file, whichever way it is sent."""

import asyncio
import base64
import os
import secrets
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
from spanwise.services import access
from spanwise.services.telemetry.transfer import Transfer
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.export import transfer as stored
from spanwise.storage.telemetry.write.writer import TelemetryWriter
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
        metric.unit = metric.description = self.email
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


EMAILS = [Detector.EMAIL]


@dataclass
class Sender:
    """A user of a workspace that has rules."""

    service: Service
    person: Person
    workspace: str
    exporter: Exporter

    @classmethod
    async def of(cls, service: Service, rules: Values | None = None) -> "Sender":
        person = await service.sign_up()
        workspace = person.user["defaultWorkspaceId"]
        if rules:
            await person.data("PUT", f"/workspaces/{workspace}/masking", json=rules)
        key = (await person.new_key(scopes=["ingest"]))["key"]
        return cls(service, person, workspace, Exporter(service.http, key))

    async def export(self, requests: Values) -> None:
        """Send requests by their kind."""
        for kind, request in requests.items():
            response = await self.exporter.post(request, f"/v1/{kind}")
            assert response.status_code == 200, response.text

    async def wait_until_stored(self) -> None:
        for path in ("/spans/traces", "/logs", "/signals"):
            await self.person.data("GET", path)

    def read_tables(self) -> dict[str, bytes]:
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
                    {"workspace": self.workspace},
                    raw=True,
                )
                found[table] = b"".join(row["row"] for row in rows)
        return found


class Recorder:
    """What was planted in each way, and everything that was written since."""

    def __init__(self, service: Service) -> None:
        self.service = service
        # With a second to spare for the resolution of file times.
        self.since = time.time() - 1
        self.planted: defaultdict[str, list[Planted]] = defaultdict(list)
        self.journalled = b""

    def record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        journal = self.service.services.ingest.pipeline._journal
        append = journal.append

        def append_recorded(records: Any, sequence: int) -> None:
            self.journalled += b"".join(bytes(record.payload) for record in records)
            append(records, sequence)

        monkeypatch.setattr(journal, "append", append_recorded)

    @contextmanager
    def planting(self, way: str) -> Iterator[Planted]:
        """Yield texts to be sent within the block."""
        planted, before = Planted(), len(self.journalled)
        self.planted[way].append(planted)
        yield planted
        assert len(self.journalled) > before, "nothing was sent"

    def read_files(self) -> dict[str, bytes]:
        telemetry = Path(shared_telemetry_url().removeprefix("chdb://")).parent
        # Unlike `rglob`, it ignores folders that a merge removes meanwhile.
        walked = [*os.walk(self.service.data_dir), *os.walk(telemetry)]
        files = [Path(folder) / name for folder, _, names in walked for name in names]
        return {str(path): _read(path, self.since) for path in files}


def _read(path: Path, since: float) -> bytes:
    """Return the content of a file that was written since a time: most are of other tests."""
    try:
        return path.read_bytes() if path.stat().st_mtime >= since else b""
    except OSError:
        # A part that was merged meanwhile.
        return b""


# --- ways to send -------------------------------------------------------------------------------


async def protobuf_over_http(sender: Sender, recorder: Recorder) -> None:
    for kind, make in KINDS.items():
        with recorder.planting("protobuf over HTTP") as planted:
            await sender.export({kind: make(planted)})


async def json_over_http(sender: Sender, recorder: Recorder) -> None:
    for kind, make in KINDS.items():
        with recorder.planting("JSON over HTTP") as planted:
            document = MessageToDict(make(planted))
            _encode_ids(document)
            body = orjson.dumps(document)
            response = await sender.exporter.post(body, f"/v1/{kind}", content_type=JSON)
            assert response.status_code == 200, response.text


def _encode_ids(node: Any) -> None:
    """Convert ids from base64 to hex."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if key in {"traceId", "spanId", "parentSpanId"}:
            node[key] = base64.b64decode(value).hex()
        elif isinstance(value, dict | list):
            _encode_ids(value)


async def a_large_body(sender: Sender, recorder: Recorder) -> None:
    with recorder.planting("a large body") as planted:
        request = planted.traces()
        [span] = request.resource_spans[0].scope_spans[0].spans
        span.attributes.extend(pairs({"large": f"{'x ' * THREAD_BYTES}{planted.email}"}))
        await sender.export({"traces": request})


async def a_deep_value(sender: Sender, recorder: Recorder) -> None:
    with recorder.planting("a deep value") as planted:
        request = planted.traces()
        value = request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="deep").value
        for _ in range(50):
            value = value.array_value.values.add()
        value.string_value = planted.email
        await sender.export({"traces": request})


async def the_fast_path(sender: Sender, recorder: Recorder) -> None:
    async with listening(sender.service) as here:
        exporter = Exporter(here.http, sender.exporter.key)
        assert (await exporter.post(b"")).status_code == 200
        here.handled.clear()
        for kind, make in KINDS.items():
            with recorder.planting("the fast path") as planted:
                response = await exporter.post(make(planted), f"/v1/{kind}")
                assert response.status_code == 200, response.text
        assert here.handled == [True] * len(KINDS)


async def over_grpc(sender: Sender, recorder: Recorder) -> None:
    port = free_port()
    server = await start_grpc(sender.service.services, "127.0.0.1", port)
    assert server is not None
    key = (("x-api-key", sender.exporter.key),)
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        for kind, make in KINDS.items():
            with recorder.planting("gRPC") as planted:
                await STUBS[kind](channel).Export(make(planted), metadata=key)
    await stop_grpc(server)


async def over_rest(sender: Sender, recorder: Recorder) -> None:
    person = sender.person
    with recorder.planting("REST spans") as planted:
        await person.data("POST", "/spans", json={"spans": [planted.rest_span()]})
    with recorder.planting("REST logs") as planted:
        await person.data("POST", "/logs", json=planted.rest_log())
    with recorder.planting("REST signals") as planted:
        await person.data("POST", "/signals", json=planted.rest_signal())


WAYS: dict[str, Callable[[Sender, Recorder], Awaitable[None]]] = {
    "protobuf over HTTP": protobuf_over_http,
    "JSON over HTTP": json_over_http,
    "a large body": a_large_body,
    "a deep value": a_deep_value,
    "the fast path": the_fast_path,
    "gRPC": over_grpc,
    "REST spans": over_rest,
    "REST logs": over_rest,
    "REST signals": over_rest,
}


@dataclass
class Written:
    """What was planted, and all that was written while it was sent."""

    planted: dict[str, list[Planted]]
    found: dict[str, bytes]


@pytest.fixture(scope="module", params=[MaskingMode.MASK, MaskingMode.METADATA_ONLY])
async def written(request: pytest.FixtureRequest, shared_service: Service) -> Written:
    """Send texts in every way to one workspace, and read all files and tables once."""
    sender = await Sender.of(shared_service, {"mode": request.param, "detectors": EMAILS})
    recorder = Recorder(shared_service)
    with pytest.MonkeyPatch.context() as patch:
        # Keep the key cached, however slow the machine is.
        patch.setattr(access, "CACHE_SECONDS", 60.0)
        recorder.record(patch)
        for send in dict.fromkeys(WAYS.values()):
            await send(sender, recorder)
        await sender.wait_until_stored()
        tables, files = sender.read_tables(), recorder.read_files()
    assert {"spans", "logs", "signals", "metric_points"} <= {t for t in tables if tables[t]}
    assert any(files.values()), "no file was read"
    return Written(recorder.planted, {"journal": recorder.journalled, **files, **tables})


@pytest.mark.parametrize("way", WAYS)
async def test_a_text_that_must_be_masked_is_in_no_file_and_no_table(
    written: Written, way: str
) -> None:
    assert written.planted[way]
    for planted in written.planted[way]:
        marker = planted.marker.encode()
        assert [name for name, data in written.found.items() if marker in data] == []


# --- accounts -----------------------------------------------------------------------------------


# Without addresses, people are told apart by their accounts.
WITHOUT_ADDRESSES: dict[str, Values] = {
    "only metadata": {"mode": MaskingMode.METADATA_ONLY, "detectors": []},
    "only metadata without addresses": {"mode": MaskingMode.METADATA_ONLY, "detectors": EMAILS},
    "no addresses": {"mode": MaskingMode.MASK, "detectors": EMAILS},
}
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
    """Return the users of the calls above."""
    traces = await person.data("GET", "/spans/traces", params={"limit": 100})
    return {t["userId"] for t in traces if (t["sessionId"] or "").startswith("session-")}


@dataclass
class Called:
    """Senders of calls by the names of their rules, and all that was written by then."""

    senders: dict[str, Sender]
    planted: dict[str, list[Planted]]
    found: dict[str, bytes]


@pytest.fixture(scope="module")
async def called(shared_service: Service) -> Called:
    senders = {n: await Sender.of(shared_service, r) for n, r in WITHOUT_ADDRESSES.items()}
    recorder = Recorder(shared_service)

    async def send(name: str) -> None:
        with recorder.planting(name) as planted:
            metrics = make_metrics("codex.turn.token_usage")
            (resource,) = metrics.resource_metrics
            (point,) = resource.scope_metrics[0].metrics[0].sum.data_points
            for attributes in (point.attributes, resource.resource.attributes):
                attributes.extend(pairs({"user.email": planted.email}))
            await senders[name].export({"logs": make_calls(planted.marker), "metrics": metrics})

    with pytest.MonkeyPatch.context() as patch:
        recorder.record(patch)
        await asyncio.gather(*(send(name) for name in senders))
        found: dict[str, bytes] = {}
        for name, sender in senders.items():
            await sender.wait_until_stored()
            tables = sender.read_tables()
            assert {"spans", "logs", "metric_points"} <= {t for t in tables if tables[t]}
            found |= {f"{table} of {name}": data for table, data in tables.items()}
    found |= {"journal": recorder.journalled, **recorder.read_files()}
    return Called(senders, recorder.planted, found)


@pytest.mark.parametrize("name", WITHOUT_ADDRESSES)
async def test_without_addresses_users_are_accounts(called: Called, name: str) -> None:
    [planted] = called.planted[name]
    marker = planted.marker.encode()
    assert [place for place, data in called.found.items() if marker in data] == []
    person = called.senders[name].person
    assert await find_users(person) == {*ACCOUNTS}
    report = await person.data("GET", "/analytics/coding-agents")
    assert {one["person"] for one in report["people"]} == {"account-0", "account-1", "unknown"}


# --- imports ------------------------------------------------------------------------------------


def new_transfer(service: Service) -> Transfer:
    writer = TelemetryWriter(service.services.engine, find_list_prices)
    return Transfer(service.services.catalog, writer, service.services.ingest.masking.find_masker)


@dataclass
class Exported:
    """The export of a workspace without rules."""

    folder: Path
    counts: Mapping[str, int]
    planted: Planted


@pytest.fixture(scope="module")
async def exported(shared_service: Service, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    other, planted = await Sender.of(shared_service), Planted()
    requests: Sequence[Values] = [
        {kind: make(planted) for kind, make in KINDS.items()},
        {"logs": make_calls("ann")},
    ]
    span = planted.rest_span()
    await asyncio.gather(
        *(other.export(some) for some in requests),
        other.person.data("POST", "/spans", json={"spans": [span]}),
        other.person.data("POST", "/signals", json=planted.rest_signal()),
    )
    await other.wait_until_stored()
    # Nothing is masked here.
    assert planted.email in str(await other.person.data("GET", f"/spans/traces/{span['traceId']}"))
    assert planted.email.encode() in b"".join(other.read_tables().values())
    assert await find_users(other.person) == {f"ann{n}@example.com" for n in range(len(ACCOUNTS))}
    transfer, folder = new_transfer(shared_service), tmp_path_factory.mktemp("exported")
    workspace = await transfer.find_workspace(other.person.email)
    counts = await transfer.export(workspace, folder, lambda *_: None)
    assert all(counts.values())
    return Exported(folder, counts, planted)


@pytest.mark.parametrize("name", WITHOUT_ADDRESSES)
async def test_an_import_is_masked(service: Service, exported: Exported, name: str) -> None:
    rules = WITHOUT_ADDRESSES[name]
    sender = await Sender.of(service, rules)
    transfer = new_transfer(service)
    rows = await transfer.import_folder(sender.workspace, exported.folder, lambda *_: None)
    assert rows == exported.counts
    assert await find_users(sender.person) == {*ACCOUNTS}
    stored_bytes = b"".join(sender.read_tables().values())
    assert stored_bytes
    for number in range(len(ACCOUNTS)):
        assert f"ann{number}@example.com".encode() not in stored_bytes
    if rules["detectors"]:
        # Only detectors find addresses in other fields, such as the id of a user.
        assert exported.planted.marker.encode() not in stored_bytes
        assert b"@example.com" not in stored_bytes
        signals = await sender.person.data("GET", "/signals")
        assert {signal["userId"] for signal in signals} == {"[email]"}


def test_every_exported_column_is_masked_or_kept(service: Service) -> None:
    with service.services.engine.client() as client:
        for table in stored.TABLES:
            assert set(stored._columns(client, table)) == known_columns(table)


async def test_a_file_that_cannot_be_masked_is_refused(service: Service, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"rows": {"spans": 1}}')
    (tmp_path / "spans-000001.parquet").write_bytes(b"PAR1 not really PAR1")
    sender = await Sender.of(service, WITHOUT_ADDRESSES["no addresses"])
    with pytest.raises(Invalid, match=r"spans-000001\.parquet cannot be read"):
        await new_transfer(service).import_folder(sender.workspace, tmp_path, lambda *_: None)
