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
