"""Spans, traces, logs, signals, metrics, failures and prices; attribute conventions."""
