-- Usage without a price. A price may lack rates for audio and images (-1), and may have rates per call
-- and per image.
ALTER TABLE spans
    ADD COLUMN IF NOT EXISTS audio_input_tokens UInt32 CODEC(T64, LZ4) AFTER reasoning_tokens,
    ADD COLUMN IF NOT EXISTS audio_output_tokens UInt32 CODEC(T64, LZ4) AFTER audio_input_tokens,
    ADD COLUMN IF NOT EXISTS images UInt32 CODEC(T64, LZ4) AFTER audio_output_tokens,
    ADD COLUMN IF NOT EXISTS unpriced_tokens UInt64
        DEFAULT if(is_priced, 0, toUInt64(input_tokens) + output_tokens) CODEC(T64, LZ4)
        AFTER is_priced,
    ADD COLUMN IF NOT EXISTS tool_cost Float64 CODEC(ZSTD(1)) AFTER unpriced_tokens;

-- The tokens without a price: of the trace, then of each of its models. Rows from before have what
-- their other columns say; where these leave it open, the migration recomputes the trace.
ALTER TABLE traces
    ADD COLUMN IF NOT EXISTS unpriced Array(UInt64) DEFAULT arrayPushFront(
        arrayMap((m, i, o) -> if(has(unpriced_models, m), i + o, 0),
            models, model_input_tokens, model_output_tokens),
        arraySum((m, i, o) -> if(has(unpriced_models, m), i + o, 0),
            models, model_input_tokens, model_output_tokens)
        + if(cost - arraySum(model_costs) > 1e-9, 0, toUInt64(input_tokens + output_tokens
            - arraySum(model_input_tokens) - arraySum(model_output_tokens))))
        AFTER unpriced_models,
    ADD COLUMN IF NOT EXISTS tool_costs Array(Float64) DEFAULT arrayMap(t -> 0., tools)
        AFTER tool_calls;

ALTER TABLE trace_rollup
    ADD COLUMN IF NOT EXISTS unpriced_tokens UInt64 CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS model_unpriced_tokens Array(UInt64)
        DEFAULT arrayMap(m -> toUInt64(0), models) CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS tool_costs Array(Float64)
        DEFAULT arrayMap(t -> 0., tools) CODEC(ZSTD(1));

ALTER TABLE trace_slices
    ADD COLUMN IF NOT EXISTS unpriced_tokens UInt64 CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS model_unpriced_tokens Array(UInt64)
        DEFAULT arrayMap(m -> toUInt64(0), models) CODEC(T64, ZSTD(1)),
    ADD COLUMN IF NOT EXISTS tool_costs Array(Float64)
        DEFAULT arrayMap(t -> 0., tools) CODEC(ZSTD(1));

-- The next run computes all aggregates again.
TRUNCATE TABLE trace_rollup;

TRUNCATE TABLE rollup_sweeps;

TRUNCATE TABLE trace_slices;

TRUNCATE TABLE slice_sweeps;

ALTER TABLE prices
    ADD COLUMN IF NOT EXISTS audio_input Float64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS audio_output Float64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS per_call Float64,
    ADD COLUMN IF NOT EXISTS per_image Float64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS above_audio_input Float64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS above_audio_output Float64 DEFAULT -1,
    ADD COLUMN IF NOT EXISTS above_per_call Float64,
    ADD COLUMN IF NOT EXISTS above_per_image Float64 DEFAULT -1;

-- Every start creates it if missing.
DROP DICTIONARY IF EXISTS price_list;
