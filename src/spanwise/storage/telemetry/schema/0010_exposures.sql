-- Which unit was given which variant, and when first. A unit is known by a number too, because
-- numbers join an order of magnitude faster than texts; a variant by its place in the experiment's
-- list, which never changes once it has started. Minimum and maximum do not care how often an
-- exposure is written; two variants that differ show a unit that saw both.
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
