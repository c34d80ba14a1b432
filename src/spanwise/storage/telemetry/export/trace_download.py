"""Streams traces as a CSV, JSONL or Parquet file, in chunks of a few thousand traces."""

import io
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeVar

from clickhouse_connect.driver.client import Client

from spanwise.model.agents import AgentIds
from spanwise.model.analytics import ExportFormat
from spanwise.model.telemetry.filters import Order, TraceFilter
from spanwise.storage.telemetry.engine.client_pool import Engine
from spanwise.storage.telemetry.engine.conditions import Conditions
from spanwise.storage.telemetry.engine.query import Rows, query_rows
from spanwise.storage.telemetry.filters.trace_filters import trace_conditions
from spanwise.storage.telemetry.lists.pages import exact_start
from spanwise.storage.telemetry.traces.trace_queries import TraceRows

CHUNK_TRACES = 10_000
T = TypeVar("T")

# Trace field -> SQL, for text fields and all others.
_TEXTS = {
    "name": "name",
    "agentId": "transform(agent_name, {names:Array(String)}, {ids:Array(String)}, '')",
    "agentName": "agent_name",
    "status": "status",
    "errorType": "error_type",
    "sessionId": "session_id",
    "userId": "user_id",
    "environment": "environment",
    "experimentId": "experiment_id",
    "variant": "variant",
    "inputPreview": "input_preview",
    "outputPreview": "output_preview",
}
_START_US = "intDiv(toUnixTimestamp64Nano(start), 1000)"
_OTHERS = {
    "startTime": f"fromUnixTimestamp64Micro({_START_US}, 'UTC')",
    "endTime": f"fromUnixTimestamp64Micro({_START_US} + toInt64(round(duration_ns / 1000)), 'UTC')",
    "durationMs": "duration_ns / 1e6",
    "spanCount": "span_count",
    "errorCount": "error_count",
    "models": "arrayMap(m -> toString(m), models)",
    "tools": "arrayMap(t -> toString(t), tools)",
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "totalTokens": "input_tokens + output_tokens",
    "cost": "cost",
}
# In the order of the API's trace.
FIELDS = (
    *("traceId", "name", "agentId", "agentName", "status", "errorType", "startTime", "endTime"),
    *("durationMs", "spanCount", "errorCount", "models", "tools", "inputTokens", "outputTokens"),
    *("totalTokens", "cost", "sessionId", "userId", "environment", "experimentId", "variant"),
    *("inputPreview", "outputPreview"),
)
# The sort key of the file, in types that bind without loss.
_KEY = "(toUnixTimestamp64Nano(start), lower(hex(trace_id)))"
_NEVER_NULL = {"name", "status", "inputPreview", "outputPreview"}


def _column(field: str, form: ExportFormat) -> str:
    if field == "traceId":
        return "lower(hex(trace_id))"
    if field in _TEXTS:
        return _text_column(field, form)
    sql = _OTHERS[field]
    match form:
        case ExportFormat.CSV if field in {"models", "tools"}:
            return _safe_cell(f"arrayStringConcat({sql}, '; ')")
        case ExportFormat.CSV | ExportFormat.JSONL if field in {"startTime", "endTime"}:
            return _iso(sql)
    return sql


def _text_column(field: str, form: ExportFormat) -> str:
    text = f"toValidUTF8(toString({_TEXTS[field]}))"
    if form is ExportFormat.CSV:
        return _safe_cell(text)
    return text if field in _NEVER_NULL else f"nullIf({text}, '')"


# Spreadsheets skip leading blanks and control characters before a formula, and some accept
# full-width operators. A leading tab or line break may start another cell.
_FORMULA = r"^[\\pZ\\pC]*[=+\\-@＝＋－＠]|^[\\t\\r\\n]"  # noqa: RUF001


def _safe_cell(text: str) -> str:
    # A cell that starts like a formula would be executed; an apostrophe makes it text.
    return f"if(match({text}, '{_FORMULA}'), concat('''', {text}), {text})"


def _iso(moment: str) -> str:
    fraction = f"toUnixTimestamp64Micro({moment}) % 1000000"
    digits = f"concat('.', leftPad(toString({fraction}), 6, '0'))"
    seconds = f"formatDateTime({moment}, '%Y-%m-%dT%H:%i:%S')"
    return f"concat({seconds}, if({fraction} = 0, '', {digits}), 'Z')"


async def export_traces(
    engine: Engine, workspace: str, filters: TraceFilter, agent_ids: AgentIds, form: ExportFormat
) -> AsyncIterator[bytes]:
    """Stream a file with all matching traces, newest first."""
    where = trace_conditions(workspace, filters)
    where.parameters.update(names=list(agent_ids.keys()), ids=list(agent_ids.values()))
    keys = TraceRows(where, "", Order.DESC).every(CHUNK_TRACES)
    last_keys = await engine.run_heavy(
        workspace, lambda client: query_rows(client, keys, where.parameters, "export_keys")
    )
    export = _Export(engine, where, last_keys, form)
    write = {
        ExportFormat.CSV: export.csv,
        ExportFormat.JSONL: export.jsonl,
        ExportFormat.PARQUET: export.parquet,
    }[form]
    return write()


class _Export:
    def __init__(
        self, engine: Engine, where: Conditions, last_keys: Rows, form: ExportFormat
    ) -> None:
        self._engine = engine
        self._where = where
        # Of each chunk but the last.
        self._last_keys = last_keys
        self._columns = ", ".join(f"{_column(field, form)} AS {field}" for field in FIELDS)

    async def csv(self) -> AsyncIterator[bytes]:
        yield (",".join(FIELDS) + "\r\n").encode()
        settings = {"output_format_csv_crlf_end_of_line": 1}
        async for chunk in self._chunks(self._raw("CSV", settings)):
            yield chunk

    async def jsonl(self) -> AsyncIterator[bytes]:
        settings = {"output_format_json_quote_64bit_integers": 0}
        async for chunk in self._chunks(self._raw("JSONEachRow", settings)):
            yield chunk

    async def parquet(self) -> AsyncIterator[bytes]:
        # A file without traces still has a schema.
        empty = f"SELECT {self._columns} FROM traces WHERE 0"
        file = _WriteBuffer()
        writer = await self._run(lambda client: _open_parquet(client, empty, self._where, file))

        async def write(sql: str, parameters: dict[str, Any]) -> bytes:
            # Compression takes as long as reading: both run off the event loop.
            await self._run(
                lambda client: writer.write_table(client.query_arrow(sql, parameters=parameters))
            )
            return file.drain()

        with writer:
            async for chunk in self._chunks(write):
                yield chunk
        yield file.drain()

    async def _chunks(
        self, read: Callable[[str, dict[str, Any]], Awaitable[Any]]
    ) -> AsyncIterator[Any]:
        for page in self._pages():
            # Filters refer to table columns, even if a file column has the same name.
            sql = f"""SELECT {self._columns} FROM traces FINAL WHERE {page.sql}
                ORDER BY start DESC, trace_id DESC SETTINGS prefer_column_name_to_alias = 1"""
            yield await read(sql, page.parameters)

    def _pages(self) -> Iterator[Conditions]:
        """Yield the conditions of each chunk, latest first; the engine finds starts by key."""
        before = "1"
        for key in self._last_keys:
            start, position = exact_start(key["nano"]), f"({key['nano']}, '{key['id']}')"
            yield self._where.narrowed(f"{before} AND start >= {start} AND {_KEY} >= {position}")
            before = f"start <= {start} AND {_KEY} < {position}"
        yield self._where.narrowed(before)

    def _raw(
        self, data_format: str, settings: dict[str, Any]
    ) -> Callable[[str, dict[str, Any]], Awaitable[bytes]]:
        async def read(sql: str, parameters: dict[str, Any]) -> bytes:
            return await self._run(
                lambda client: client.raw_query(
                    sql, parameters=parameters, settings=settings, fmt=data_format
                )
            )

        return read

    async def _run(self, work: Callable[[Client], T]) -> T:
        return await self._engine.run_heavy(self._where.workspace, work)


def _open_parquet(client: Client, empty: str, where: Conditions, file: "_WriteBuffer") -> Any:  # noqa: ANN401
    # Imported here: it takes half a second and 40 MB that only Parquet needs.
    import pyarrow.parquet  # noqa: PLC0415

    table = client.query_arrow(empty, parameters=where.parameters)
    return pyarrow.parquet.ParquetWriter(file, table.schema, compression="zstd")


class _WriteBuffer(io.RawIOBase):
    """A write-only file whose content is drained while it is written."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:  # noqa: ANN401 -- any bytes-like object
        chunk = bytes(data)
        self._chunks.append(chunk)
        self._written += len(chunk)
        return len(chunk)

    def tell(self) -> int:
        return self._written

    def drain(self) -> bytes:
        drained = b"".join(self._chunks)
        self._chunks.clear()
        return drained
