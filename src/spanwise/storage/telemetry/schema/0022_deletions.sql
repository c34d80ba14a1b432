-- Bounds of a deleted trace stay and say up to which version it is deleted, see `spans/deletion.py`.
ALTER TABLE trace_bounds
    ADD COLUMN IF NOT EXISTS deleted_version SimpleAggregateFunction(max, UInt64);
