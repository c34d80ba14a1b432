"""Prometheus metrics.

The collectors read their values when `/metrics` is scraped; only HTTP requests are counted as they
finish. Metric and label names are part of the interface. No label holds an id.
"""
