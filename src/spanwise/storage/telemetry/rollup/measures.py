"""The measures of analytics: columns of the rollup, and their SQL over raw traces."""

# Upper bounds of the buckets of the latency distribution; the last bucket has none.
LATENCY_BOUNDS_MS = (200, 500, 1000, 2000, 5000)

# Percentiles come from a histogram whose buckets grow by 1 %, so the middle of a bucket is within
# 0.5 % of every latency in it.
LATENCY_GROWTH = 1.01
_LATENCY_KEY = f"toUInt16(ceil(log(greatest(duration_ns, 1000) / 1000) / log({LATENCY_GROWTH})))"

# Measure -> its SQL for one row of `traces`. The names are also columns of the rollup.
MEASURES = {
    "agent_name": "agent_name",
    "environment": "environment",
    "traces": "toUInt64(1)",
    "errors": "toUInt64(status = 'error')",
    "duration_ms": "duration_ns / 1e6",
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cost": "cost",
    "unpriced_tokens": "unpriced[1]",
    **{f"under_{ms}": f"toUInt64(duration_ns < {ms}000000)" for ms in LATENCY_BOUNDS_MS},
    "latency_keys": f"[{_LATENCY_KEY}]",
    "latency_counts": "[toUInt64(1)]",
    "error_types": "if(status = 'error', [if(error_type = '', 'other', toString(error_type))], [])",
    "error_counts": "if(status = 'error', [toUInt64(1)], [])",
    "models": "models",
    "model_calls": "model_calls",
    "model_costs": "model_costs",
    "model_unpriced_tokens": "arrayPopFront(unpriced)",
    "unpriced_models": "unpriced_models",
    "tools": "tools",
    "tool_calls": "tool_calls",
    "tool_costs": "tool_costs",
    "providers": "providers",
    "kinds": "kinds",
    "named_errors": "if(error_type = '', [], [toString(error_type)])",
    "experiments": "if(experiment_id = '', [], [toString(experiment_id)])",
}
