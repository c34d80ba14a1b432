"""Trace aggregates: one row per trace, recomputed from its spans whenever one arrives.

Recomputing instead of incrementing makes a resent span count once, and makes every aggregation
safe to repeat. A trace is stored under the start of its earliest root span; when that changes, the
row under the old start is deleted. A trace without a root has no row.
"""
