"""Keeps the rollup tables up to date: recomputes what was written, and expires old rows.

Aggregates are recomputed, never incremented. A watermark advances only after its rows are stored.
"""
