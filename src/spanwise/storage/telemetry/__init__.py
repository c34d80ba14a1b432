"""Spans, traces, signals, logs and metrics, in ClickHouse: embedded by default, or a server."""
