-- Spans with the same response id report the same call, which counts once.
ALTER TABLE spans
    ADD COLUMN IF NOT EXISTS response_id String CODEC(ZSTD(1)) AFTER model;
