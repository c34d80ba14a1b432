"""Reads spans and logs: those of a trace, lists of spans, logs, and contents."""
