"""Trace aggregates: one row per trace, recomputed from its spans whenever one arrives.

Recomputing instead of incrementing makes a resent span count once.
"""
