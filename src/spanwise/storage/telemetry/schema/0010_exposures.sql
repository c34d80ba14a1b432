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
