"""Turns the figures of each part into tables, for the terminal and for docs/benchmark-tables.md."""

import itertools
from collections.abc import Callable
from typing import Any

from bench.baseline_files import describe_baseline, load_baseline
from bench.peers.table import tabulate_peers
from bench.tables import Column, FigureTable

_SERVICE_COLUMNS = (Column("cold start s", ".2f"), Column("peak memory MB"))


def tabulate_writes(figures: dict[str, Any]) -> list[FigureTable]:
    bare = figures["bare_engine"]
    columns = (
        Column("acked/s"),
        Column("visible/s"),
        *(Column(f"of bare, {name}", ".0%") for name in bare),
        Column("requests/s"),
        Column("ack p50 ms", ".1f"),
        Column("ack p99 ms", ".1f"),
        Column("CPU s/1000", ".3f"),
        Column("503"),
    )
    rows = {
        _name_write(write): (
            write["acknowledged_per_second"],
            write["visible_per_second"],
            *(write["visible_per_second"] / run["spans_per_second"] for run in bare.values()),
            write["requests_per_second"],
            write["ack_p50_ms"],
            write["ack_p99_ms"],
            write["cpu_seconds_per_1000"],
            write["refused"],
        )
        for write in figures["writes"]
    }
    engine_columns = (Column("spans/s"), Column("CPU s/1000", ".3f"))
    engine_rows = {
        f"{name} tables": (run["spans_per_second"], run["cpu_seconds_per_1000"])
        for name, run in bare.items()
    }
    service_row = (
        figures["cold_start_seconds"],
        figures["peak_memory_mb"],
        figures["disk"]["bytes_per_span"],
    )
    return [
        FigureTable("Writes", "spans per body x connections", columns, rows),
        FigureTable("Bare engine", "inserts into", engine_columns, engine_rows),
        FigureTable(
            "Service during writes",
            "",
            (*_SERVICE_COLUMNS, Column("disk B/span")),
            {"service": service_row},
        ),
    ]


def _name_write(write: dict[str, Any]) -> str:
    encoding = "gzip" if write["is_packed"] else "plain"
    return f"{write['body_spans']} x {write['connections']}, {encoding}"


def tabulate_growth(figures: dict[str, Any]) -> list[FigureTable]:
    columns = (
        Column("small ms", ".0f"),
        Column("small CPU ms", ".0f"),
        Column("of the first", ".2f"),
        Column("large ms", ".0f"),
        Column("large CPU ms", ".0f"),
        Column("of the first", ".2f"),
    )
    first = next(iter(figures.values()))
    rows = {
        f"{int(size):,}": [
            value
            for batch in ("small", "large")
            for value in (
                run[batch]["ms"],
                run[batch]["cpu_ms"],
                run[batch]["cpu_ms"] / first[batch]["cpu_ms"],
            )
        ]
        for size, run in figures.items()
    }
    title = "Storing one batch: 24 spans (small), 9,600 spans (large)"
    return [FigureTable(title, "spans in the store", columns, rows)]


def tabulate_reads(figures: dict[str, Any]) -> list[FigureTable]:
    tables = []
    for size, run in figures.items():
        beside = run.get("beside", {})
        columns = [Column("p50 ms", ".1f"), Column("p95 ms", ".1f")]
        for load in beside:
            columns += [Column(f"{load}: p50", ".1f"), Column("p95", ".1f")]
        runs = [run["reads"], *(each["reads"] for each in beside.values())]
        rows = {
            name: [
                *(each[name].get(figure) for each in runs for figure in ("p50_ms", "p95_ms")),
                times.get("found"),
            ]
            for name, times in run["reads"].items()
        }
        columns.append(Column("found"))
        title = f"Reads at {int(size):,} spans: quiet, and while another key writes"
        tables.append(FigureTable(title, "request", columns, rows))
        lags = [Column(f"lag s, {load}", ".1f") for load in beside]
        service_row = (
            run["cold_start_seconds"],
            run["peak_memory_mb"],
            run.get("read_after_write_ms"),
            *(each["max_lag_seconds"] for each in beside.values()),
        )
        tables.append(
            FigureTable(
                f"Service at {int(size):,} spans",
                "",
                (*_SERVICE_COLUMNS, Column("list after own write ms", ".0f"), *lags),
                {"service": service_row},
            )
        )
    return tables


def tabulate_steady(figures: list[dict[str, float]]) -> list[FigureTable]:
    columns = (
        Column("reads"),
        Column("read p50 ms", ".1f"),
        Column("read p95 ms", ".1f"),
        Column("ack p95 ms", ".1f"),
        Column("lag s", ".1f"),
        Column("memory MB"),
        Column("CPU cores", ".2f"),
    )
    names = ("reads", "read_p50_ms", "read_p95_ms", "ack_p95_ms", "max_lag_seconds", "memory_mb")
    ends = itertools.accumulate(row["seconds"] / 60 for row in figures)
    rows = {
        f"{end:.1f}": [*(row[name] for name in names), row["cpu_cores"]]
        for end, row in zip(ends, figures, strict=True)
    }
    title = "Mixed load: 2,000 spans/s by OTLP, 10 requests/s by REST, and one reader of pages"
    return [FigureTable(title, "minutes", columns, rows)]


def tabulate_analytics(figures: dict[str, Any]) -> list[FigureTable]:
    tables = []
    for size, run in figures.items():
        for mode in ("cold", "warm", "while_ingesting"):
            names = [name for name in run[mode]["metrics"] if name.endswith("p95")]
            tables.append(
                FigureTable(
                    f"Analytics at {int(size):,} spans, {mode.replace('_', ' ')}: p95 in ms",
                    "endpoint",
                    [Column(name.removesuffix(" p95"), ".1f") for name in names],
                    {path: [times[name] for name in names] for path, times in run[mode].items()},
                )
            )
    return tables


def tabulate_assign(figures: list[dict[str, Any]]) -> list[FigureTable]:
    columns = {
        "requests_per_second": Column("requests/s"),
        "p50_ms": Column("p50 ms", ".1f"),
        "p95_ms": Column("p95 ms", ".1f"),
        "p99_ms": Column("p99 ms", ".1f"),
        "max_ms": Column("max ms", ".1f"),
        "cpu_us": Column("CPU µs"),
        "spans_per_second": Column("spans/s ingested"),
    }
    rows = {row["name"]: [row[name] for name in columns] for row in figures}
    return [FigureTable("Assignments", "units", list(columns.values()), rows)]


def tabulate_alerts(figures: dict[str, Any]) -> list[FigureTable]:
    passes = ("learning", "ordinary", "firing", "holding")
    return [
        FigureTable(
            f"Evaluation of {figures['rules']:,} alert rules of 1,000 agents",
            "pass",
            (Column("seconds", ".2f"), Column("CPU s", ".2f")),
            {name: (figures[name]["seconds"], figures[name]["cpu_seconds"]) for name in passes},
        )
    ]


def tabulate_results(figures: dict[str, Any]) -> list[FigureTable]:
    columns = (Column("seconds", ".2f"), Column("CPU s", ".2f"))
    row = (figures["seconds"], figures["cpu_seconds"])
    return [
        FigureTable("Experiment results", "units", columns, {f"{figures['units']:,}": row}),
    ]


def tabulate_masking(figures: dict[str, Any]) -> list[FigureTable]:
    prepare, ingest = figures["prepare"], figures["ingest"]
    of_prepare = (Column("spans/s of one core"), Column("CPU µs per span", ".1f"))
    of_ingest = (Column("visible spans/s"), Column("slowest run"))
    return [
        FigureTable(
            "Decoding, masking and framing an export",
            "rules",
            of_prepare,
            {name: (run["spans_per_second"], run["us_per_span"]) for name, run in prepare.items()},
        ),
        FigureTable(
            "Ingest over HTTP with masking, 200 spans per body",
            "rules",
            of_ingest,
            {name: (run["spans_per_second"], run["slowest"]) for name, run in ingest.items()},
        ),
    ]


def tabulate_metrics(figures: dict[str, Any]) -> list[FigureTable]:
    writes = (Column("acked/s"), Column("visible/s"), Column("CPU s/1000", ".3f"))
    write = tuple(figures[name] for name in ("acked", "visible", "cpu_seconds_per_1000"))
    reads = (Column("p50 ms", ".1f"), Column("p95 ms", ".1f"))
    rows = {name: (run["p50_ms"], run["p95_ms"]) for name, run in figures["reads"].items()}
    points = f"{figures['points']:,}"
    return [
        FigureTable("Data points of metrics", "points sent", writes, {points: write}),
        FigureTable(f"Queries over {points} data points", "query", reads, rows),
    ]


def tabulate_peeking(figures: dict[str, Any]) -> list[FigureTable]:
    splits = [f"{split}, {units:,}" for split in ("50:50", "90:10") for units in figures["units"]]
    power_columns = (
        Column("units until +10 % on 30 % is significant, median"),
        Column("SRM false alarms", ".3%"),
        Column("52:48 detected by 20,000 units", ".1%"),
    )
    power = (figures["units_to_detect"], figures["srm_false_alarms"], figures["srm_detected"])
    return [
        FigureTable(
            f"False positives in {figures['runs']:,} runs without a difference",
            "metric",
            [Column(name, ".1%") for name in splits],
            {row["metric"]: row["even"] + row["uneven"] for row in figures["false_positives"]},
        ),
        FigureTable(
            "Runs in which the interval ever excluded the true lift",
            "difference",
            (Column("share", ".1%"),),
            {name: (share,) for name, share in figures["missed"].items()},
        ),
        FigureTable("Power and sample ratio", "", power_columns, {"experiments": power}),
    ]


def tabulate_start(figures: dict[str, Any]) -> list[FigureTable]:
    columns = (Column("seconds, median", ".2f"), Column("slowest", ".2f"), Column("CPU s", ".2f"))
    rows = {
        name: (run["median_seconds"], run["max_seconds"], run["cpu_seconds"])
        for name, run in figures.items()
    }
    return [FigureTable("Start", "command", columns, rows)]


TABULATE: dict[str, Callable[[Any], list[FigureTable]]] = {
    "start": tabulate_start,
    "writes": tabulate_writes,
    "growth": tabulate_growth,
    "reads": tabulate_reads,
    "steady": tabulate_steady,
    "analytics": tabulate_analytics,
    "assign": tabulate_assign,
    "alerts": tabulate_alerts,
    "results": tabulate_results,
    "metrics": tabulate_metrics,
    "masking": tabulate_masking,
    "peeking": tabulate_peeking,
    "peers": tabulate_peers,
}


def render_baselines() -> str:
    """Render all baselines as Markdown."""
    sections = []
    for part, tabulate in TABULATE.items():
        baseline = load_baseline(part)
        if baseline is None:
            sections.append(f"## {part}\n\nNo baseline has been stored yet.")
            continue
        tables = "\n\n".join(table.to_markdown() for table in tabulate(baseline["figures"]))
        sections.append(f"## {part}\n\nMeasured: {describe_baseline(baseline)}.\n\n{tables}")
    return "\n\n".join(sections)
