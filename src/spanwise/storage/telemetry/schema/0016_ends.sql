-- Alerts count traces by their end, so traces that started long ago must be found by it.
ALTER TABLE traces
    ADD INDEX IF NOT EXISTS ended_range
        intDiv(toUnixTimestamp64Nano(start) + toInt64(duration_ns), 1000000000)
        TYPE minmax GRANULARITY 1;

ALTER TABLE traces MATERIALIZE INDEX ended_range;
