-- One row per span; the row with the highest version counts. The hour in the key keeps the spans of
-- a trace together, and parts of past hours are not merged again.
CREATE TABLE IF NOT EXISTS spans
(
    workspace LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta(4), LZ4),
    trace_id FixedString(16),
    span_id FixedString(8),
    version UInt64 CODEC(Delta(8), LZ4),
    parent_span_id FixedString(8),
    is_root Bool,
    name LowCardinality(String),
    kind LowCardinality(String),
    start DateTime64(9, 'UTC') CODEC(Delta(8), LZ4),
    duration_ns UInt64 CODEC(T64, LZ4),
    status LowCardinality(String),
    status_message String CODEC(ZSTD(1)),
    error_type LowCardinality(String),
    service_name LowCardinality(String),
    agent_name LowCardinality(String),
    workflow_name LowCardinality(String),
    provider LowCardinality(String),
    model LowCardinality(String),
    input_tokens UInt32 CODEC(T64, LZ4),
    output_tokens UInt32 CODEC(T64, LZ4),
    cached_tokens UInt32 CODEC(T64, LZ4),
    cache_write_tokens UInt32 CODEC(T64, LZ4),
    reasoning_tokens UInt32 CODEC(T64, LZ4),
    given_cost Float64 CODEC(ZSTD(1)),
    cost Float64 CODEC(ZSTD(1)),
    is_priced Bool,
    tool_name LowCardinality(String),
    session_id String CODEC(ZSTD(1)),
    user_id String CODEC(ZSTD(1)),
    environment LowCardinality(String),
    experiment_id LowCardinality(String),
    variant LowCardinality(String),
    trace_name LowCardinality(String),
    input_preview String CODEC(ZSTD(1)),
    output_preview String CODEC(ZSTD(1)),
    attributes Map(String, String) CODEC(ZSTD(1)),
    resource LowCardinality(String),
    events Array(String) CODEC(ZSTD(1)),
    links Array(String) CODEC(ZSTD(1)),
    input String CODEC(ZSTD(1)),
    output String CODEC(ZSTD(1)),
    INDEX version_range version TYPE minmax GRANULARITY 1,
    INDEX words lowerUTF8(concat(name, ' ', input, ' ', output))
        TYPE text(tokenizer = splitByNonAlpha)
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(hour)
ORDER BY (workspace, hour, trace_id, span_id)
-- Merging costs as much as inserting: merges of more parts rewrite each span less often.
SETTINGS index_granularity = 1024, merge_selector_base = 10, max_compress_block_size = 262144;

-- The hours between which a trace has spans, and its first and last version: finds a trace without
-- a scan. Minimum and maximum stay the same when a span is sent again.
CREATE TABLE IF NOT EXISTS trace_bounds
(
    workspace LowCardinality(String),
    trace_id FixedString(16),
    first_hour SimpleAggregateFunction(min, DateTime('UTC')),
    last_hour SimpleAggregateFunction(max, DateTime('UTC')),
    first_version SimpleAggregateFunction(min, UInt64),
    last_version SimpleAggregateFunction(max, UInt64),
    INDEX version_range last_version TYPE minmax GRANULARITY 1
)
ENGINE = AggregatingMergeTree
ORDER BY (workspace, trace_id)
SETTINGS index_granularity = 512;

-- Trace aggregates. A row is recomputed from the trace's spans whenever one of them arrives, is
-- repriced or deleted, never incremented: a span that is sent again counts once.
CREATE TABLE IF NOT EXISTS traces
(
    workspace LowCardinality(String),
    start DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    trace_id FixedString(16),
    version UInt64 CODEC(Delta(8), LZ4),
    is_deleted UInt8,
    name LowCardinality(String),
    agent_name LowCardinality(String),
    status LowCardinality(String),
    error_type LowCardinality(String),
    duration_ns UInt64 CODEC(T64, LZ4),
    span_count UInt32 CODEC(T64, LZ4),
    error_count UInt32 CODEC(T64, LZ4),
    input_tokens UInt64 CODEC(T64, LZ4),
    output_tokens UInt64 CODEC(T64, LZ4),
    cost Float64,
    session_id String CODEC(ZSTD(1)),
    user_id String CODEC(ZSTD(1)),
    environment LowCardinality(String),
    experiment_id LowCardinality(String),
    variant LowCardinality(String),
    models Array(LowCardinality(String)),
    model_calls Array(UInt64),
    model_input_tokens Array(UInt64),
    model_output_tokens Array(UInt64),
    model_costs Array(Float64),
    unpriced_models Array(LowCardinality(String)),
    providers Array(LowCardinality(String)),
    tools Array(LowCardinality(String)),
    tool_calls Array(UInt64),
    kinds Array(LowCardinality(String)),
    input_preview String CODEC(ZSTD(1)),
    output_preview String CODEC(ZSTD(1)),
    -- Insert time: rows written after the rollup's watermark are not in the rollup yet.
    written_at DateTime64(3, 'UTC') MATERIALIZED now64(3) CODEC(Delta(8), LZ4),
    INDEX version_range version TYPE minmax GRANULARITY 1,
    INDEX written_range written_at TYPE minmax GRANULARITY 1,
    INDEX session_filter session_id TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX user_filter user_id TYPE bloom_filter(0.01) GRANULARITY 4
)
ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY toYYYYMM(start)
ORDER BY (workspace, toStartOfHour(start), start, trace_id)
SETTINGS index_granularity = 1024;

CREATE TABLE IF NOT EXISTS logs
(
    workspace LowCardinality(String),
    time DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    id UInt128,
    version UInt64 CODEC(Delta(8), LZ4),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    severity UInt8,
    message String CODEC(ZSTD(1)),
    event_name LowCardinality(String),
    agent_name LowCardinality(String),
    attributes Map(String, String) CODEC(ZSTD(1)),
    resource LowCardinality(String),
    INDEX trace_filter trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX words lowerUTF8(message) TYPE text(tokenizer = splitByNonAlpha)
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (workspace, toStartOfHour(time), time, id);

CREATE TABLE IF NOT EXISTS signals
(
    workspace LowCardinality(String),
    id String,
    name LowCardinality(String),
    value Float64,
    time DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    created DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    agent_name LowCardinality(String),
    session_id String CODEC(ZSTD(1)),
    user_id String CODEC(ZSTD(1)),
    experiment_id LowCardinality(String),
    variant LowCardinality(String),
    comment String CODEC(ZSTD(1)),
    metadata String CODEC(ZSTD(1)),
    version UInt64 CODEC(Delta(8), LZ4),
    is_deleted UInt8,
    INDEX trace_filter trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX time_range time TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version, is_deleted)
ORDER BY (workspace, id);

CREATE TABLE IF NOT EXISTS metrics
(
    workspace LowCardinality(String),
    time DateTime64(9, 'UTC') CODEC(Delta(8), ZSTD(1)),
    version UInt64 CODEC(Delta(8), LZ4),
    service_name LowCardinality(String),
    resource LowCardinality(String),
    metric String CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(time)
ORDER BY (workspace, time, service_name, metric);

-- Prices per million tokens: those of a workspace (without a provider) and, under an empty workspace,
-- list prices of models that occur. Calls with more than `above_tokens` of input use the second set of
-- rates for all tokens.
CREATE TABLE IF NOT EXISTS prices
(
    workspace String,
    provider String,
    model String,
    valid_from DateTime('UTC'),
    valid_until DateTime('UTC'),
    is_known UInt8,
    above_tokens UInt32,
    input Float64,
    cached_input Float64,
    cache_write Float64,
    output Float64,
    reasoning Float64,
    above_input Float64,
    above_cached_input Float64,
    above_cache_write Float64,
    above_output Float64,
    above_reasoning Float64,
    version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace, provider, model, valid_from);
