"""Tables of the comparison with peers."""

from collections.abc import Sequence
from typing import Any

from bench.tables import Column, FigureTable

_MISSING = "\N{EN DASH}"
_WRITES = {
    "spans": Column("spans stored"),
    "stored_per_second": Column("stored/s"),
    "ack_p50_ms": Column("ack p50 ms", ".1f"),
    "ack_p99_ms": Column("ack p99 ms", ".1f"),
    "disk_bytes_per_span": Column("disk B/span"),
    "peak_memory_mb": Column("peak memory MB"),
    "start_seconds": Column("start until ready s", ".1f"),
    "load_of_others": Column("load of others", ".0%"),
}
_READS = {
    "list": Column("latest 50 traces", ".1f", _MISSING),
    "trace": Column("one trace", ".1f", _MISSING),
    "summary": Column("summary of a day", ".1f", _MISSING),
    "series": Column("traces per hour of a day", ".1f", _MISSING),
    "search": Column("text search", ".1f", _MISSING),
}


def tabulate_peers(figures: dict[str, Any]) -> list[FigureTable]:
    runs = figures["runs"]
    labels = name_runs(runs)
    writes = {
        label: [run[name] for name in _WRITES] for label, run in zip(labels, runs, strict=True)
    }
    reads = {
        label: [run["reads"][name] for name in _READS]
        for label, run in zip(labels, runs, strict=True)
    }
    notes = list(dict.fromkeys(note for run in runs for note in run["notes"]))
    title = f"Ingest over one connection, {figures['body_spans']} spans per request"
    return [
        FigureTable(title, "product", list(_WRITES.values()), writes, figures["skipped"]),
        FigureTable("Reads: p50 in ms", "product", list(_READS.values()), reads, notes),
    ]


def name_runs(runs: Sequence[dict[str, Any]]) -> list[str]:
    """Name runs by product and version, and all runs of a product but the first by size, too."""
    labels: list[str] = []
    for run in runs:
        name = f"{run['product']} {run['version']}"
        labels.append(f"{name}, {run['spans']:,} spans" if name in labels else name)
    return labels
