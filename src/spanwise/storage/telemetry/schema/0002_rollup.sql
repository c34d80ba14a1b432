-- Aggregates of traces per hour and day, by agent and environment. Rows are recomputed from `traces`,
-- never incremented; of the rows of a key the one with the highest version counts.
CREATE TABLE IF NOT EXISTS trace_rollup
(
    workspace LowCardinality(String),
    step Enum8('hour' = 1, 'day' = 2),
    moment DateTime('UTC') CODEC(Delta(4), ZSTD(1)),
    agent_name LowCardinality(String),
    environment LowCardinality(String),
    version UInt64 CODEC(Delta(8), ZSTD(1)),
    traces UInt64 CODEC(T64, ZSTD(1)),
    errors UInt64 CODEC(T64, ZSTD(1)),
    duration_ms Float64 CODEC(ZSTD(1)),
    input_tokens UInt64 CODEC(T64, ZSTD(1)),
    output_tokens UInt64 CODEC(T64, ZSTD(1)),
    cost Float64 CODEC(ZSTD(1)),
    under_200 UInt64 CODEC(T64, ZSTD(1)),
    under_500 UInt64 CODEC(T64, ZSTD(1)),
    under_1000 UInt64 CODEC(T64, ZSTD(1)),
    under_2000 UInt64 CODEC(T64, ZSTD(1)),
    under_5000 UInt64 CODEC(T64, ZSTD(1)),
    latency_keys Array(UInt16) CODEC(ZSTD(1)),
    latency_counts Array(UInt64) CODEC(T64, ZSTD(1)),
    error_types Array(String) CODEC(ZSTD(1)),
    error_counts Array(UInt64) CODEC(T64, ZSTD(1)),
    models Array(LowCardinality(String)),
    model_calls Array(UInt64) CODEC(T64, ZSTD(1)),
    model_costs Array(Float64) CODEC(ZSTD(1)),
    unpriced_models Array(LowCardinality(String)),
    tools Array(LowCardinality(String)),
    tool_calls Array(UInt64) CODEC(T64, ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(moment)
ORDER BY (workspace, step, moment, agent_name, environment)
SETTINGS index_granularity = 1024;

-- The rollup's watermark: all rows of `traces` that were written up to it are in the rollup.
CREATE TABLE IF NOT EXISTS rollup_sweeps
(
    swept_until DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(swept_until)
ORDER BY tuple();
