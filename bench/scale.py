"""How much each part of the benchmark measures, in full and with BENCH_QUICK=1."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class WriteSize:
    """Bodies are generated once and sent repeatedly with new ids."""

    pool_bodies: int
    requests: int


@dataclass(frozen=True)
class Scale:
    # By spans per body.
    writes: Mapping[int, WriteSize]
    write_connections: tuple[int, ...]
    # Gzip is measured for bodies of at least this many spans.
    gzip_min_spans: int
    store_spans: tuple[int, ...]
    template_spans: int
    read_repeats: int
    analytics_repeats: int
    assign_requests: int
    experiment_units: int
    masking_rounds: int
    masking_ingest_rounds: int
    metric_requests: int
    peeking_runs: int
    growth_spans: tuple[int, ...]
    steady_seconds: float
    peer_spans: int
    peer_repeats: int


FULL = Scale(
    writes={8: WriteSize(2000, 12_000), 200: WriteSize(200, 2000), 1600: WriteSize(48, 250)},
    write_connections=(1, 4, 16),
    gzip_min_spans=0,
    store_spans=(1_000_000, 10_000_000),
    template_spans=100_000,
    read_repeats=40,
    analytics_repeats=60,
    assign_requests=20_000,
    experiment_units=1_000_000,
    masking_rounds=15,
    masking_ingest_rounds=5,
    metric_requests=1000,
    peeking_runs=1000,
    growth_spans=(100_000, 1_000_000, 10_000_000),
    steady_seconds=1800,
    peer_spans=10_000,
    peer_repeats=20,
)
QUICK = Scale(
    writes={8: WriteSize(500, 1500), 200: WriteSize(60, 200), 1600: WriteSize(12, 40)},
    write_connections=(4, 16),
    gzip_min_spans=1600,
    store_spans=(200_000,),
    template_spans=50_000,
    read_repeats=10,
    analytics_repeats=5,
    assign_requests=5000,
    experiment_units=100_000,
    masking_rounds=5,
    masking_ingest_rounds=2,
    metric_requests=200,
    peeking_runs=50,
    growth_spans=(50_000, 500_000),
    steady_seconds=60,
    peer_spans=2000,
    peer_repeats=5,
)
