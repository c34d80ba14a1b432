-- Aggregates of traces per ten seconds, for hours that are still written to; otherwise as in
-- `trace_rollup`. The enum has the months of 0012, so that this can run again after 0012.
ALTER TABLE trace_rollup MODIFY COLUMN step Enum8('slice' = 0, 'hour' = 1, 'day' = 2, 'month' = 3);

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
