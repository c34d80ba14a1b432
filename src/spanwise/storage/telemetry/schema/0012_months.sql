-- Months are added up too, so that a year is twelve steps. What was swept before has none of them:
-- the next sweep computes all anew.
ALTER TABLE trace_rollup MODIFY COLUMN step Enum8('slice' = 0, 'hour' = 1, 'day' = 2, 'month' = 3);

TRUNCATE TABLE trace_rollup;

TRUNCATE TABLE rollup_sweeps;
