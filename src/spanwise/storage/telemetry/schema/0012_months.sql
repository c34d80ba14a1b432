-- Aggregates per month, so that a year takes twelve rows per key. Resetting the watermark makes the
-- next run compute them for all traces.
ALTER TABLE trace_rollup MODIFY COLUMN step Enum8('slice' = 0, 'hour' = 1, 'day' = 2, 'month' = 3);

TRUNCATE TABLE trace_rollup;

TRUNCATE TABLE rollup_sweeps;
