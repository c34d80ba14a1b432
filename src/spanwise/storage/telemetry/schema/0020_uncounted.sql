-- Spans whose call is counted in another span, so that queries over spans count it once too. Rows that
-- were written before have none; they get them when a span of the trace is written again.
ALTER TABLE traces
    ADD COLUMN IF NOT EXISTS uncounted Array(UInt64) CODEC(ZSTD(1));
