-- 0001 was edited after the first stores had run it: add what their tables lack.
ALTER TABLE traces
    ADD COLUMN IF NOT EXISTS written_at DateTime64(3, 'UTC') MATERIALIZED now64(3)
        CODEC(Delta(8), LZ4),
    ADD INDEX IF NOT EXISTS written_range written_at TYPE minmax GRANULARITY 1;

ALTER TABLE logs
    ADD INDEX IF NOT EXISTS words lowerUTF8(message) TYPE text(tokenizer = splitByNonAlpha);

ALTER TABLE spans MODIFY SETTING merge_selector_base = 10, max_compress_block_size = 262144;

-- The dictionary lacks columns in those stores too. It has no data: every start creates it if missing.
DROP DICTIONARY IF EXISTS price_list;

-- A recorded file must stay recorded after a power loss, or it could run again after a later one.
ALTER TABLE schema_versions MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
