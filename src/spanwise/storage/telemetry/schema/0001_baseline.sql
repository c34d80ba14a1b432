-- The whole schema. It is edited until 0.1 is released; from then on, changes are new files.

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
    -- Spans with the same response id report the same call, which counts once.
    response_id String CODEC(ZSTD(1)),
    input_tokens UInt32 CODEC(T64, LZ4),
    output_tokens UInt32 CODEC(T64, LZ4),
    cached_tokens UInt32 CODEC(T64, LZ4),
    cache_write_tokens UInt32 CODEC(T64, LZ4),
    reasoning_tokens UInt32 CODEC(T64, LZ4),
    audio_input_tokens UInt32 CODEC(T64, LZ4),
    audio_output_tokens UInt32 CODEC(T64, LZ4),
    images UInt32 CODEC(T64, LZ4),
    -- As the application reported it; negative if it did not.
    given_cost Float64 DEFAULT -1 CODEC(ZSTD(1)),
    cost Float64 CODEC(ZSTD(1)),
    is_priced Bool,
    unpriced_tokens UInt64 CODEC(T64, LZ4),
    tool_cost Float64 CODEC(ZSTD(1)),
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
-- Merging costs as much as inserting: merges of more parts rewrite each span less often. By default
-- only large merges go column by column; others buffer all columns at once, 200 MB instead of 20.
SETTINGS index_granularity = 1024, merge_selector_base = 10, max_compress_block_size = 262144,
    vertical_merge_algorithm_min_rows_to_activate = 8192;

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
    -- Bounds of a deleted trace stay and say up to which version it is deleted: `write/deletion.py`.
    deleted_version SimpleAggregateFunction(max, UInt64),
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
    -- The tokens without a price: of the trace, then of each of its models.
    unpriced Array(UInt64),
    providers Array(LowCardinality(String)),
    tools Array(LowCardinality(String)),
    tool_calls Array(UInt64),
    tool_costs Array(Float64),
    kinds Array(LowCardinality(String)),
    input_preview String CODEC(ZSTD(1)),
    output_preview String CODEC(ZSTD(1)),
    -- Spans whose call is counted in another span, so that queries over spans count it once too.
    uncounted Array(UInt64) CODEC(ZSTD(1)),
    -- Insert time: rows written after the rollup's watermark are not in the rollup yet.
    written_at DateTime64(3, 'UTC') MATERIALIZED now64(3) CODEC(Delta(8), LZ4),
    INDEX version_range version TYPE minmax GRANULARITY 1,
    INDEX written_range written_at TYPE minmax GRANULARITY 1,
    -- Alerts count traces by their end, so traces that started long ago must be found by it.
    INDEX ended_range
        intDiv(toUnixTimestamp64Nano(start) + toInt64(duration_ns), 1000000000)
        TYPE minmax GRANULARITY 1,
    INDEX session_filter session_id TYPE bloom_filter(0.01) GRANULARITY 4,
    INDEX user_filter user_id TYPE bloom_filter(0.01) GRANULARITY 4
)
ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY toYYYYMM(start)
ORDER BY (workspace, toStartOfHour(start), start, trace_id)
SETTINGS index_granularity = 1024, max_compress_block_size = 262144,
    vertical_merge_algorithm_min_rows_to_activate = 8192;

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

-- Prices per million tokens: those of a workspace (without a provider) and, under an empty workspace,
-- list prices of models that occur. Calls with more than `above_tokens` of input use the second set of
-- rates for all tokens. A price may lack rates for audio and images (-1).
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
    version UInt64,
    audio_input Float64 DEFAULT -1,
    audio_output Float64 DEFAULT -1,
    per_call Float64,
    per_image Float64 DEFAULT -1,
    above_audio_input Float64 DEFAULT -1,
    above_audio_output Float64 DEFAULT -1,
    above_per_call Float64,
    above_per_image Float64 DEFAULT -1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (workspace, provider, model, valid_from);

-- Aggregates of traces per hour, day and month, by agent and environment. Rows are recomputed from
-- `traces`, never incremented; of the rows of a key the one with the highest version counts.
CREATE TABLE IF NOT EXISTS trace_rollup
(
    workspace LowCardinality(String),
    step Enum8('slice' = 0, 'hour' = 1, 'day' = 2, 'month' = 3),
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
    tool_calls Array(UInt64) CODEC(T64, ZSTD(1)),
    providers Array(LowCardinality(String)),
    kinds Array(LowCardinality(String)),
    named_errors Array(LowCardinality(String)),
    experiments Array(LowCardinality(String)),
    unpriced_tokens UInt64 CODEC(T64, ZSTD(1)),
    model_unpriced_tokens Array(UInt64) CODEC(T64, ZSTD(1)),
    tool_costs Array(Float64) CODEC(ZSTD(1))
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

-- Aggregates of traces per ten seconds, for hours that are still written to; otherwise as in
-- `trace_rollup`.
CREATE TABLE IF NOT EXISTS trace_slices AS trace_rollup
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(moment)
ORDER BY (workspace, step, moment, agent_name, environment)
SETTINGS index_granularity = 1024;

-- The watermark of slices: all rows of `traces` written up to it are in them, in hours with slices.
CREATE TABLE IF NOT EXISTS slice_sweeps
(
    swept_until DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(swept_until)
ORDER BY tuple();

-- The variant of each unit, and when it was first assigned. Units have a number too, because numbers
-- join ten times as fast as strings; a variant is its index in the experiment's list, which does not
-- change after the start. Minimum and maximum stay the same when an exposure is written again; where
-- they differ, a unit saw two variants.
CREATE TABLE IF NOT EXISTS exposures
(
    workspace LowCardinality(String),
    experiment_id LowCardinality(String),
    unit UInt64 MATERIALIZED sipHash64(unit_id),
    unit_id String CODEC(ZSTD(1)),
    first_at SimpleAggregateFunction(min, DateTime64(9, 'UTC')) CODEC(Delta(8), ZSTD(1)),
    least_variant SimpleAggregateFunction(min, UInt8),
    greatest_variant SimpleAggregateFunction(max, UInt8)
)
ENGINE = AggregatingMergeTree
ORDER BY (workspace, experiment_id, unit, unit_id);

-- Failed spans that have no failed child, with the group of those that fail the same way. A job
-- derives the rows from `spans` and `traces`; of two rows of a span the later version counts.
CREATE TABLE IF NOT EXISTS failures
(
    workspace LowCardinality(String),
    hour DateTime('UTC') CODEC(Delta(4), LZ4),
    trace_id FixedString(16),
    span_id FixedString(8),
    version UInt64 CODEC(Delta(8), LZ4),
    is_deleted UInt8,
    start DateTime64(9, 'UTC') CODEC(Delta(8), LZ4),
    group_id UInt64,
    agent_name LowCardinality(String),
    operation LowCardinality(String),
    kind LowCardinality(String),
    error_type LowCardinality(String),
    message String CODEC(ZSTD(1)),
    user_id String CODEC(ZSTD(1)),
    environment LowCardinality(String),
    INDEX version_range version TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version, is_deleted)
PARTITION BY toYYYYMM(hour)
ORDER BY (workspace, hour, trace_id, span_id)
SETTINGS index_granularity = 1024;

-- The days on which a group failed. Minimum and maximum do not depend on how often a row is written.
CREATE TABLE IF NOT EXISTS failure_days
(
    workspace LowCardinality(String),
    group_id UInt64,
    agent_name LowCardinality(String),
    day DateTime('UTC'),
    first SimpleAggregateFunction(min, DateTime64(9, 'UTC')),
    last SimpleAggregateFunction(max, DateTime64(9, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (workspace, group_id, agent_name, day)
SETTINGS index_granularity = 512;

-- Every row of `traces` that was written up to the latest of these times is in `failures`.
CREATE TABLE IF NOT EXISTS failure_updates
(
    updated_until DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(updated_until)
ORDER BY tuple();
