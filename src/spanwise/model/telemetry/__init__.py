"""Spans, traces, logs, signals and prices as the API shows them, and the attribute conventions."""
