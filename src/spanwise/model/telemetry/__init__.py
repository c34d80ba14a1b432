"""Spans, traces, logs, signals and prices as the API returns them; attribute conventions."""
