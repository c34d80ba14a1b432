"""Benchmarks: the real service, a load client in a separate process, and the bare engine."""
