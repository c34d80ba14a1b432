"""Prometheus metrics.

The collectors read their values when `/metrics` is scraped; only requests are counted as they end.
Metric and label names are part of the interface. No label holds an id.
"""
