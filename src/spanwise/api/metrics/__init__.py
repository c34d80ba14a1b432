"""Prometheus metrics, collected when `/metrics` is read."""
