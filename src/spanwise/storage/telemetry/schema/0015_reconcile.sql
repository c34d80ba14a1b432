-- 0001 was edited when the first stores had run it already: this gives them what their tables lack.
ALTER TABLE traces
    ADD COLUMN IF NOT EXISTS written_at DateTime64(3, 'UTC') MATERIALIZED now64(3)
        CODEC(Delta(8), LZ4),
    ADD INDEX IF NOT EXISTS written_range written_at TYPE minmax GRANULARITY 1;

ALTER TABLE logs
    ADD INDEX IF NOT EXISTS words lowerUTF8(message) TYPE text(tokenizer = splitByNonAlpha);

ALTER TABLE spans MODIFY SETTING merge_selector_base = 10, max_compress_block_size = 262144;

-- Theirs lacks columns too. It holds nothing of its own: every start creates it when it is missing.
DROP DICTIONARY IF EXISTS price_list;

-- A file that is recorded must stay so through a power cut, or it might run after a later one.
ALTER TABLE schema_versions MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1;
