-- Distinct values for filter menus, in the rollup. Resetting the watermark makes the next run compute
-- them for all traces.
ALTER TABLE trace_rollup
    ADD COLUMN IF NOT EXISTS providers Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS kinds Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS named_errors Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS experiments Array(LowCardinality(String));

ALTER TABLE trace_slices
    ADD COLUMN IF NOT EXISTS providers Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS kinds Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS named_errors Array(LowCardinality(String)),
    ADD COLUMN IF NOT EXISTS experiments Array(LowCardinality(String));

TRUNCATE TABLE trace_rollup;

TRUNCATE TABLE rollup_sweeps;

TRUNCATE TABLE trace_slices;

TRUNCATE TABLE slice_sweeps;
