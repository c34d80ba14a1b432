"""Spans and logs: extraction from OTLP, reads, deletion and retention.

Of two rows of one span, the one with the higher version counts.
"""
