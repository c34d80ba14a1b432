"""Works on the engine without the service, in a separate process: a folder has one owner."""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from bench.payload import SPANS_PER_TRACE, read_pool
from spanwise.analysis.prices import find_list_prices
from spanwise.ingest.counts import REQUESTS
from spanwise.ingest.otlp.prepare import prepare_traces
from spanwise.ingest.records.record import Kind
from spanwise.storage.telemetry.engine.client_pool import Engine, EngineAddress
from spanwise.storage.telemetry.engine.query import query_rows
from spanwise.storage.telemetry.rollup.rollup import Rollup
from spanwise.storage.telemetry.write.writer import PARALLEL_INSERTS, TelemetryWriter

MEMORY_LIMIT_MB = 4096
INSERT_BYTES = 28 * 2**20
_COPY_SHIFT_HOURS = 87
_WORKSPACE = "wsp_bench"


def insert_bare(folder: Path, pool: Path, bodies: int) -> dict[str, float]:
    """Insert the same bytes into the same tables, in large batches, two at a time."""
    frames, spans = _frames(pool, bodies)
    engine = Engine.open(EngineAddress(folder=folder), MEMORY_LIMIT_MB)
    writer = TelemetryWriter(engine, find_list_prices)
    before = _count_spans(engine)
    cpu, started = time.process_time(), time.perf_counter()
    for first in range(0, len(frames), PARALLEL_INSERTS):
        writer._insert_spans(frames[first : first + PARALLEL_INSERTS])
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    stored = _count_spans(engine) - before
    if stored != spans:
        raise RuntimeError(f"{spans} spans were sent, {stored} are stored")
    engine.close()
    return {"spans_per_second": spans / seconds, "cpu_seconds_per_1000": 1000 * cpu / spans}


def _count_spans(engine: Engine) -> int:
    sql = "SELECT count() AS spans FROM spans WHERE workspace = {workspace:String}"
    with engine.client() as client:
        return int(query_rows(client, sql, {"workspace": _WORKSPACE})[0]["spans"])


def _frames(pool: Path, bodies: int) -> tuple[list[bytes], int]:
    """Prepare the bodies as ingest does, joined into inserts of the preferred size."""
    source = read_pool(pool)
    frames, spans = [bytearray()], 0
    for index in range(bodies):
        body = source[index % len(source)].with_new_ids()
        message: Any = REQUESTS[Kind.TRACES].FromString(body)
        prepared = prepare_traces(message, _WORKSPACE, body)
        if len(frames[-1]) > INSERT_BYTES // PARALLEL_INSERTS:
            frames.append(bytearray())
        frames[-1] += prepared.records[0].payload
        spans += prepared.accepted
    return [bytes(frame) for frame in frames], spans


def measure_disk(folder: Path) -> dict[str, float]:
    """Merge all parts and return the bytes per span, including aggregates and indexes."""
    engine = Engine.open(EngineAddress(folder=folder), MEMORY_LIMIT_MB)
    with engine.client() as client:
        for table in ("spans", "traces", "trace_bounds"):
            client.command(f"OPTIMIZE TABLE {table} FINAL", settings={"max_execution_time": 3600})
        rows = query_rows(client, _PARTS, {})
    engine.close()
    by_table = {row["table"]: row for row in rows}
    spans = by_table["spans"]["rows"]
    figures = {f"{name}_bytes_per_span": row["bytes"] / spans for name, row in by_table.items()}
    return {"bytes_per_span": sum(figures.values()), **figures}


_PARTS = """
SELECT table, sum(rows) AS rows, sum(bytes_on_disk) AS bytes FROM system.parts
WHERE active AND database = currentDatabase() AND table IN ('spans', 'traces', 'trace_bounds')
GROUP BY table"""


def grow(folder: Path, spans: int) -> dict[str, float]:
    """Copy the stored spans to earlier times until there are this many. Not a measurement.

    A store that was grown before is grown further by copies of the same spans.
    """
    engine = Engine.open(EngineAddress(folder=folder), MEMORY_LIMIT_MB)
    started = time.perf_counter()
    template_file = folder.parent / "template.json"
    with engine.client() as client:
        if not template_file.exists():
            # A repriced span has two rows until they are merged.
            (row,) = query_rows(
                client,
                """SELECT count() AS rows, toString(min(hour)) AS first, max(version) AS last
                FROM spans FINAL""",
                {},
            )
            template_file.write_text(json.dumps({**row, "copies": 1}))
        row = json.loads(template_file.read_text())
        copies = spans // row["rows"]
        settings = {"max_execution_time": 3600, "max_partitions_per_insert_block": 0}
        for copy in range(row["copies"], copies):
            template_file.write_text(json.dumps({**row, "copies": copy + 1}))
            for table, (moment, version, shifted) in _SHIFTED.items():
                client.command(
                    _COPY.format(table=table, shifted=shifted, moment=moment, version=version),
                    parameters={
                        "copy": copy,
                        "shift": copy * _COPY_SHIFT_HOURS % (365 * 24),
                        "first": row["first"],
                        "last": row["last"],
                    },
                    settings=settings,
                )
        (row,) = query_rows(client, "SELECT count() AS rows FROM spans", {})
    # The background job would have done this by now.
    asyncio.run(Rollup(engine, quiet_seconds=0).maintenance.update())
    engine.close()
    return {"spans": row["rows"], "seconds": time.perf_counter() - started}


# Copies of a trace get other last bytes of the id and earlier times.
_COPY = """
INSERT INTO {table} SELECT * REPLACE (
    CAST(concat(substring(trace_id, 1, 12), reinterpretAsFixedString({{copy:UInt32}})),
        'FixedString(16)') AS trace_id,
    {shifted})
FROM (
    SELECT * FROM {table} FINAL
    WHERE {moment} >= {{first:DateTime}} AND {version} <= {{last:UInt64}})"""
_BACK = "- toIntervalHour({shift:UInt32})"
_SHIFTED = {
    "spans": ("hour", "version", f"hour {_BACK} AS hour, start {_BACK} AS start"),
    "traces": ("start", "version", f"start {_BACK} AS start"),
    "trace_bounds": (
        "first_hour",
        "last_version",
        f"first_hour {_BACK} AS first_hour, last_hour {_BACK} AS last_hour",
    ),
}


def fill(folder: Path, traces: int) -> dict[str, float]:
    """Generate a year of traces, merged and rolled up as the background jobs would have by now."""
    engine = Engine.open(EngineAddress(folder=folder), MEMORY_LIMIT_MB)
    with engine.client() as client:
        workspace = query_rows(client, "SELECT any(workspace) AS name FROM traces", {})[0]["name"]
        for first in range(0, traces, _FILL_TRACES):
            amount = min(_FILL_TRACES, traces - first)
            bound = {"workspace": workspace, "first": first, "amount": amount}
            client.command(_FILL, parameters=bound)
        client.command("OPTIMIZE TABLE traces FINAL", settings={"max_execution_time": 3600})
        started = time.perf_counter()
        days = asyncio.run(Rollup(engine, quiet_seconds=0).maintenance.update())
        seconds = time.perf_counter() - started
        client.command("OPTIMIZE TABLE trace_rollup FINAL", settings={"max_execution_time": 3600})
    engine.close()
    return {"traces": traces, "swept_days": days, "sweep_seconds": seconds}


_FILL_TRACES = 100_000
# Twelve months up to now, ten agents, two environments; latencies are log-normal.
_FILL = """
INSERT INTO traces (workspace, start, trace_id, version, name, agent_name, status, error_type,
    duration_ns, span_count, input_tokens, output_tokens, cost, session_id, user_id, environment,
    models, model_calls, model_input_tokens, model_output_tokens, model_costs, unpriced, tools,
    tool_calls, tool_costs)
SELECT {workspace:String},
    now64(9) - toIntervalMillisecond(rand64(1) % (365 * 86400000)), MD5(toString(number)),
    number + 1, 'run', concat('agent-', toString(rand(2) % 10)),
    if(rand(3) % 20 = 0, 'error', 'success'),
    if(rand(3) % 20 = 0, ['timeout', 'rate_limit', 'other'][1 + rand(4) % 3], ''),
    toUInt64(1e6 * exp(6.5 + 1.2 * randNormal(0, 1))), 8, rand(5) % 9000, rand(6) % 900,
    (rand(7) % 10000) / 100000, toString(rand(8) % 100000), toString(rand(9) % 5000),
    ['production', 'test'][1 + rand(10) % 2],
    [concat('model-', toString(rand(11) % 4)), concat('other-', toString(rand(12) % 4))],
    [1, 2], [100, 200], [10, 20], [0.001, 0.002], [0, 0, 0],
    [concat('tool-', toString(rand(13) % 6)), concat('more-', toString(rand(14) % 6))],
    [1, 1], [0, 0]
FROM numbers({first:UInt64}, {amount:UInt64})"""


def main() -> None:
    command, folder, *rest = sys.argv[1:]
    match command:
        case "bare":
            figures = insert_bare(Path(folder), Path(rest[0]), int(rest[1]))
        case "disk":
            figures = measure_disk(Path(folder))
        case "grow":
            figures = grow(Path(folder), int(rest[0]) // SPANS_PER_TRACE * SPANS_PER_TRACE)
        case "fill":
            figures = fill(Path(folder), int(rest[0]))
        case _:
            raise SystemExit(f"unknown command: {command}")
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main()
