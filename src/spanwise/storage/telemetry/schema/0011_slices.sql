-- What the traces of ten seconds add up to, of hours that are still written to; else as in
-- `trace_rollup`. The months are of 0012: without them this could not run again after it.
ALTER TABLE trace_rollup MODIFY COLUMN step Enum8('slice' = 0, 'hour' = 1, 'day' = 2, 'month' = 3);

CREATE TABLE IF NOT EXISTS trace_slices AS trace_rollup
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMMDD(moment)
ORDER BY (workspace, step, moment, agent_name, environment)
SETTINGS index_granularity = 1024;

-- Every row of `traces` that was written up to the latest of these times, and is of an hour that
-- has slices, is in them.
CREATE TABLE IF NOT EXISTS slice_sweeps
(
    swept_until DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(swept_until)
ORDER BY tuple();
