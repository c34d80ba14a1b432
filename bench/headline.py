"""The figures that a reader looks for first, taken from the stored baselines."""

from typing import Any

from bench.baseline_files import describe_baseline, load_baseline

_WRITES = ((8, 1), (8, 16), (200, 4), (200, 16))
_PAGES = {
    "traces, first page": "Traces",
    "traces, by cost": "Traces, the costliest first",
    "search, rare word": "Traces, search for a rare word",
    "one trace": "One trace",
    "metrics, 30 days": "Overview: numbers of 30 days",
    "requests over time, 30 days": "Overview: requests over 30 days",
    "costs, 30 days": "Overview: costs of 30 days",
    "signals summary": "Signals",
    "query, spans by model": "Explore: spans by model",
    "changes, two periods": "Changes between two periods",
}
_PEERS = (
    "stored/s | disk B/span | peak memory MB | start s | 50 traces ms | one trace ms | search ms"
)


def render_headline() -> str:
    """Render the headline as Markdown, each table with the commit and machine of its figures."""
    return "\n\n".join((_ingest(), _reads(), _service(), _peers()))


def _ingest() -> str:
    writes = _load("writes")
    rows = [
        f"| {size} x {connections} | {run['visible_per_second']:,.0f} | "
        f"{run['cpu_seconds_per_1000'] * 1000:,.0f} | {run['ack_p50_ms']:,.1f} |"
        for size, connections in _WRITES
        for run in writes["figures"]["writes"]
        if (run["body_spans"], run["connections"], run["is_packed"]) == (size, connections, False)
    ]
    head = "spans per body x connections | spans/s | processor s per million spans | ack p50 ms"
    return _table("Ingest", writes, head, rows)


def _reads() -> str:
    reads = _load("reads")
    size, run = _largest(reads)
    rows = [
        f"| {page} | {run['reads'][name]['p50_ms']:,.0f} | {run['reads'][name]['p95_ms']:,.0f} |"
        for name, page in _PAGES.items()
    ]
    return _table(
        f"Pages at {size:,} spans, nothing else running", reads, "page | p50 ms | p95 ms", rows
    )


def _service() -> str:
    writes, reads, start = _load("writes")["figures"], _load("reads"), _load("start")
    size, run = _largest(reads)
    later = start["figures"]["spanwise serve until ready, later starts"]["median_seconds"]
    rows = [
        f"| Disk | {writes['disk']['bytes_per_span']:,.0f} bytes per span |",
        f"| Peak memory, writing at full speed | {writes['peak_memory_mb']:,.0f} MB |",
        f"| Peak memory of all reads at {size:,} spans | {run['peak_memory_mb']:,.0f} MB |",
        f"| Start until ready, empty store | {later:.1f} s |",
        f"| Start until ready, {size:,} spans | {run['cold_start_seconds']:.1f} s |",
    ]
    return _table("Disk, memory and start", None, "what | figure", rows)


def _peers() -> str:
    peers = _load("peers")
    rows = [
        f"| {run['product']} {run['version']} | {run['stored_per_second']:,.0f} | "
        f"{run['disk_bytes_per_span']:,.0f} | {run['peak_memory_mb']:,.0f} | "
        f"{run['start_seconds']:.1f} | {run['reads']['list']:,.0f} | "
        f"{run['reads']['trace']:,.0f} | {run['reads']['search']:,.0f} |"
        for run in peers["figures"]["runs"]
    ]
    spans = peers["figures"]["runs"][0]["spans"]
    return _table(f"Beside other products, at {spans:,} spans", peers, f"product | {_PEERS}", rows)


def _load(part: str) -> dict[str, Any]:
    baseline = load_baseline(part)
    if baseline is None:
        raise FileNotFoundError(f"the headline needs the baseline of {part}")
    return baseline


def _largest(reads: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    size = max(map(int, reads["figures"]))
    return size, reads["figures"][str(size)]


def _table(title: str, baseline: dict[str, Any] | None, head: str, rows: list[str]) -> str:
    rule = "|---" + "|---:" * head.count("|") + "|"
    measured = f"\n\nMeasured: {describe_baseline(baseline)}." if baseline else ""
    return f"**{title}**{measured}\n\n" + "\n".join((f"| {head} |", rule, *rows))
