-- Data points of OTLP metrics as they were sent. Of two points of a series with the same times the
-- later version counts, so a point that is sent again counts once. A start of 1970 is unknown.
-- An exponential histogram is stored with the bounds of its buckets; of a summary, `bounds` are its
-- quantiles and `quantile_values` their values.
CREATE TABLE IF NOT EXISTS metric_points
(
    workspace LowCardinality(String),
    name LowCardinality(String),
    time DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    series UInt128,
    start DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    version UInt64 CODEC(Delta(8), LZ4),
    type LowCardinality(String),
    temporality LowCardinality(String),
    is_monotonic Bool,
    unit LowCardinality(String),
    description LowCardinality(String),
    service_name LowCardinality(String),
    scope LowCardinality(String),
    value Float64 CODEC(ZSTD(1)),
    count UInt64 CODEC(T64, ZSTD(1)),
    sum Float64 CODEC(ZSTD(1)),
    min Nullable(Float64) CODEC(ZSTD(1)),
    max Nullable(Float64) CODEC(ZSTD(1)),
    bounds Array(Float64) CODEC(ZSTD(1)),
    counts Array(UInt64) CODEC(ZSTD(1)),
    quantile_values Array(Float64) CODEC(ZSTD(1)),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    resource LowCardinality(String)
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (workspace, name, toStartOfHour(time), series, time, start)
SETTINGS index_granularity = 2048;
